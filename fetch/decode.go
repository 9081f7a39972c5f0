package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	maxContentCodings = 5  // one over another
	longestCoding     = 40 // of a name that means nothing, what is told of it

	// A body that decodes to more than maxRatio times what was sent (Config.MaxDecodeRatio), and to more than ratioFreeBytes,
	// is cut there. Pages that someone wrote stay far below; what gzip can make of nothing is 1032.
	maxRatio       = 200
	ratioFreeBytes = 1 << 20
)

var (
	errManyCodings = errors.New("too many content codings")
	errRatio       = errors.New("decoded to too many times what was sent")
)

// decoders takes content codings off.
type decoders struct {
	bufs     *buffers
	maxRatio int64
	decoderPools
}

// decoded is what decode made of a payload.
type decoded struct {
	body       *buffer // nil where the body is the payload itself
	more       bool    // there is more than was kept
	mislabeled string  // the coding that the header names and the bytes do not have
	err        error   // what could not be taken off, errRatio, or a *memoryError
}

// decode undoes what the Content-Encoding fields say was done to payload, the last coding first, keeping at most limit
// bytes of each step. The body is payload itself without codings, with one that is not known, and when the last one is
// not there.
func (d *decoders) decode(ctx context.Context, s *share, payload []byte, fields []string, limit int64) decoded {
	if len(fields) == 0 || len(payload) == 0 {
		return decoded{}
	}
	codings := contentCodings(fields)
	if len(codings) > maxContentCodings {
		return decoded{err: errManyCodings}
	}
	for _, c := range codings {
		switch {
		case known(c):
		case isText(payload[:min(len(payload), peekBytes)]): // "utf-8", "none" and the like
			return decoded{mislabeled: c[:min(len(c), longestCoding)]}
		default:
			return decoded{err: fmt.Errorf("content coding %.40q is not known", c)}
		}
	}
	slices.Reverse(codings)
	u := &undoing{decoders: d, share: s, payload: payload, codings: codings, limit: limit, window: smallWindow}
	if most := max(ratioFreeBytes, d.maxRatio*int64(len(payload))); most < limit {
		u.limit, u.limited = most, fmt.Errorf("%w: more than %d", errRatio, d.maxRatio)
	}
	return u.undo(ctx)
}

// undoing is one decode under way.
type undoing struct {
	*decoders
	share   *share
	payload []byte
	codings []string // the last one first
	limit   int64
	limited error  // why it is no more
	window  window // of zstd frames
	layers  []*layer
}

// undo tries until there is nothing to do better.
func (u *undoing) undo(ctx context.Context) decoded {
	mislabeled := ""
	for {
		out := u.run(ctx)
		u.share.settle()
		switch plain, other := u.plain(), u.other(); {
		case errors.Is(out.err, errShort):
			u.drop(out)
			if err := u.share.prepay(ctx, u.most()); err != nil {
				return decoded{body: u.bufs.first(u.share, 1), err: err}
			}
		case errors.Is(out.err, zstd.ErrWindowSizeExceeded) && u.window == smallWindow:
			u.drop(out)
			u.window = largeWindow
		case other >= 0 && !isMemory(out.err):
			u.drop(out)
			mislabeled, u.codings[other] = u.codings[other], u.layers[other].other
		case plain >= 0 && !isMemory(out.err):
			u.drop(out)
			mislabeled, u.codings = u.codings[plain], u.codings[:plain]
		default:
			if mislabeled != "" {
				out.mislabeled = mislabeled
			}
			return out
		}
	}
}

// most is what a run can need that comes as far as the last one, and to its end.
func (u *undoing) most() int64 {
	n := u.limit + bufferSlack
	for _, l := range u.layers {
		n += l.window
	}
	return n
}

// drop gives back a body that is to be made anew.
func (u *undoing) drop(out decoded) {
	if out.body != nil {
		cost := out.body.cost()
		u.bufs.put(out.body)
		u.share.giveBack(cost)
	}
}

// run takes the codings off. They work as one chain, so that beside payload and body only the windows of the decoders are
// in memory.
func (u *undoing) run(ctx context.Context) (out decoded) {
	u.layers = nil
	var top io.Reader
	for i, coding := range u.codings {
		src := bytesSource(u.payload)
		if i > 0 {
			src = readerSource(u.layers[i-1])
			top = src.r
		}
		if len(src.peek(1)) == 0 {
			break // any coding makes nothing of nothing
		}
		if !begins(coding, src) {
			out.mislabeled = coding
			if coding = marked(src); coding == "" {
				break
			}
		}
		l, err := u.open(ctx, coding, src)
		if err != nil {
			out.err = err
			break
		}
		u.layers = append(u.layers, l)
		top = l
	}
	switch {
	case out.err != nil:
		out.body = u.bufs.first(u.share, 1)
	case top != nil:
		out.body = u.bufs.first(u.share, min(u.hint(), u.limit)+1)
		out.body, _, out.err = u.bufs.fill(growth{share: u.share, take: u.share.takeNow, limit: u.limit}, out.body, top)
		out.body.trim(u.share)
	}
	u.finish(&out)
	return out
}

// finish gives the decoders back and gathers how they ended. What ended the innermost but one ends all behind it.
func (u *undoing) finish(out *decoded) {
	for _, l := range u.layers {
		out.more = out.more || l.cut
		if out.err == nil {
			out.err = l.err
		}
		l.put(l.err == nil && !l.cut && len(out.body.b) <= pooledBytes)
		u.share.giveBack(l.window)
	}
	if out.more && out.err == nil {
		out.err = u.limited
	}
}

// plain returns the index of the first layer that failed on what is plainly text, and -1 if there is none. Neither br nor
// a bare deflate stream begins with a mark: that one is not there shows when it does not decode.
func (u *undoing) plain() int {
	return slices.IndexFunc(u.layers, func(l *layer) bool { return l.err != nil && l.text })
}

// other returns the index of the first layer that failed on what begins as another coding does, and -1 if there is none.
func (u *undoing) other() int {
	return slices.IndexFunc(u.layers, func(l *layer) bool { return l.err != nil && l.other != "" })
}

// hint guesses the size of the body.
func (u *undoing) hint() int64 {
	if len(u.layers) == 1 && isGzip(u.layers[0].coding) {
		return claimedSize(u.payload)
	}
	return 4 * int64(len(u.payload))
}

// contentCodings returns the codings in the order in which they were applied, without those that do nothing.
func contentCodings(fields []string) (codings []string) {
	for _, value := range fields {
		for coding := range strings.SplitSeq(value, ",") {
			coding = strings.ToLower(strings.Trim(coding, " \t"))
			if coding != "" && coding != "identity" {
				codings = append(codings, coding)
			}
		}
	}
	return codings
}

// layer is the output of one decoder. What fails in it ends it, like its end: the next one gives what it can make of what
// there is.
type layer struct {
	coding string
	r      io.Reader
	text   bool   // its input has no mark of the coding, and looks like text
	other  string // the coding that its input has the mark of, where its own has none
	left   int64  // bytes that it may still give
	cut    bool   // it has more
	err    error  // what it failed with
	window int64  // what its share is charged for
	put    func(reuse bool)
}

func (l *layer) Read(p []byte) (int, error) {
	if l.cut || l.err != nil || len(p) == 0 {
		return 0, io.EOF
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left+1)])
	if int64(n) > l.left {
		l.cut = true
		return int(l.left), io.EOF
	}
	l.left -= int64(n)
	if err != nil && err != io.EOF {
		l.err, err = codingError(l.coding, err), io.EOF
	}
	return n, err
}

// codingError names the coding, where the decoder has not.
func codingError(coding string, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w", coding, errNoEnd)
	case isGzip(coding), coding == "br":
		return err
	}
	return fmt.Errorf("%s: %w", coding, err)
}

func isMemory(err error) bool {
	_, ok := errors.AsType[*memoryError](err)
	return ok
}

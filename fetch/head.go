package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"unicode"
)

var (
	errHeadTooLong  = errors.New("head too long")
	errInterimFlood = errors.New("too many interim responses")
)

// maxInterim is how many 1xx responses may come before the answer.
const maxInterim = 16

// headLimits are the caps on an answer's head, its interim responses included.
type headLimits struct{ bytes, lines int }

// headBytes holds a usual head with the start of its body.
const headBytes = 4 << 10

// headBuffers lends what heads are read into; connections between exchanges hold none.
type headBuffers struct{ pool sync.Pool }

func (p *headBuffers) get() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, headBytes)
	return &b
}

func (p *headBuffers) put(b *[]byte) {
	if b != nil && len(*b) == headBytes { // one that grew holds what few heads need
		p.pool.Put(b)
	}
}

// input is what came of an answer and is not used yet.
type input struct {
	bufs *headBuffers
	buf  *[]byte
	r, w int
	full bool // the last read filled the buffer: more is there
}

// more reads on, into a larger buffer where there is no room. It keeps to limit bytes in all.
func (in *input) more(cn *conn, limit int) error {
	if in.buf == nil {
		in.buf = in.bufs.get()
	}
	b := *in.buf
	if in.w == len(b) {
		if in.w >= limit {
			return errHeadTooLong
		}
		larger := make([]byte, min(2*len(b), max(limit, headBytes)))
		copy(larger, b)
		in.buf, b = &larger, larger
	}
	room := b[in.w:]
	n, err := cn.Read(room)
	in.w += n
	in.full = n == len(room)
	if n > 0 {
		return nil
	}
	return err
}

// read gives what is left in the buffer.
func (in *input) read(p []byte) int {
	n := copy(p, (*in.buf)[in.r:in.w])
	in.r += n
	if in.r == in.w {
		in.release()
	}
	return n
}

func (in *input) left() int { return in.w - in.r }

func (in *input) release() {
	if in.buf != nil {
		in.bufs.put(in.buf)
	}
	in.buf, in.r, in.w = nil, 0, 0
}

// head is the head of an answer.
type head struct {
	text         string // as it came, with the empty line at its end
	proto        string // "HTTP/1.1", "ICY"
	major, minor int
	status       int
	header       http.Header
	odd          bool // a field that frames the message was spelt so that others may have read it otherwise
}

// headReader finds the lines of a head as they come.
type headReader struct {
	cn      *conn
	limits  headLimits
	begin   int // of the head, in the buffer
	next    int // behind the last line
	scanned int // no line ends between next and here
	lines   int // of fields
	interim string
	skipped int // interim responses
}

// line returns the next line without its end.
func (r *headReader) line() ([]byte, error) {
	in := &r.cn.in
	for {
		if r.scanned < in.w {
			b := (*in.buf)[:in.w]
			if end := bytes.IndexByte(b[r.scanned:], '\n'); end >= 0 {
				line := b[r.next : r.scanned+end+1]
				r.next += len(line)
				r.scanned = r.next
				if r.next > r.limits.bytes {
					return nil, errHeadTooLong
				}
				return trimEnd(line), nil
			}
			r.scanned = in.w
			if begun := b[r.next:]; r.next == r.begin && !mayBegin(begun) {
				return nil, notHTTP(string(begun))
			}
		}
		if err := in.more(r.cn, r.limits.bytes); err != nil {
			return nil, err
		}
	}
}

// readHead reads up to the end of the head of the final answer. What came before it is interim.
func (cn *conn) readHead(limits headLimits) (h head, interim string, err error) {
	r := headReader{cn: cn, limits: limits}
	for {
		start := r.next
		line, err := r.line()
		switch {
		case err != nil:
			return head{}, "", err
		case len(line) == 0 && start == r.begin: // empty lines before the first one are passed over
			r.begin = r.next
		case start == r.begin:
			_, err = parseStatusLine(string(line)) // what is no HTTP may never come to an end
		case len(line) > 0:
			if r.lines++; r.lines > limits.lines {
				err = fmt.Errorf("%w: more than %d lines", errHeadTooLong, limits.lines)
			}
		default:
			if h, err = r.whole(); err == nil && h.status >= 200 {
				return h, r.interim, nil
			}
		}
		if err != nil {
			return head{}, "", err
		}
	}
}

// whole parses the head that has come to its end. Behind an interim one the next begins.
func (r *headReader) whole() (head, error) {
	h, err := parseHead(string((*r.cn.in.buf)[r.begin:r.next]))
	if err != nil {
		return head{}, err
	}
	r.cn.in.r = r.next
	switch {
	case h.status >= 200:
		return h, nil
	case h.status == http.StatusSwitchingProtocols:
		return head{}, fmt.Errorf("unexpected status %d", h.status)
	}
	if r.skipped++; r.skipped > maxInterim {
		return head{}, errInterimFlood
	}
	r.interim += h.text
	r.begin = r.next
	return h, nil
}

// trimEnd takes the end of a line off: CRLF, or LF alone (RFC 9112, section 2.2).
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// parseStatusLine reads what stands before the reason phrase, which may be missing. The name of the protocol may be in
// lower case, as browsers take it. A server of the streaming protocol ICY is taken for one of HTTP/1.0. What says nothing of
// HTTP is none: an answer of HTTP/0.9 has no mark by which it could be told from what any other service says.
func parseStatusLine(line string) (head, error) {
	var h head
	proto, rest, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	switch {
	case strings.EqualFold(proto, "ICY"):
		h.proto, h.major, h.minor = "ICY", 1, 0
	case len(proto) >= len("HTTP/1.1") && strings.EqualFold(proto[:5], "HTTP/") && isDigit(proto[5]) && proto[6] == '.' && isDigit(proto[7]) && len(proto) == 8:
		h.proto, h.major, h.minor = "HTTP"+proto[4:], int(proto[5]-'0'), int(proto[7]-'0')
	case len(proto) == len("HTTP/2") && strings.EqualFold(proto[:5], "HTTP/") && isDigit(proto[5]):
		h.proto, h.major = "HTTP"+proto[4:]+".0", int(proto[5]-'0')
	default:
		return head{}, notHTTP(line)
	}
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
	code = strings.TrimRight(code, "\t")
	if len(code) != 3 || code[0] < '1' || !isDigit(code[0]) || !isDigit(code[1]) || !isDigit(code[2]) {
		return head{}, fmt.Errorf("no status: the answer begins with %s", quoted(line))
	}
	h.status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	return h, nil
}

// mayBegin reports whether a status line can begin so. What cannot need not be read to its end, which may never come.
func mayBegin(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\r")
	for _, mark := range []string{"HTTP/", "ICY "} {
		if n := min(len(line), len(mark)); strings.EqualFold(string(line[:n]), mark[:n]) {
			return true
		}
	}
	return false
}

func notHTTP(line string) error {
	return fmt.Errorf("not HTTP: the answer begins with %s", quoted(line))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// quoted makes what a peer said fit for a log: short, and free of control characters.
func quoted(s string) string {
	const most = 100
	return fmt.Sprintf("%q", strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return unicode.ReplacementChar
		}
		return c
	}, s[:min(len(s), most)]))
}

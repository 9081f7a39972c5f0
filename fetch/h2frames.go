package fetch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// Kinds of frames (RFC 9113, section 6).
const (
	frameData         = 0
	frameHeaders      = 1
	framePriority     = 2
	frameReset        = 3
	frameSettings     = 4
	frameGoAway       = 7
	frameWindowUpdate = 8
	frameContinuation = 9

	frameHeaderBytes = 9
)

// What a server may send that moves no page on. Each request adds to it, and so does payload.
const (
	idleFrames       = 500 // at most, and at the start
	framesPerRequest = 100
	bytesPerFrame    = 1 << 10
	smallFrame       = 64 // bytes of payload below which a frame counts
	mostDebug        = 100
)

var (
	errH2Flood   = errors.New("HTTP/2: flood of frames that carry nothing")
	errH2Preface = errors.New("HTTP/2: the server does not begin with its settings")
)

// frames is the connection below a client of HTTP/2. It sees each frame's header pass, which lets it
//
//   - end a connection on which a server floods us, also while no request is under way (settings, pings, empty data, resets);
//   - leave out frames that mean nothing to us: priorities and kinds that are not known, which net/http would log one by one,
//     and leave to send, since we send no bodies: a server that leaves too much makes net/http (1.26) wait for itself for ever;
//   - tell which requests a server that goes away has not seen.
type frames struct {
	net.Conn
	gone    chan struct{} // closed when the client lets go of the connection
	goneNow sync.Once

	// Of the reader, which is one goroutine at a time.
	in      frameScanner
	left    int // frames that may still come for nothing
	carried int // bytes of payload since the last frame that was added for them
	begun   bool
	held    [frameHeaderBytes]byte // the start of a frame's header that has come in part
	nHeld   int

	// Of the writer; writes come one at a time.
	out        frameScanner
	sent       [frameHeaderBytes]byte // as held
	nSent      int
	lastStream atomic.Uint32 // the last that a request was sent on
	requests   atomic.Int32  // since the reader looked

	mu     sync.Mutex // guards all below
	broken error
	away   *goAway
	resets map[uint32]struct{} // streams that the server has reset
}

// goAway is a server's word that it takes no more requests.
type goAway struct {
	last  uint32 // stream that it may have seen
	code  h2Code
	debug string
}

func (g *goAway) Error() string {
	text := "HTTP/2: the server goes away: " + g.code.String()
	if g.debug != "" {
		text += " " + quoted(g.debug)
	}
	return text
}

func newFrames(nc net.Conn) *frames {
	f := &frames{Conn: nc, gone: make(chan struct{}), left: idleFrames, resets: make(map[uint32]struct{})}
	f.out.left = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") // the client's preface
	return f
}

// Close is the client's: it has ended all that it did with the connection.
func (f *frames) Close() error {
	err := f.Conn.Close()
	f.goneNow.Do(func() { close(f.gone) })
	return err
}

// frameScanner follows a stream of frames.
type frameScanner struct {
	kind, flags byte
	stream      uint32
	left        int // of the payload
	drop        bool
	payload     []byte // of a GOAWAY, as far as it is wanted
}

// header reads a frame's header.
func (s *frameScanner) header(b []byte) {
	s.left = int(b[0])<<16 | int(b[1])<<8 | int(b[2])
	s.kind, s.flags = b[3], b[4]
	s.stream = binary.BigEndian.Uint32(b[5:]) &^ (1 << 31)
	s.payload = s.payload[:0]
}

// Read passes on the frames that are meant for us. The start of a header waits until the header is whole.
func (f *frames) Read(p []byte) (int, error) {
	if len(p) <= frameHeaderBytes {
		return 0, io.ErrShortBuffer
	}
	for {
		copy(p, f.held[:f.nHeld])
		n, err := f.Conn.Read(p[f.nHeld:])
		kept, broken := f.filter(p[:f.nHeld+n])
		if broken != nil {
			f.fail(broken)
			return 0, broken
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}

// filter moves what is passed on to the start of b, and keeps the start of a header back.
func (f *frames) filter(b []byte) (kept int, err error) {
	f.nHeld = 0
	for i := 0; i < len(b); {
		n := min(f.in.left, len(b)-i)
		switch {
		case n > 0:
			f.in.left -= n
			f.note(b[i : i+n])
		case len(b)-i < frameHeaderBytes:
			f.nHeld = copy(f.held[:], b[i:])
			return kept, nil
		default:
			n = frameHeaderBytes
			f.in.header(b[i:])
			if err := f.judge(); err != nil {
				return 0, err
			}
		}
		if !f.in.drop {
			kept += copy(b[kept:], b[i:i+n])
		}
		i += n
	}
	return kept, nil
}

// judge takes a frame's header in account.
func (f *frames) judge() error {
	in := &f.in
	if !f.begun {
		if f.begun = true; in.kind != frameSettings || in.flags&1 != 0 {
			return errH2Preface
		}
	}
	in.drop = in.kind == framePriority || in.kind == frameWindowUpdate || in.kind > frameContinuation
	switch {
	case in.kind == frameData && in.left >= smallFrame:
		f.carried += in.left
	case in.kind == frameData && in.flags&1 != 0: // the end of a page
	default:
		f.left--
	}
	f.left += framesPerRequest*int(f.requests.Swap(0)) + f.carried/bytesPerFrame
	f.carried %= bytesPerFrame
	if f.left = min(f.left, idleFrames); f.left < 0 {
		return errH2Flood
	}
	if in.kind == frameReset {
		return f.noteReset(in.stream)
	}
	return nil
}

func (f *frames) noteReset(stream uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.resets[stream] = struct{}{}; len(f.resets) > idleFrames {
		return errH2Flood
	}
	return nil
}

// note reads the payload of a GOAWAY.
func (f *frames) note(payload []byte) {
	in := &f.in
	if in.kind != frameGoAway {
		return
	}
	in.payload = append(in.payload, payload[:min(len(payload), 8+mostDebug-len(in.payload))]...)
	if in.left > 0 || len(in.payload) < 8 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = &goAway{
		last:  binary.BigEndian.Uint32(in.payload) &^ (1 << 31),
		code:  h2Code(binary.BigEndian.Uint32(in.payload[4:])),
		debug: string(in.payload[8:]),
	}
}

// Write takes note of requests.
func (f *frames) Write(p []byte) (int, error) {
	f.outgoing(p)
	return f.Conn.Write(p)
}

func (f *frames) outgoing(p []byte) {
	for len(p) > 0 {
		if n := min(f.out.left, len(p)); n > 0 {
			f.out.left -= n
			p = p[n:]
			continue
		}
		n := copy(f.sent[f.nSent:], p)
		p = p[n:]
		if f.nSent += n; f.nSent < frameHeaderBytes {
			return
		}
		f.nSent = 0
		if f.out.header(f.sent[:]); f.out.kind == frameHeaders {
			f.lastStream.Store(f.out.stream)
			f.requests.Add(1)
		}
	}
}

func (f *frames) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken == nil {
		f.broken = err
	}
}

// state tells what became of the connection, and whether the server has reset a stream.
func (f *frames) state(stream uint32) (away *goAway, reset bool, broken error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, reset = f.resets[stream]
	delete(f.resets, stream)
	return f.away, reset, f.broken
}

// h2Code is an error code (RFC 9113, section 7).
type h2Code uint32

const refusedStream h2Code = 7

func (c h2Code) String() string {
	names := []string{
		"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
		"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
	}
	if int64(c) < int64(len(names)) {
		return names[c]
	}
	return fmt.Sprintf("error %#x", uint32(c))
}

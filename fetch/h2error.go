package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// streamError has the shape of the error that net/http ends a stream with, which it fills in for errors.As.
type streamError struct {
	StreamID uint32
	Code     h2Code
	Cause    error
}

func (e streamError) Error() string { return fmt.Sprintf("HTTP/2: %s: %v", e.Code, e.Cause) }

// resetError ends a stream that the server has reset.
type resetError struct{ code h2Code }

func (e *resetError) Error() string { return "HTTP/2: the server reset the stream: " + e.code.String() }

// Is counts it among broken connections.
func (*resetError) Is(target error) bool { return target == syscall.ECONNRESET }

// Is counts a server that goes away among broken connections.
func (*goAway) Is(target error) bool { return target == syscall.ECONNRESET }

// errHeaderList is the text, which is all there is of it, of net/http's error for a header of more than
// MaxResponseHeaderBytes.
const errHeaderList = "http2: response header list larger than advertised limit"

// judge says what it means that no answer came: ErrAskAgain where the server surely has not seen the request, or may have
// closed a kept connection before it came.
func (x *exchange2) judge(ctx context.Context, err error) (cause error, keep bool) {
	cause, unseen := x.cause(ctx, err)
	_, isReset := errors.AsType[*resetError](cause)
	switch {
	case x.hop.Fresh || ctx.Err() != nil:
	case unseen, x.cn.reused && x.firstByte.Load() == 0 && x.cn.h2.client.Err() != nil && isClosed(cause):
		cause = askAgain(cause)
	}
	return newError(x.hop.URL, PhaseHead, cause), isReset
}

// cause tells what ended a stream, and whether the server has surely not seen its request (RFC 9113, section 8.7).
func (x *exchange2) cause(ctx context.Context, err error) (cause error, unseen bool) {
	if ctx.Err() != nil {
		return context.Cause(ctx), false
	}
	id := x.stream.Load()
	away, reset, broken := x.cn.h2.frames.state(id)
	ended, isStream := errors.AsType[streamError](err)
	switch {
	case isStream && reset:
		return &resetError{ended.Code}, ended.Code == refusedStream
	case isStream && ended.Cause != nil && ended.Cause.Error() == errHeaderList:
		return fmt.Errorf("%w: more than %d bytes", errHeadTooLong, x.cfg.MaxHeadBytes), false
	case isStream && errors.Is(ended.Cause, errInterimFlood):
		return errInterimFlood, false
	case isStream:
		return ended, false
	case broken != nil:
		return broken, false
	case away != nil:
		return away, id == 0 || id > away.last
	}
	return err, id == 0
}

// isClosed reports whether err is the end of the connection, and nothing that the server said.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

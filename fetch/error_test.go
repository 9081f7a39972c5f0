package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestErrorCodes(t *testing.T) {
	op := func(err error) error {
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", err)}
	}
	for _, tt := range []struct {
		phase     Phase
		err       error
		code      Code
		transient bool
	}{
		{PhaseDial, op(syscall.ECONNREFUSED), CodeRefused, true},
		{PhaseDial, op(syscall.EHOSTUNREACH), CodeUnreachable, true},
		{PhaseDial, op(syscall.EADDRNOTAVAIL), CodeExhausted, true},
		{PhaseDial, op(syscall.EADDRINUSE), CodeExhausted, true},
		{PhaseDial, op(syscall.EMFILE), CodeExhausted, true},
		{PhaseDial, op(syscall.ENETUNREACH), CodeUnreachable, true},
		{PhaseDial, op(syscall.EPERM), CodeOther, true},
		{PhaseDial, fmt.Errorf("%w: 10.0.0.1 is private", ErrAddressDenied), CodeAddressDenied, false},
		{PhaseTLS, op(syscall.ECONNRESET), CodeReset, true},
		{PhaseTLS, io.EOF, CodeClosed, true},
		{PhaseTLS, errors.New("tls: protocol version not supported"), CodeTLS, false},
		{PhaseHead, &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}, CodeTLS, false},
		{PhaseHead, fmt.Errorf("%w", &net.OpError{Op: "local error", Err: errors.New("tls: bad record MAC")}), CodeTLS, false},
		{PhaseHead, tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, CodeTLS, false},
		{PhaseWrite, op(syscall.EPIPE), CodeReset, true},
		{PhaseHead, op(syscall.ECONNABORTED), CodeReset, true},
		{PhaseHead, io.ErrUnexpectedEOF, CodeClosed, true},
		{PhaseHead, context.DeadlineExceeded, CodeTimeout, true},
		{PhaseHead, timeoutError{"no answer", time.Second}, CodeTimeout, true},
		{PhaseBody, context.Canceled, CodeCanceled, true},
		{PhaseBody, errors.New("odd"), CodeOther, true},
	} {
		e := newError(mustParse(t, "http://a.test/"), tt.phase, tt.err)
		if e.Code() != tt.code || e.Transient != tt.transient {
			t.Errorf("%s: %v is %s, transient %v; want %s, %v", tt.phase, tt.err, e.Code(), e.Transient, tt.code, tt.transient)
		}
		if !slices.Contains(Codes(), e.Code()) {
			t.Errorf("%s is none of Codes", e.Code())
		}
	}
	if !errors.Is(newError(mustParse(t, "http://a.test/"), PhaseHead, timeoutError{"no answer", time.Second}), os.ErrDeadlineExceeded) {
		t.Error("a timeout is not os.ErrDeadlineExceeded")
	}
}

func TestErrorText(t *testing.T) {
	err := newError(mustParse(t, "https://a.example/x"), PhaseHead, timeoutError{"no answer", 10 * time.Second})
	if got, want := err.Error(), "fetch https://a.example/x: head: no answer in 10s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"crawl/canon"
)

// Phase is the part of a hop in which it failed. Its text is the label in metrics.
type Phase string

// The phases, in order.
const (
	PhaseResolve Phase = "resolve" // looking the host up, and checking its addresses
	PhaseDial    Phase = "dial"    // connecting
	PhaseTLS     Phase = "tls"     // the TLS handshake
	PhaseWrite   Phase = "write"   // sending the request
	PhaseHead    Phase = "head"    // waiting for the answer's head
	PhaseBody    Phase = "body"    // reading the answer's body
)

func (p Phase) String() string { return string(p) }

// Code is the kind of a failure, for records and statistics.
type Code string

// The codes: a closed list.
const (
	CodeAddressDenied Code = "address_denied" // only special addresses, which are not open
	CodeBadHead       Code = "bad_head"       // the answer is not HTTP
	CodeBadRequest    Code = "bad_request"    // the request cannot be sent as it is
	CodeCanceled      Code = "canceled"       // the caller gave up
	CodeCertificate   Code = "certificate"    // the server's certificate is not trusted
	CodeClosed        Code = "closed"         // the connection ended before the head did
	CodeDNSFailed     Code = "dns_failed"     // the name servers failed
	CodeDNSNotFound   Code = "dns_not_found"  // no such name, or a name without addresses
	CodeDNSTimeout    Code = "dns_timeout"    // the name servers kept silent
	CodeExhausted     Code = "exhausted"      // this machine has no file, port or buffer left: nothing was learnt of the host
	CodeHeadTooLong   Code = "head_too_long"  // the head is longer than Config.MaxHeadBytes
	CodeOther         Code = "other"          // none of these
	CodeProxy         Code = "proxy"          // the proxy failed: nothing was learnt of the host
	CodeProxyDenied   Code = "proxy_denied"   // the proxy will not go to the host
	CodeRefused       Code = "refused"        // nobody listens
	CodeReset         Code = "reset"          // the peer broke the connection
	CodeTimeout       Code = "timeout"        // a deadline passed
	CodeTLS           Code = "tls"            // the TLS handshake failed, or TLS was broken behind it
	CodeUnreachable   Code = "unreachable"    // no way to the address
)

// Codes lists the codes in the order of their names.
func Codes() []Code {
	return []Code{
		CodeAddressDenied, CodeBadHead, CodeBadRequest, CodeCanceled, CodeCertificate, CodeClosed, CodeDNSFailed, CodeDNSNotFound,
		CodeDNSTimeout, CodeExhausted, CodeHeadTooLong, CodeOther, CodeProxy, CodeProxyDenied, CodeRefused, CodeReset, CodeTimeout, CodeTLS, CodeUnreachable,
	}
}

// Error is a hop without an answer.
type Error struct {
	URL       canon.URL
	Phase     Phase
	Transient bool // another try later may end otherwise
	Err       error
}

// ErrAskAgain says that nothing of an answer came, and that the host is hardly to blame: a kept connection ended, or an
// HTTP/2 server has not taken the request in. It is worth one more request, once the host may have one, with Request.Fresh;
// that one does not end so.
var ErrAskAgain = errors.New("the kept connection ended without an answer")

func askAgain(cause error) error { return fmt.Errorf("%w: %w", ErrAskAgain, bare(cause)) }

func newError(u canon.URL, phase Phase, err error) *Error {
	e := &Error{URL: u, Phase: phase, Err: bare(err)}
	switch e.Code() {
	case CodeCanceled, CodeClosed, CodeDNSFailed, CodeDNSTimeout, CodeExhausted, CodeOther, CodeRefused, CodeReset, CodeTimeout, CodeUnreachable:
		e.Transient = true
	case CodeProxy:
		e.Transient = !errors.Is(err, ErrProxyAuth)
	}
	return e
}

func (e *Error) Error() string { return fmt.Sprintf("fetch %s: %s: %v", e.URL, e.Phase, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Code tells the kind of the failure.
func (e *Error) Code() Code {
	dns, isDNS := errors.AsType[*net.DNSError](e.Err)
	_, isProxy := errors.AsType[*ProxyError](e.Err)
	switch {
	case errors.Is(e.Err, ErrAddressDenied):
		return CodeAddressDenied
	case errors.Is(e.Err, context.Canceled):
		return CodeCanceled
	case isExhausted(e.Err):
		return CodeExhausted
	case isProxy:
		return CodeProxy
	case errors.Is(e.Err, ErrProxyDenied):
		return CodeProxyDenied
	case isDNS && dns.IsNotFound:
		return CodeDNSNotFound
	case e.Phase == PhaseResolve && isTimeout(e.Err):
		return CodeDNSTimeout
	case isDNS:
		return CodeDNSFailed
	case isTimeout(e.Err):
		return CodeTimeout
	case errors.Is(e.Err, errHeadTooLong), errors.Is(e.Err, errInterimFlood):
		return CodeHeadTooLong
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return CodeRefused
	case errors.Is(e.Err, syscall.ECONNRESET), errors.Is(e.Err, syscall.EPIPE), errors.Is(e.Err, syscall.ECONNABORTED):
		return CodeReset
	case errors.Is(e.Err, syscall.EHOSTUNREACH), errors.Is(e.Err, syscall.ENETUNREACH):
		return CodeUnreachable
	case errors.Is(e.Err, io.EOF), errors.Is(e.Err, io.ErrUnexpectedEOF):
		return CodeClosed
	case isTLSFault(e.Err):
		return CodeTLS
	}
	return e.codeOfPhase()
}

// isExhausted tells a lack of our own from a fault of the peer's.
func isExhausted(err error) bool {
	for _, lack := range []error{
		syscall.EADDRNOTAVAIL, syscall.EADDRINUSE, // no local port is free
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
	} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}

// isTLSFault knows an alert of either side, and a record that is none, in whatever phase it came.
func isTLSFault(err error) bool {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && isAlert(op)
}

// isAlert tells crypto/tls's use of the type from net's.
func isAlert(op *net.OpError) bool { return op.Op == "remote error" || op.Op == "local error" }

// codeOfPhase is for causes that mean nothing but where they come from.
func (e *Error) codeOfPhase() Code {
	switch e.Phase {
	case PhaseTLS:
		if _, ok := errors.AsType[*tls.CertificateVerificationError](e.Err); ok {
			return CodeCertificate
		}
		return CodeTLS
	case PhaseHead:
		return CodeBadHead
	case PhaseWrite:
		return CodeBadRequest
	}
	return CodeOther
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// bare takes off what net puts around a cause: an operation that the phase tells, and a local port that means nothing.
func bare(err error) error {
	if op, ok := err.(*net.OpError); ok && !isAlert(op) {
		return op.Err
	}
	return err
}

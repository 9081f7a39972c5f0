package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

// certificateError says in plain words what is wrong with a certificate, and what accepts it.
type certificateError struct {
	what  string
	cause *tls.CertificateVerificationError
}

func (e *certificateError) Error() string { return e.what + " (--insecure accepts it)" }
func (e *certificateError) Unwrap() error { return e.cause }

// explainCertificate gives the failure of a handshake with host its plain words, where a certificate is its cause.
func explainCertificate(err error, host string) error {
	cause, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok {
		return err
	}
	what := bare(cause.Err).Error()
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		what = "certificate is for " + namesOf(wrong.Certificate) + ", not for " + host
	} else if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		what = validityOf(invalid.Cert, time.Now())
	} else if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		what = unknownAuthority(unknown.Cert)
	}
	return &certificateError{what, cause}
}

// namesOf lists the hosts of a certificate, the first few of many.
func namesOf(c *x509.Certificate) string {
	const most = 3
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	switch more := len(names) - most; {
	case len(names) == 0:
		return "no host"
	case more > 0:
		return quotedNames(names[:most]) + fmt.Sprintf(" and %d more", more)
	}
	return quotedNames(names)
}

func quotedNames(names []string) string {
	for i, name := range names {
		if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			names[i] = quoted(name)
		}
	}
	return strings.Join(names, ", ")
}

func validityOf(c *x509.Certificate, now time.Time) string {
	if now.Before(c.NotBefore) {
		return "certificate is not valid before " + c.NotBefore.UTC().Format(time.DateOnly)
	}
	return "certificate expired on " + c.NotAfter.UTC().Format(time.DateOnly)
}

// unknownAuthority names who signed c. Where the server left out what stands between, that may be all that is wrong.
func unknownAuthority(c *x509.Certificate) string {
	if c == nil || c.Issuer.String() == c.Subject.String() {
		return "certificate is signed by itself"
	}
	return "certificate is of an unknown authority: " + quoted(c.Issuer.String())
}

package fetch

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"golang.org/x/net/http/httpguts"
)

// accept prefers what links are found in.
const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// field is one header field, its name in canonical form.
type field struct{ name, value string }

// clientFields are sent with every request that does not replace them.
func clientFields(cfg Config) []field {
	fields := []field{
		{"User-Agent", cfg.UserAgent},
		{"Accept", accept},
		{"Accept-Encoding", acceptEncoding},
	}
	if from, ok := cfg.mailbox(); ok {
		fields = append(fields, field{"From", from})
	}
	return fields
}

// checkFields refuses what would change the message's framing or its host, and what is no field at all.
func checkFields(h http.Header) error {
	for name, values := range h {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("header field %q: not a field name", name)
		}
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Connection", "Content-Length", "Expect", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
			"Transfer-Encoding", "Upgrade":
			return fmt.Errorf("header field %q: set by the client alone", name)
		}
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return fmt.Errorf("header field %q: value %q cannot be sent", name, value)
			}
		}
	}
	return nil
}

// send writes the request in one piece.
func (cn *conn) send(r Request, own []field) error {
	var to *proxy
	if cn.direct {
		to = cn.key.via
	}
	cn.out = appendRequest(cn.out[:0], r, own, to)
	_, err := cn.nc.Write(cn.out)
	return err
}

func (r *Request) method() string {
	if r.HeadOnly {
		return http.MethodHead
	}
	return http.MethodGet
}

// appendRequest appends a request as it is sent to the host, or to a proxy (RFC 9112, section 3.2.2).
func appendRequest(b []byte, r Request, own []field, to *proxy) []byte {
	b = append(b, r.method()...)
	b = append(b, ' ')
	if to != nil {
		b = append(b, r.URL.Origin()...)
	}
	b = append(b, r.URL.Target()...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, r.URL.Host()...)
	b = append(b, "\r\n"...)
	if to != nil && to.authorization != "" {
		b = appendField(b, "Proxy-Authorization", to.authorization)
	}
	replaced := canonicalNames(r.Header)
	for _, f := range own {
		if !slices.Contains(replaced, f.name) {
			b = appendField(b, f.name, f.value)
		}
	}
	if len(r.Header) > 0 {
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			for _, value := range r.Header[name] {
				b = appendField(b, name, value)
			}
		}
	}
	return append(b, "\r\n"...)
}

func canonicalNames(h http.Header) (names []string) {
	for name := range h {
		names = append(names, http.CanonicalHeaderKey(name))
	}
	return names
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}

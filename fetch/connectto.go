package fetch

import (
	"fmt"
	"strconv"
	"strings"

	"crawl/canon"
)

// ConnectTo sends connections for one host and port to another, as curl's --connect-to does. What is asked stays the
// same: the Host field, and the name in the TLS handshake. Empty Host and Port match any; empty ToHost and ToPort keep
// the URL's.
type ConnectTo struct{ Host, Port, ToHost, ToPort string }

// ParseConnectTo reads HOST:PORT:ADDR:PORT. IPv6 addresses stand in brackets.
func ParseConnectTo(s string) (ConnectTo, error) {
	var parts [4]string
	rest := s
	for i := range parts {
		part, tail, more := cutHostPart(rest)
		if more != (i < len(parts)-1) {
			return ConnectTo{}, fmt.Errorf("%q: want HOST:PORT:ADDR:PORT", s)
		}
		parts[i], rest = part, tail
	}
	rule := ConnectTo{Host: parts[0], Port: parts[1], ToHost: parts[2], ToPort: parts[3]}
	return rule, rule.validate()
}

// cutHostPart cuts s at its first colon outside brackets, which it takes off.
func cutHostPart(s string) (part, rest string, more bool) {
	if strings.HasPrefix(s, "[") {
		if inner, tail, ok := strings.Cut(s[1:], "]"); ok {
			junk, rest, more := strings.Cut(tail, ":")
			return inner + junk, rest, more
		}
	}
	return strings.Cut(s, ":")
}

func (t ConnectTo) String() string {
	return bracketed(t.Host) + ":" + t.Port + ":" + bracketed(t.ToHost) + ":" + t.ToPort
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func (t ConnectTo) validate() error {
	for _, port := range []string{t.Port, t.ToPort} {
		if port == "" {
			continue
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("%q: %q is no port", t, port)
		}
	}
	for _, host := range []string{t.Host, t.ToHost} {
		if strings.ContainsAny(host, " \t\r\n/[]@") {
			return fmt.Errorf("%q: %q is no host", t, host)
		}
	}
	return nil
}

func (t ConnectTo) matches(u canon.URL) bool {
	return (t.Host == "" || strings.EqualFold(t.Host, u.Hostname())) && (t.Port == "" || t.Port == u.Port())
}

// target returns where connections for u go. named: a rule names that host, which opens its addresses.
func (c *Client) target(u canon.URL) (host, port string, named bool) {
	host, port = u.Hostname(), u.Port()
	for _, rule := range c.cfg.ConnectTo {
		if !rule.matches(u) {
			continue
		}
		if rule.ToHost != "" {
			host, named = rule.ToHost, true
		}
		if rule.ToPort != "" {
			port = rule.ToPort
		}
		break
	}
	return host, port, named
}

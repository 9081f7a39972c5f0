package config

import (
	"net/netip"
	"strconv"
	"strings"
)

// AllPrivate is the Private that stands for every name and address.
const AllPrivate Private = "all"

// Private names what may be asked although its address is private, loopback or special: a host name, an address, a
// range of addresses as 10.0.0.0/8, or all. Names and addresses may carry a port.
type Private string

func (Private) parse(text string) (Private, error) {
	const want = "a host name or an address, either with or without port, a range such as 10.0.0.0/8, or all"
	if host, ok := hostName(text); ok {
		return Private(host), nil
	}
	if a, err := netip.ParseAddrPort(text); err == nil && a.Addr().Zone() == "" && a.Port() > 0 {
		return Private(a.String()), nil
	}
	if r, err := netip.ParsePrefix(text); err == nil {
		return Private(r.Masked().String()), nil
	}
	if host, port, ok := cutHost(text); ok && host != "" && port != "" && portNumber(port) {
		return Private(bracket(host) + ":" + port), nil
	}
	return "", bad(want, text)
}

func (p Private) String() string { return string(p) }

// Type is the word that stands for a Private in a flag's help.
func (Private) Type() string { return "name" }

// ConnectTo sends the connections meant for one place to another, as curl's --connect-to does. An empty Host or Port
// matches any; an empty ToHost or ToPort keeps what was meant.
type ConnectTo struct {
	Host, Port     string
	ToHost, ToPort string
}

func (ConnectTo) parse(text string) (ConnectTo, error) {
	const want = "HOST:PORT:ADDR:PORT, each of which may be empty, an IPv6 address in brackets"
	var c ConnectTo
	rest, ok := text, true
	for i, part := range []*string{&c.Host, &c.Port, &c.ToHost, &c.ToPort} {
		var found, good bool
		if i%2 == 0 {
			*part, rest, good = cutHost(rest)
		} else {
			*part, rest, found = strings.Cut(rest, ":")
			good = portNumber(*part) && found == (i == 1)
		}
		ok = ok && good
	}
	if !ok || c.ToHost == "" && c.ToPort == "" {
		return ConnectTo{}, bad(want, text)
	}
	return c, nil
}

// cutHost cuts "host:rest". The colons of an IPv6 address stand inside brackets.
func cutHost(text string) (host, rest string, ok bool) {
	end := strings.IndexByte(text, ':')
	if strings.HasPrefix(text, "[") {
		end = strings.IndexByte(text, ']') + 1
	}
	if end < 0 || end >= len(text) || text[end] != ':' {
		return "", "", false
	}
	if end == 0 {
		return "", text[1:], true
	}
	host, ok = hostName(text[:end])
	return host, text[end+1:], ok
}

// String writes the form that is read.
func (c ConnectTo) String() string {
	return strings.Join([]string{bracket(c.Host), c.Port, bracket(c.ToHost), c.ToPort}, ":")
}

// Type is what stands for a ConnectTo in a flag's help.
func (ConnectTo) Type() string { return "HOST:PORT:ADDR:PORT" }

func bracket(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// hostName reads a host name in its ASCII form, or an address with or without the brackets of IPv6. It returns names
// in lower case, and addresses without brackets and as netip writes them.
func hostName(text string) (string, bool) {
	inner, bracketed := strings.CutPrefix(text, "[")
	if bracketed {
		var closed bool
		if inner, closed = strings.CutSuffix(inner, "]"); !closed {
			return "", false
		}
	}
	if a, err := netip.ParseAddr(inner); err == nil && a.Zone() == "" && (a.Is6() || !bracketed) {
		return a.String(), true
	}
	name := strings.ToLower(text)
	return name, isDomain(name)
}

// isDomain reports whether a name in lower case may be a host's: labels of 1 to 63 characters and 253 in all (RFC 1035,
// section 2.3.4), the last of which is no number, since URLs take such a name for an address.
func isDomain(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	const longestName, longestLabel = 253, 63
	name = strings.TrimSuffix(name, ".")
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > longestLabel || strings.Trim(label, letters) != "" {
			return false
		}
		last = label
	}
	return len(name) <= longestName && !allDigits(last)
}

// portNumber accepts 1 to 65535, and the empty text for any.
func portNumber(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

package config

import (
	"net/netip"
	"strings"
)

// Resolver is the address of a name server, with its port.
type Resolver netip.AddrPort

// dnsPort is where name servers listen.
const dnsPort = 53

func (Resolver) parse(text string) (Resolver, error) {
	const want = "the address of a name server, such as 192.0.2.53, 127.0.0.1:5353 or [2001:db8::53]:53"
	inner, bracketed := text, strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]")
	if bracketed {
		inner = text[1 : len(text)-1]
	}
	if a, err := netip.ParseAddr(inner); err == nil && (a.Is6() || !bracketed) && !strings.ContainsAny(inner, "[]") {
		return Resolver(netip.AddrPortFrom(a, dnsPort)), nil
	}
	if a, err := netip.ParseAddrPort(text); err == nil && a.Port() > 0 {
		return Resolver(a), nil
	}
	return Resolver{}, bad(want, text)
}

// String leaves out the usual port.
func (r Resolver) String() string {
	if a := netip.AddrPort(r); a.Port() != dnsPort {
		return a.String()
	}
	return netip.AddrPort(r).Addr().String()
}

// Type is what stands for a Resolver in a flag's help.
func (Resolver) Type() string { return "ADDR[:PORT]" }

package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ErrAddressDenied is the cause of an *Error when a host has only special addresses that nobody has opened.
var ErrAddressDenied = errors.New("address denied")

// specialRange is an address range that a link from the web has no business with.
type specialRange struct {
	prefix netip.Prefix
	kind   string
}

// specialRanges4 follows the IANA IPv4 Special-Purpose Address Registry.
var specialRanges4 = []specialRange{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
}

// specialRanges6 follows the IANA IPv6 Special-Purpose Address Registry; its last entries name what lies outside
// globalUnicast6 for the message only.
var specialRanges6 = []specialRange{
	{netip.MustParsePrefix("2001::/23"), "reserved for protocols"}, // Teredo, benchmarking, ORCHID
	{netip.MustParsePrefix("2001:db8::/32"), "documentation"},
	{netip.MustParsePrefix("3fff::/20"), "documentation"},
	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// Addresses outside 2000::/3 are not global unicast (RFC 4291, section 2.4), but for those that embed an IPv4 address.
var (
	globalUnicast6 = netip.MustParsePrefix("2000::/3")
	nat64          = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixToFour      = netip.MustParsePrefix("2002::/16")    // RFC 3056
)

// specialKind says what makes a special; empty for an ordinary address of the public Internet.
func specialKind(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return kindIn(specialRanges4, a)
	}
	bytes := a.As16()
	switch {
	case nat64.Contains(a):
		return kindIn(specialRanges4, netip.AddrFrom4([4]byte(bytes[12:16])))
	case sixToFour.Contains(a):
		return kindIn(specialRanges4, netip.AddrFrom4([4]byte(bytes[2:6])))
	}
	if kind := kindIn(specialRanges6, a); kind != "" {
		return kind
	}
	if !globalUnicast6.Contains(a) {
		return "reserved"
	}
	return ""
}

func kindIn(ranges []specialRange, a netip.Addr) string {
	for _, r := range ranges {
		if r.prefix.Contains(a) {
			return r.kind
		}
	}
	return ""
}

// policy says which special addresses are open.
type policy struct{ openings []opening }

// opening is an entry of Config.AllowPrivate: a host name or a range of addresses, with or without a port.
type opening struct {
	name   string       // lower case; empty where prefix counts
	prefix netip.Prefix // not valid, and no name: everything
	port   uint16       // 0: any
}

func newPolicy(entries []string) policy {
	var p policy
	for _, entry := range entries {
		if o, err := parseOpening(entry); err == nil { // Validate has refused the others
			p.openings = append(p.openings, o)
		}
	}
	return p
}

func parseOpening(s string) (opening, error) {
	if s == "all" {
		return opening{}, nil
	}
	if prefix, err := netip.ParsePrefix(s); err == nil {
		return opening{prefix: prefix.Masked()}, nil
	}
	host, port, err := splitOpening(s)
	if err != nil {
		return opening{}, err
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		return opening{prefix: netip.PrefixFrom(addr, addr.BitLen()), port: port}, nil
	}
	if host == "" || strings.ContainsAny(host, " \t\r\n/:[]@") {
		return opening{}, fmt.Errorf("%q: want a host, an address, a range or all", s)
	}
	return opening{name: strings.ToLower(host), port: port}, nil
}

// splitOpening cuts "host:port" and "[v6]:port"; a bare IPv6 address has no port.
func splitOpening(s string) (host string, port uint16, err error) {
	if _, err := netip.ParseAddr(s); err == nil {
		return s, 0, nil
	}
	host, digits, hasPort := cutHostPart(s)
	if !hasPort {
		return host, 0, nil
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("%q: %q is no port", s, digits)
	}
	return host, uint16(n), nil
}

// check returns nil when a may be dialled for a URL on hostname.
func (p policy) check(hostname string, a netip.AddrPort) error {
	kind := specialKind(a.Addr())
	if kind == "" {
		return nil
	}
	for _, o := range p.openings {
		if o.opens(hostname, a) {
			return nil
		}
	}
	return fmt.Errorf("%w: %v is %s, and allow_private does not name it", ErrAddressDenied, a.Addr(), kind)
}

func (o opening) opens(hostname string, a netip.AddrPort) bool {
	if o.port != 0 && o.port != a.Port() {
		return false
	}
	switch {
	case o.name != "":
		return strings.EqualFold(o.name, hostname)
	case o.prefix.IsValid():
		return o.prefix.Contains(a.Addr().Unmap())
	}
	return true
}

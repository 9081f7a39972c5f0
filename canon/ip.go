package canon

import (
	"net/netip"
	"strconv"
	"strings"
)

// appendIPv6 appends an address in brackets in its shortest form (RFC 5952, but an IPv4 tail is hexadecimal, too).
func appendIPv6(dst []byte, host string) ([]byte, error) {
	inner, closed := strings.CutSuffix(host[1:], "]")
	if !closed {
		return nil, flaw("bracket is not closed")
	}
	addr, err := netip.ParseAddr(inner)
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return nil, flaw("brackets hold no IPv6 address")
	}
	dst = append(dst, '[')
	if addr.Is4In6() {
		b := addr.As16()
		dst = append(dst, "::ffff:"...)
		dst = strconv.AppendUint(dst, uint64(b[12])<<8|uint64(b[13]), 16)
		dst = append(dst, ':')
		dst = strconv.AppendUint(dst, uint64(b[14])<<8|uint64(b[15]), 16)
	} else {
		dst = addr.AppendTo(dst)
	}
	return append(dst, ']'), nil
}

// endsInNumber reports whether a domain is to be read as an IPv4 address: whether its last label is a number.
func endsInNumber(domain string) bool {
	domain = strings.TrimSuffix(domain, ".")
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := ipv4Number(last)
	return ok
}

// appendIPv4 reads one to four numbers, of which the last fills all bytes that are left.
func appendIPv4(dst []byte, domain string) ([]byte, error) {
	parts := strings.Split(strings.TrimSuffix(domain, "."), ".")
	if len(parts) > 4 {
		return nil, flaw("IPv4 address has more than four numbers")
	}
	addr := uint64(0)
	for i, part := range parts {
		v, ok := ipv4Number(part)
		if !ok {
			return nil, flaw("host ends in a number and is no IPv4 address")
		}
		width := 8
		if i == len(parts)-1 {
			width = 8 * (4 - i)
		}
		if v >= 1<<width {
			return nil, flaw("number in IPv4 address is too large")
		}
		addr = addr<<width | v
	}
	return netip.AddrFrom4([4]byte{byte(addr >> 24), byte(addr >> 16), byte(addr >> 8), byte(addr)}).AppendTo(dst), nil
}

// ipv4Number reads a decimal, octal ("0...") or hexadecimal ("0x...") number. One of more than 32 bits comes as 1<<32.
func ipv4Number(s string) (v uint64, ok bool) {
	if s == "" {
		return 0, false
	}
	base := uint64(10)
	if hex, isHex := strings.CutPrefix(s, "0x"); isHex {
		s, base = hex, 16
	} else if len(s) > 1 && s[0] == '0' {
		s, base = s[1:], 8
	}
	for i := range len(s) {
		digit, isHex := unhex(s[i])
		if !isHex || uint64(digit) >= base {
			return 0, false
		}
		v = min(v*base+uint64(digit), 1<<32)
	}
	return v, true
}

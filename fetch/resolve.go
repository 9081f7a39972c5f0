package fetch

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"crawl/canon"
)

// Resolve returns the addresses that may be dialled for u, best first, the two address families in turn: u's host or
// what a ConnectTo rule puts in its place, looked up and checked. Special addresses are left out unless they are opened;
// when nothing else is there, the *Error wraps ErrAddressDenied. "localhost" and names below it are the loopback
// addresses without a look-up (RFC 6761, section 6.3).
func (c *Client) Resolve(ctx context.Context, u canon.URL) ([]netip.AddrPort, error) {
	if u.IsZero() {
		return nil, &Error{URL: u, Phase: PhaseResolve, Err: errNoURL}
	}
	host, portText, _ := c.target(u)
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, newError(u, PhaseResolve, err)
	}
	addrs, err := c.addressesOf(ctx, host)
	if err != nil {
		return nil, newError(u, PhaseResolve, err)
	}
	all := make([]netip.AddrPort, len(addrs))
	for i, a := range addrs {
		all[i] = netip.AddrPortFrom(a, uint16(port))
	}
	allowed, err := c.permitted(u, all)
	if err != nil {
		return nil, newError(u, PhaseResolve, err)
	}
	return familiesInTurn(allowed), nil
}

// permitted returns those of addrs that may be dialled for u, or why there is none.
func (c *Client) permitted(u canon.URL, addrs []netip.AddrPort) ([]netip.AddrPort, error) {
	if _, _, named := c.target(u); named {
		return addrs, nil
	}
	hostname := u.Hostname()
	var denied error
	allowed := make([]netip.AddrPort, 0, len(addrs))
	for _, a := range addrs {
		if err := c.policy.check(hostname, a); err != nil {
			if denied == nil {
				denied = err
			}
			continue
		}
		allowed = append(allowed, a)
	}
	if len(allowed) == 0 {
		return nil, denied
	}
	return allowed, nil
}

// addressesOf returns the addresses of host, at least one.
func (c *Client) addressesOf(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	if isLocalhost(host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.DNSTimeout)
	defer cancel()
	found, err := c.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.Addr, 0, len(found))
	for _, a := range found {
		if a = a.Unmap(); !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	return addrs, nil
}

func isLocalhost(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func lookupFunc(r *net.Resolver) func(context.Context, string) ([]netip.Addr, error) {
	return func(ctx context.Context, host string) ([]netip.Addr, error) { return r.LookupNetIP(ctx, "ip", host) }
}

// familiesInTurn keeps the order within each family and alternates between them, so that one broken family costs one
// failed attempt (RFC 8305, section 4).
func familiesInTurn(addrs []netip.AddrPort) []netip.AddrPort {
	var first, second []netip.AddrPort
	for _, a := range addrs {
		if a.Addr().Is4() == addrs[0].Addr().Is4() {
			first = append(first, a)
		} else {
			second = append(second, a)
		}
	}
	mixed := make([]netip.AddrPort, 0, len(addrs))
	for i := range max(len(first), len(second)) {
		mixed = append(mixed, first[min(i, len(first)):min(i+1, len(first))]...)
		mixed = append(mixed, second[min(i, len(second)):min(i+1, len(second))]...)
	}
	return mixed
}

package fetch

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"crawl/canon"
)

// Resolution is what Resolve found.
type Resolution struct {
	// Addrs may be dialled, best first; none where a proxy finds them. Nobody may write to them.
	Addrs []netip.AddrPort

	// TTL is how long they hold; 0 when that is not known, as with a Fetcher that does not tell.
	TTL time.Duration
}

// fixedTTL is how long an address holds that is written in a URL or a rule.
const fixedTTL = 24 * time.Hour

// Resolve returns the addresses that may be dialled for u, best first, the two address families in turn: u's host or
// what a ConnectTo rule puts in its place, looked up and checked. Special addresses are left out unless they are opened;
// when nothing else is there, the *Error wraps ErrAddressDenied. "localhost" and names below it are the loopback
// addresses without a look-up (RFC 6761, section 6.3).
func (c *Client) Resolve(ctx context.Context, u canon.URL) (Resolution, error) {
	if u.IsZero() {
		return Resolution{}, &Error{URL: u, Phase: PhaseResolve, Err: errNoURL}
	}
	if c.proxies.of(u).findsNames() {
		if err := c.checkUnseen(u); err != nil {
			return Resolution{}, newError(u, PhaseResolve, err)
		}
		return Resolution{TTL: fixedTTL}, nil
	}
	host, portText, _ := c.target(u)
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return Resolution{}, newError(u, PhaseResolve, err)
	}
	all, ttl, err := c.addressesOf(ctx, host, uint16(port))
	if err != nil {
		return Resolution{}, newError(u, PhaseResolve, err)
	}
	allowed, err := c.permitted(u, all)
	if err != nil {
		return Resolution{}, newError(u, PhaseResolve, err)
	}
	return Resolution{Addrs: c.reach.order(allowed), TTL: max(ttl, time.Second)}, nil
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

// addressesOf returns the addresses of host, at least one, and how long they hold.
func (c *Client) addressesOf(ctx context.Context, host string, port uint16) (addrs []netip.AddrPort, ttl time.Duration, err error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(a.Unmap(), port)}, fixedTTL, nil
	}
	if isLocalhost(host) {
		return []netip.AddrPort{
			netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port), netip.AddrPortFrom(netip.IPv6Loopback(), port),
		}, fixedTTL, nil
	}
	found, err := c.lookup(ctx, host)
	if err != nil {
		return nil, 0, err
	}
	for _, a := range found.Addrs {
		if to := netip.AddrPortFrom(a.Unmap(), port); !slices.Contains(addrs, to) {
			addrs = append(addrs, to)
		}
	}
	if len(addrs) == 0 {
		return nil, 0, &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	return addrs, found.TTL, nil
}

func isLocalhost(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

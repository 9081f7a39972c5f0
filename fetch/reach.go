package fetch

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	lostFor    = 10 * time.Minute // an address that lost against another is tried after it
	lostMost   = 4096             // addresses that are remembered for that
	lostInRow  = 4                // losses of one family, without a win, after which all of it is taken to be out of reach
	routeProbe = 30 * time.Second // between looks at the way to the Internet by IPv6
)

// reach remembers which addresses could be connected to from here, so that a host that cannot be reached by one family
// costs its delay once and not with each connection (RFC 8305, section 4, allows for such a memory).
type reach struct {
	probe func() ipv6

	mu       sync.Mutex // guards all below
	lost     map[netip.Addr]time.Time
	families [2]family // IPv4, IPv6
	way      ipv6
	probed   time.Time
}

// family is what is known of all addresses of one.
type family struct {
	inRow int // losses
	until time.Time
}

// ipv6 is how far this machine has IPv6.
type ipv6 uint8

const (
	noIPv6      ipv6 = iota + 1 // there is no way to the Internet
	privateIPv6                 // there is one, from an address that nobody out there can answer
	publicIPv6
)

func newReach() *reach { return &reach{probe: probeIPv6, lost: make(map[netip.Addr]time.Time)} }

// probeIPv6 asks the system for the way to an address of the Internet. Connecting a UDP socket sends nothing.
func probeIPv6() ipv6 {
	root := netip.MustParseAddrPort("[2001:500:2::c]:53") // c.root-servers.net
	nc, err := net.DialUDP("udp6", nil, net.UDPAddrFromAddrPort(root))
	if err != nil {
		return noIPv6
	}
	defer nc.Close()
	if here, ok := nc.LocalAddr().(*net.UDPAddr); !ok || !globalUnicast6.Contains(here.AddrPort().Addr()) {
		return privateIPv6
	}
	return publicIPv6
}

// ipv6 returns how far this machine has IPv6 at present.
func (r *reach) ipv6() ipv6 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); r.way == 0 || now.Sub(r.probed) >= routeProbe {
		r.way, r.probed = r.probe(), now
	}
	return r.way
}

// hasIPv6 reports whether there is any use in IPv6 addresses.
func (r *reach) hasIPv6() bool { return r.ipv6() != noIPv6 }

// order puts the addresses of a name in the order in which they are dialled: the families in turn, so that one that does
// not work costs one attempt (RFC 8305, section 4), IPv6 first where this machine has it. Without a way to the Internet
// by IPv6, its addresses are left out, unless there are no others. Addresses of our own networks keep their order.
func (r *reach) order(addrs []netip.AddrPort) []netip.AddrPort {
	first := addrs[0].Addr().Is4()
	isInternet6 := func(a netip.AddrPort) bool { return globalUnicast6.Contains(a.Addr()) }
	if slices.ContainsFunc(addrs, isInternet6) {
		way := r.ipv6()
		first = way != publicIPv6
		if rest := slices.DeleteFunc(slices.Clone(addrs), isInternet6); way == noIPv6 && len(rest) > 0 {
			addrs = rest
		}
	}
	return r.recent(familiesInTurn(addrs, first))
}

// recent moves what was out of reach lately to the end. It may write to addrs.
func (r *reach) recent(addrs []netip.AddrPort) []netip.AddrPort {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if len(r.lost) == 0 {
		return addrs
	}
	rank := func(a netip.AddrPort) int {
		switch {
		case now.Before(r.lost[a.Addr()]):
			return 2
		case now.Before(r.families[is6(a.Addr())].until):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(addrs, func(a, b netip.AddrPort) int { return rank(a) - rank(b) })
	return addrs
}

// won books that of addrs, dialled in this order, the one at i was the first to connect.
func (r *reach) won(addrs []netip.AddrPort, i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	winner := addrs[i].Addr()
	r.families[is6(winner)] = family{}
	if len(r.lost) > 0 {
		delete(r.lost, winner)
	}
	now := time.Now()
	for _, a := range addrs[:i] {
		loser := a.Addr()
		r.forget(now)
		r.lost[loser] = now.Add(lostFor)
		if f := &r.families[is6(loser)]; is6(loser) != is6(winner) {
			if f.inRow++; f.inRow >= lostInRow {
				f.until = now.Add(lostFor)
			}
		}
	}
}

// forget makes room for one more address.
func (r *reach) forget(now time.Time) {
	if len(r.lost) < lostMost {
		return
	}
	for a, until := range r.lost {
		if !now.Before(until) {
			delete(r.lost, a)
		}
	}
	for a := range r.lost {
		if len(r.lost) < lostMost {
			return
		}
		delete(r.lost, a)
	}
}

func is6(a netip.Addr) int {
	if a.Is4() || a.Is4In6() {
		return 0
	}
	return 1
}

// familiesInTurn keeps the order within each family and alternates between them.
func familiesInTurn(addrs []netip.AddrPort, first4 bool) []netip.AddrPort {
	var first, second []netip.AddrPort
	for _, a := range addrs {
		if a.Addr().Is4() == first4 {
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

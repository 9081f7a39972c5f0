package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestOrder(t *testing.T) {
	v4a, v4b, v6a, v6b, ula := "192.0.2.1:80", "192.0.2.2:80", "[2606:4700::1]:80", "[2606:4700::2]:80", "[fd00::1]:80"
	for _, tt := range []struct {
		name  string
		way   ipv6
		addrs []string
		want  []string
	}{
		{"IPv6 first", publicIPv6, []string{v4a, v4b, v6a, v6b}, []string{v6a, v4a, v6b, v4b}},
		{"IPv6 in doubt", privateIPv6, []string{v6a, v6b, v4a, v4b}, []string{v4a, v6a, v4b, v6b}},
		{"no IPv6", noIPv6, []string{v4a, v6a, v6b, v4b}, []string{v4a, v4b}},
		{"no IPv6, and nothing else", noIPv6, []string{v6a, v6b}, []string{v6a, v6b}},
		{"our own networks", noIPv6, []string{v4a, ula}, []string{v4a, ula}},
		{"our own networks, IPv6 first", noIPv6, []string{ula, v4a}, []string{ula, v4a}},
		{"one family", publicIPv6, []string{v4b, v4a}, []string{v4b, v4a}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReach()
			r.probe = func() ipv6 { return tt.way }
			if got := r.order(addrPorts(tt.addrs...)); !slices.Equal(got, addrPorts(tt.want...)) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// reachNet is a network in which some addresses keep silent, or have no way to them; the others answer.
type reachNet struct {
	silent func(netip.Addr) bool
	noWay  func(netip.Addr) bool
}

func (n reachNet) dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	switch {
	case n.silent != nil && n.silent(addr.Addr()):
		<-ctx.Done()
		return nil, ctx.Err()
	case n.noWay != nil && n.noWay(addr.Addr()):
		return nil, &net.OpError{Op: "dial", Err: syscall.ENETUNREACH}
	}
	near, far := net.Pipe()
	far.Close()
	return near, nil
}

// TestSilentFamilyCostsItsDelayOnce: a host whose IPv6 address keeps silent is dialled by IPv4 first from then on, and after
// some such hosts all are; after a while IPv6 is tried again.
func TestSilentFamilyCostsItsDelayOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Config{})
		c.dialer = reachNet{silent: netip.Addr.Is6}.dial
		connect := func(host int, want time.Duration) {
			t.Helper()
			addrs := addrPorts(fmt.Sprintf("[2606:4700::%x]:80", host), fmt.Sprintf("198.51.100.%d:80", host))
			start := time.Now()
			nc, addr, err := c.dialFirst(t.Context(), addrs)
			if err != nil {
				t.Fatal(err)
			}
			nc.Close()
			if took := time.Since(start); took != want || !addr.Addr().Is4() {
				t.Errorf("host %d: %v by %v, want %v", host, addr, took, want)
			}
		}
		for host := range lostInRow {
			connect(host+1, attemptDelay)
			connect(host+1, 0)
		}
		connect(100, 0)
		<-time.After(lostFor)
		connect(1, attemptDelay)
	})
}

// TestWorkingFamilyIsNotBlamed: hosts with one dead address each say nothing of a family that connects elsewhere.
func TestWorkingFamilyIsNotBlamed(t *testing.T) {
	c := newClient(t, Config{})
	c.dialer = reachNet{noWay: func(a netip.Addr) bool { return a.Is6() && a.As16()[15]%2 == 1 }}.dial
	for host := range 4 * lostInRow {
		want6 := host%2 == 0
		nc, addr, err := c.dialFirst(t.Context(), addrPorts(fmt.Sprintf("[2606:4700::%x]:80", host), fmt.Sprintf("198.51.100.%d:80", host)))
		if err != nil {
			t.Fatal(err)
		}
		nc.Close()
		if addr.Addr().Is6() != want6 {
			t.Errorf("host %d is reached at %v", host, addr)
		}
	}
}

// TestReachIsBounded: it remembers so many addresses, and the winner is none of them.
func TestReachIsBounded(t *testing.T) {
	r := newReach()
	for i := range 2 * lostMost {
		a := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		r.won([]netip.AddrPort{netip.AddrPortFrom(a, 80), netip.MustParseAddrPort("192.0.2.1:80")}, 1)
	}
	if n := len(r.lost); n > lostMost || n < lostMost/2 {
		t.Errorf("%d addresses, want up to %d", n, lostMost)
	}
	if _, lost := r.lost[netip.MustParseAddr("192.0.2.1")]; lost {
		t.Error("the address that connects is among those that do not")
	}
}

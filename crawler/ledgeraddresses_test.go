package crawler

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crawl/frontier"
)

// With per_ip the ledger knows what hosts on one address owe each other, and does without it.
func TestLedgerOfAddresses(t *testing.T) {
	const s = time.Second
	requested := frontier.Outcome{Requested: true}
	promise := frontier.Promise{Slots: 1, Delay: s, HostDelay: s, MaxCrawlDelay: time.Minute}
	for _, tt := range []struct {
		name  string
		perIP bool
		to    string // the address of the second request
		after time.Duration
		want  string
	}{
		{"another host, too soon", true, "192.0.2.1", s - 1, "1s between two requests to 192.0.2.1 (per_ip, host_delay), this would be after 999.999999ms. https://b.example/ was"},
		{"in another form", true, "::ffff:192.0.2.1", s - 1, "between two requests to 192.0.2.1"},
		{"in time", true, "192.0.2.1", s, ""},
		{"at another address", true, "192.0.2.2", 0, ""},
		{"without per_ip", false, "192.0.2.1", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newLedger(frontier.Config{PerIP: tt.perIP}, false)
				at := func(host, address string) frontier.Lease {
					l := page(t, "https://"+host+"/", promise)
					l.Addrs = []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr(address), 443)}
					return l
				}
				first, err := g.begin(at("a.example", "192.0.2.1"))
				if err != nil {
					t.Fatal(err)
				}
				_ = rest(t.Context(), 3*s)
				_, err = g.begin(at("c.example", "192.0.2.1"))
				if together := err == nil; together == tt.perIP {
					t.Errorf("a second in flight: %v", err)
				}
				g.end(first, requestEnd{Outcome: requested, at: time.Now(), status: 200})
				_ = rest(t.Context(), tt.after)
				err = g.once(at("b.example", tt.to), 0, requested, 200)
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
			})
		})
	}
}

// What no request came of costs an address nothing, and addresses that owe nobody anything are forgotten.
func TestLedgerForgetsAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newLedger(frontier.Config{PerIP: true}, false)
		promise := frontier.Promise{Slots: 1, HostDelay: time.Second}
		for i := range 10_000 {
			l := page(t, fmt.Sprintf("https://h%d.example/", i), promise)
			l.Addrs = []netip.AddrPort{netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 443)}
			if err := g.once(l, 0, frontier.Outcome{}, 0); err != nil {
				t.Fatal(err)
			}
			if err := g.once(l, 0, frontier.Outcome{Requested: true}, 200); err != nil {
				t.Fatal(err)
			}
			_ = rest(t.Context(), 100*time.Millisecond) // ten within a delay
		}
		if n := len(g.addresses); n > 50 {
			t.Errorf("%d addresses are kept", n)
		}
	})
}

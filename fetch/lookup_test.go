package fetch

import (
	"net/netip"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"crawl/internal/testnet"
)

// named starts a name server with these hosts and returns it with a client that asks it.
func named(t *testing.T, cfg Config, hosts map[string]testnet.Host) (*testnet.DNS, *Client) {
	t.Helper()
	s, err := testnet.StartDNS(hosts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	cfg.Resolvers = []netip.AddrPort{s.Addr()}
	return s, newClient(t, cfg)
}

func TestNameServers(t *testing.T) {
	_, c := named(t, Config{DNSTimeout: 200 * time.Millisecond}, map[string]testnet.Host{
		"a.test":        {Addrs: []string{"8.8.8.8"}, TTL: 1000},
		"short.test":    {Addrs: []string{"8.8.8.8"}, TTL: 1},
		"private.test":  {Addrs: []string{"192.168.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1"}, TTL: 60},
		"silent.test":   {Fault: testnet.Silent},
		"servfail.test": {Code: dnsmessage.RCodeServerFailure},
		"empty.test":    {Negative: 60},
	})
	for _, tt := range []struct {
		url string
		ttl time.Duration
		code
	}{
		{"http://a.test/", 1000 * time.Second, code{}},
		{"http://short.test/", 5 * time.Minute, code{}},
		{"http://private.test/", 0, code{CodeAddressDenied, false}},
		{"http://silent.test/", 0, code{CodeDNSTimeout, true}},
		{"http://servfail.test/", 0, code{CodeDNSFailed, true}},
		{"http://empty.test/", 0, code{CodeDNSNotFound, false}},
		{"http://unknown.test/", 0, code{CodeDNSNotFound, false}},
	} {
		t.Run(tt.url, func(t *testing.T) {
			got, err := c.Resolve(t.Context(), mustParse(t, tt.url))
			if tt.is != "" {
				if e := wantError(t, err, PhaseResolve, tt.is); e.Transient != tt.transient {
					t.Errorf("transient %v, want %v", e.Transient, tt.transient)
				}
				return
			}
			if err != nil || got.TTL > tt.ttl || got.TTL < tt.ttl-10*time.Second {
				t.Errorf("%+v %v, want %v", got, err, tt.ttl)
			}
		})
	}
}

type code struct {
	is        Code
	transient bool
}

// TestRebinding: a name that turns private on its second look-up is refused then.
func TestRebinding(t *testing.T) {
	s, c := named(t, Config{DNSMinTTL: -1, AllowPrivate: []string{"127.0.0.2"}}, map[string]testnet.Host{
		"a.test": {Addrs: []string{"8.8.8.8"}},
	})
	u := mustParse(t, "http://a.test/")
	if _, err := c.Resolve(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	s.Set("a.test", testnet.Host{Addrs: []string{"127.0.0.1", "169.254.169.254"}})
	_, err := c.Resolve(t.Context(), u)
	wantError(t, err, PhaseResolve, CodeAddressDenied)
	_, err = c.Fetch(t.Context(), Request{URL: u})
	wantError(t, err, PhaseResolve, CodeAddressDenied)
}

// TestMovedHost: what is kept of a host by dns_min_ttl alone is asked for anew once nobody answers there.
func TestMovedHost(t *testing.T) {
	p := newPeerAt(t, "127.0.0.2:0", answering(hello))
	port := p.listener.Addr().String()[len("127.0.0.2:"):]
	s, c := named(t, Config{AllowPrivate: []string{"127.0.0.0/8"}}, map[string]testnet.Host{"a.test": {Addrs: []string{"127.0.0.3"}}})
	u := mustParse(t, "http://a.test:"+port+"/")
	_, err := c.Fetch(t.Context(), Request{URL: u})
	wantError(t, err, PhaseDial, CodeRefused)
	s.Set("a.test", testnet.Host{Addrs: []string{"127.0.0.2"}})
	wantHello(t, c, u)
}

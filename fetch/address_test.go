package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"crawl/fetch/dns"
)

func TestSpecialAddresses(t *testing.T) {
	var file struct {
		Addresses []struct{ IP, Kind, Default string }
		URLs      []struct{ URL, Means, Expect string }
	}
	readJSON(t, conformance(t, "net/special-addresses.json"), &file)
	closed := newClient(t, Config{AllowPrivate: []string{}})
	for _, tt := range file.Addresses {
		t.Run(tt.IP, func(t *testing.T) {
			if kind := specialKind(netip.MustParseAddr(tt.IP)); (kind == "") != (tt.Default == "allow") {
				t.Errorf("kind %q, want %s (%s)", kind, tt.Default, tt.Kind)
			}
		})
	}
	for _, tt := range file.URLs {
		t.Run(tt.URL, func(t *testing.T) {
			u := mustParse(t, tt.URL)
			addrs, err := closed.Resolve(t.Context(), u)
			if tt.Expect != "block" {
				t.Fatalf("unknown expectation %q", tt.Expect)
			}
			if !errors.Is(err, ErrAddressDenied) {
				t.Errorf("%v %v, want %v", addrs, err, ErrAddressDenied)
			}
			if _, err := closed.Fetch(t.Context(), Request{URL: u}); !errors.Is(err, ErrAddressDenied) {
				t.Errorf("Fetch: %v, want %v", err, ErrAddressDenied)
			}
		})
	}
}

func TestAllowPrivate(t *testing.T) {
	for _, tt := range []struct {
		entry, hostname, addr string
		open                  bool
	}{
		{"all", "a.test", "10.0.0.1:80", true},
		{"all", "a.test", "[::1]:80", true},
		{"a.test", "a.test", "10.0.0.1:80", true},
		{"A.Test", "a.test", "10.0.0.1:80", true},
		{"a.test", "b.a.test", "10.0.0.1:80", false},
		{"a.test:81", "a.test", "10.0.0.1:80", false},
		{"a.test:80", "a.test", "10.0.0.1:80", true},
		{"10.0.0.1", "a.test", "10.0.0.1:80", true},
		{"10.0.0.1", "a.test", "[::ffff:10.0.0.1]:80", true},
		{"10.0.0.1", "10.0.0.2", "10.0.0.2:80", false},
		{"127.0.0.1:8080", "127.0.0.1", "127.0.0.1:8080", true},
		{"127.0.0.1:8080", "127.0.0.1", "127.0.0.1:22", false},
		{"::1", "::1", "[::1]:80", true},
		{"[::1]", "::1", "[::1]:80", true},
		{"[::1]:8080", "::1", "[::1]:80", false},
		{"10.1.0.0/16", "a.test", "10.1.2.3:80", true},
		{"10.1.2.3/16", "a.test", "10.1.9.9:80", true},
		{"10.1.0.0/16", "a.test", "10.2.0.1:80", false},
		{"localhost", "localhost", "127.0.0.1:80", true},
		{"localhost", "evil.test", "127.0.0.1:80", false},
	} {
		c := newClient(t, Config{AllowPrivate: []string{tt.entry}})
		err := c.policy.check(tt.hostname, netip.MustParseAddrPort(tt.addr))
		if (err == nil) != tt.open {
			t.Errorf("%q, %s at %s: %v, want open %v", tt.entry, tt.hostname, tt.addr, err, tt.open)
		}
	}
	for _, entry := range []string{"", "a b", "10.0.0.1:x", "a.test:0", "http://a.test/", "10.0.0.0/40", "[::1", "a:b:c"} {
		if err := (Config{AllowPrivate: []string{entry}}).Validate(); err == nil {
			t.Errorf("allow_private %q is accepted", entry)
		}
	}
}

func TestResolve(t *testing.T) {
	zone := map[string][]netip.Addr{
		"a.test":       addrs("93.184.216.34"),
		"mixed.test":   addrs("10.0.0.1", "8.8.8.8", "8.8.4.4", "2606:4700::1", "::ffff:8.8.8.8"),
		"private.test": addrs("10.0.0.1", "fd00::1"),
		"empty.test":   {},
	}
	c := newClient(t, Config{AllowPrivate: []string{"intranet.test"}, ConnectTo: []ConnectTo{
		connectTo(t, "b.test:80:private.test:8080"), connectTo(t, "c.test::127.0.0.1:1"), connectTo(t, "d.test::a.test:"),
	}})
	c.reach.probe = func() ipv6 { return privateIPv6 }
	c.lookup = func(_ context.Context, host string) (dns.Answer, error) {
		if host == "intranet.test" {
			host = "private.test"
		}
		if found, ok := zone[host]; ok {
			return dns.Answer{Addrs: found, TTL: time.Minute}, nil
		}
		return dns.Answer{}, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	for _, tt := range []struct {
		url  string
		want []string
		code Code
	}{
		{"http://a.test/", []string{"93.184.216.34:80"}, ""},
		{"https://a.test/", []string{"93.184.216.34:443"}, ""},
		{"http://a.test:81/", []string{"93.184.216.34:81"}, ""},
		{"http://mixed.test/", []string{"8.8.8.8:80", "[2606:4700::1]:80", "8.8.4.4:80"}, ""},
		{"http://private.test/", nil, CodeAddressDenied},
		{"http://intranet.test/", []string{"10.0.0.1:80", "[fd00::1]:80"}, ""},
		{"http://empty.test/", nil, CodeDNSNotFound},
		{"http://no.test/", nil, CodeDNSNotFound},
		{"http://8.8.8.8/", []string{"8.8.8.8:80"}, ""},
		{"http://[2606:4700::1]:81/", []string{"[2606:4700::1]:81"}, ""},
		{"http://[::ffff:8.8.8.8]/", []string{"8.8.8.8:80"}, ""},
		{"http://127.0.0.1/", nil, CodeAddressDenied},
		{"http://b.test/", []string{"10.0.0.1:8080", "[fd00::1]:8080"}, ""},
		{"http://c.test/", []string{"127.0.0.1:1"}, ""},
		{"https://d.test/", []string{"93.184.216.34:443"}, ""},
	} {
		t.Run(tt.url, func(t *testing.T) {
			got, err := c.Resolve(t.Context(), mustParse(t, tt.url))
			if tt.code != "" {
				wantError(t, err, PhaseResolve, tt.code)
				return
			}
			if err != nil || !slices.Equal(got.Addrs, addrPorts(tt.want...)) || got.TTL < time.Minute {
				t.Errorf("%v %v, want %v", got, err, tt.want)
			}
		})
	}
}

func addrs(s ...string) (list []netip.Addr) {
	for _, a := range s {
		list = append(list, netip.MustParseAddr(a))
	}
	return list
}

func TestResolveFailures(t *testing.T) {
	for _, tt := range []struct {
		name      string
		err       error
		code      Code
		transient bool
	}{
		{"not found", &net.DNSError{IsNotFound: true}, CodeDNSNotFound, false},
		{"silent", &net.DNSError{IsTimeout: true}, CodeDNSTimeout, true},
		{"failing", &net.DNSError{Err: "server misbehaving", IsTemporary: true}, CodeDNSFailed, true},
		{"past our own deadline", context.DeadlineExceeded, CodeDNSTimeout, true},
		{"given up", fmt.Errorf("lookup: %w", context.Canceled), CodeCanceled, true},
		{"odd", errors.New("odd"), CodeOther, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, Config{})
			c.lookup = func(context.Context, string) (dns.Answer, error) { return dns.Answer{}, tt.err }
			_, err := c.Fetch(t.Context(), Request{URL: mustParse(t, "http://a.test/")})
			if e := wantError(t, err, PhaseResolve, tt.code); e.Transient != tt.transient {
				t.Errorf("transient %v, want %v", e.Transient, tt.transient)
			}
		})
	}
}

// TestDialledAddressIsChecked gives Fetch an address that Resolve would not have returned.
func TestDialledAddressIsChecked(t *testing.T) {
	p := newPeer(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	c := newClient(t, Config{AllowPrivate: []string{"b.test"}})
	there := addrPorts(p.listener.Addr().String())
	_, err := c.Fetch(t.Context(), Request{URL: mustParse(t, "http://a.test/"), Addrs: there})
	wantError(t, err, PhaseDial, CodeAddressDenied)
	res, err := c.Fetch(t.Context(), Request{URL: mustParse(t, "http://b.test/"), Addrs: there})
	if err != nil {
		t.Fatal(err)
	}
	res.Release()
	if n := p.accepted.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

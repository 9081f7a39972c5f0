package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"crawl/fetch/dns"
	"crawl/internal/testnet"
)

// through starts a proxy, and returns rules that send everything by it.
func through(t *testing.T, how testnet.Proxy, scheme string) (*testnet.ProxyServer, []ProxyRule) {
	t.Helper()
	p, err := testnet.StartProxy(how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, []ProxyRule{{"*", Proxy{URL: scheme + "://" + p.Addr(), User: p.User, Password: p.Password}}}
}

// secureSite serves the name of who asked in the handshake, and which address that was. proxyTLS is for a proxy of the
// same certificate.
func secureSite(t *testing.T) (at string, proxyTLS *tls.Config) {
	t.Helper()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "secure "+r.TLS.ServerName+" "+r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String(), &tls.Config{Certificates: srv.TLS.Certificates}
}

// TestProxies: each kind of proxy, for http and https, with a user and without; who looks the host up; what the proxy is
// asked; and that no user of the proxy's comes to the host.
func TestProxies(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "plain "+r.Host+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(site.Close)
	secure, proxyTLS := secureSite(t)
	hosts := map[string]string{
		"a.test:80": site.Listener.Addr().String(), "a.test:443": secure,
		"8.8.8.8:80": site.Listener.Addr().String(), "8.8.8.8:443": secure,
	}
	for _, tt := range []struct {
		name, scheme string
		proxy        testnet.Proxy
		url          string
		asked        []string
		body         string
		byUs         bool // we look the host up
	}{
		{"HTTP", "http", testnet.Proxy{}, "http://a.test/x?y=1", []string{"GET http://a.test/x?y=1"}, "plain a.test/x?y=1 ", false},
		{"HTTP, a user", "http", testnet.Proxy{User: "u", Password: "p:w"}, "http://a.test/", []string{"GET http://a.test/"}, "plain a.test/ ", false},
		{"HTTP, a tunnel", "http", testnet.Proxy{}, "https://a.test/", []string{"CONNECT a.test:443"}, "secure a.test ", false},
		{"HTTP, a tunnel, a user", "http", testnet.Proxy{User: "u", Password: "pw"}, "https://a.test/", []string{"CONNECT a.test:443"}, "secure a.test ", false},
		{"HTTPS", "https", testnet.Proxy{TLS: proxyTLS}, "http://a.test/", []string{"GET http://a.test/"}, "plain a.test/ ", false},
		{"HTTPS, a tunnel", "https", testnet.Proxy{TLS: proxyTLS, User: "u"}, "https://a.test/", []string{"CONNECT a.test:443"}, "secure a.test ", false},
		{"SOCKS", "socks5", testnet.Proxy{SOCKS: true}, "http://a.test/", []string{"8.8.8.8:80"}, "plain a.test/ ", true},
		{"SOCKS, a user", "socks5", testnet.Proxy{SOCKS: true, User: "u", Password: "pw"}, "https://a.test/", []string{"8.8.8.8:443"}, "secure a.test ", true},
		{"SOCKS, names", "socks5h", testnet.Proxy{SOCKS: true}, "https://a.test/", []string{"a.test:443"}, "secure a.test ", false},
		{"SOCKS, names, a user", "socks5h", testnet.Proxy{SOCKS: true, User: "u"}, "http://a.test/", []string{"a.test:80"}, "plain a.test/ ", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.proxy.Hosts = hosts
			p, rules := through(t, tt.proxy, tt.scheme)
			c := newClient(t, Config{Proxies: rules, InsecureTLS: true})
			looked := 0
			c.lookup = func(context.Context, string) (dns.Answer, error) {
				looked++
				return dns.Answer{Addrs: addrs("8.8.8.8"), TTL: time.Minute}, nil
			}
			for range 2 {
				res := mustFetch(t, c, mustParse(t, tt.url))
				if string(res.Body) != tt.body {
					t.Errorf("body %q, want %q", res.Body, tt.body)
				}
				if want := tt.scheme + "://" + p.Addr(); res.Proxy != want {
					t.Errorf("proxy %q, want %q", res.Proxy, want)
				}
				if res.Addr.IsValid() != tt.byUs {
					t.Errorf("address %v", res.Addr)
				}
			}
			asked := p.Asked()
			if strings.HasPrefix(tt.asked[0], "GET") {
				asked = slices.Compact(asked) // a kept connection gets each request
			}
			if !slices.Equal(asked, tt.asked) {
				t.Errorf("asked for %q, want %q: the second page takes the connection of the first", asked, tt.asked)
			}
			if (looked > 0) != tt.byUs {
				t.Errorf("%d look-ups", looked)
			}
		})
	}
}

// TestProxyFaults: what is the proxy's fault is told from what is the host's.
func TestProxyFaults(t *testing.T) {
	long := "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxTunnelHead) + "\r\n\r\n"
	for _, tt := range []struct {
		name, scheme string
		proxy        testnet.Proxy
		password     string // that is shown; the proxy wants "right"
		url          string
		code         Code
		transient    bool
		message      string
	}{
		{"no user", "http", testnet.Proxy{User: "u"}, "", "https://a.test/", CodeProxy, false, "it asks for a user and password"},
		{"no user, whole URL", "http", testnet.Proxy{User: "u"}, "", "http://a.test/", CodeProxy, false, "it asks for a user and password"},
		{"wrong user", "http", testnet.Proxy{User: "u"}, "wrong", "https://a.test/", CodeProxy, false, "it asks for a user and password"},
		{"SOCKS, no user", "socks5h", testnet.Proxy{SOCKS: true, User: "u"}, "", "https://a.test/", CodeProxy, false, "it asks for a user and password"},
		{"SOCKS, wrong user", "socks5h", testnet.Proxy{SOCKS: true, User: "u"}, "wrong", "https://a.test/", CodeProxy, false, "it asks for a user and password"},
		{"SOCKS for HTTP", "socks5h", testnet.Proxy{}, "", "http://a.test/", CodeProxy, true, ""},
		{"no TLS", "https", testnet.Proxy{}, "", "http://a.test/", CodeProxy, true, ""},
		{"denied", "http", testnet.Proxy{Answer: "HTTP/1.1 403 No\r\n\r\n"}, "", "https://a.test/", CodeProxyDenied, false, `"403 No"`},
		{"does not get through", "http", testnet.Proxy{}, "", "https://a.test/", CodeUnreachable, true, `"502 Bad Gateway"`},
		{"SOCKS, does not get through", "socks5h", testnet.Proxy{SOCKS: true}, "", "https://a.test/", CodeUnreachable, true, ""},
		{"SOCKS, refused", "socks5h", testnet.Proxy{SOCKS: true, Code: 5}, "", "https://a.test/", CodeRefused, true, ""},
		{"SOCKS, denied", "socks5h", testnet.Proxy{SOCKS: true, Code: 2}, "", "https://a.test/", CodeProxyDenied, false, ""},
		{"SOCKS, no such command", "socks5h", testnet.Proxy{SOCKS: true, Code: 7}, "", "https://a.test/", CodeProxyDenied, false, ""},
		{"endless head", "http", testnet.Proxy{Answer: long}, "", "https://a.test/", CodeHeadTooLong, false, ""},
		{"no HTTP", "http", testnet.Proxy{Answer: "\x00rubbish\r\n\r\n"}, "", "https://a.test/", CodeOther, true, ""},
		{"bytes behind the head", "http", testnet.Proxy{Answer: "HTTP/1.1 200 OK\r\n\r\nevil"}, "", "https://a.test/", CodeOther, true, "behind the head"},
		{"cut head", "http", testnet.Proxy{Answer: "HTTP/1.1 200 OK\r\n"}, "", "https://a.test/", CodeClosed, true, ""},
		{"mute", "http", testnet.Proxy{Mute: true}, "", "https://a.test/", CodeTimeout, true, "no connection in 300ms"},
		{"SOCKS, mute", "socks5h", testnet.Proxy{Mute: true}, "", "https://a.test/", CodeProxy, true, "no connection in 300ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.proxy.User != "" {
				tt.proxy.Password = "right"
			}
			p, rules := through(t, tt.proxy, tt.scheme)
			rules[0].Proxy.User, rules[0].Proxy.Password = "", tt.password
			if tt.password != "" {
				rules[0].Proxy.User = "u"
			}
			patience := 3 * time.Second // of a busy machine
			if tt.proxy.Mute {
				patience = 300 * time.Millisecond
			}
			c := newClient(t, Config{Proxies: rules, ConnectTimeout: patience})
			_, err := c.Fetch(t.Context(), Request{URL: mustParse(t, tt.url)})
			e := wantError(t, err, PhaseDial, tt.code)
			if e.Transient != tt.transient || !strings.Contains(e.Error(), tt.message) || !strings.Contains(e.Error(), tt.scheme+"://"+p.Addr()) {
				t.Errorf("%v, transient %v; want the proxy's name, %q, transient %v", e, e.Transient, tt.message, tt.transient)
			}
			if strings.Contains(e.Error(), "wrong") || strings.Contains(e.Error(), "right") {
				t.Errorf("%v shows a password", e)
			}
		})
	}
}

// TestProxyGone: nobody listens, or the proxy's name does not exist.
func TestProxyGone(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:1", "socks5h://127.0.0.1:1", "http://gone.test:3128"} {
		c := newClient(t, Config{Proxies: []ProxyRule{{"*", Proxy{URL: url}}}})
		c.lookup = func(context.Context, string) (dns.Answer, error) { return dns.Answer{}, errors.New("no such name") }
		_, err := c.Fetch(t.Context(), Request{URL: mustParse(t, "http://a.test/")})
		if e := wantError(t, err, PhaseDial, CodeProxy); !e.Transient {
			t.Errorf("%s: not transient", url)
		}
	}
}

// TestProxyRules: the last rule that matches decides, and what goes by no proxy is checked as ever.
func TestProxyRules(t *testing.T) {
	p := newPeer(t, answering(hello))
	port := strings.TrimPrefix(p.listener.Addr().String(), "127.0.0.1:")
	px, rules := through(t, testnet.Proxy{}, "http")
	rules = append(rules, ProxyRule{Pattern: "*.direct.test"}, ProxyRule{"back.direct.test", rules[0].Proxy})
	c := newClient(t, Config{Proxies: rules, AllowPrivate: []string{"www.direct.test"}})
	c.lookup = func(context.Context, string) (dns.Answer, error) {
		return dns.Answer{Addrs: addrs("127.0.0.1"), TTL: time.Minute}, nil
	}
	wantHello(t, c, mustParse(t, "http://www.direct.test:"+port+"/"))
	_, err := c.Fetch(t.Context(), Request{URL: mustParse(t, "http://direct.test:"+port+"/")})
	wantError(t, err, PhaseResolve, CodeAddressDenied)
	if res := mustFetch(t, c, mustParse(t, "http://back.direct.test/")); res.Status != 502 {
		t.Errorf("status %d, want the proxy's own", res.Status)
	}
	if want := []string{"GET http://back.direct.test/"}; !slices.Equal(px.Asked(), want) {
		t.Errorf("asked for %q, want %q", px.Asked(), want)
	}
}

// TestSpecialAddressesByProxy: what a URL itself says is refused by whatever way; names that a proxy looks up cannot be.
func TestSpecialAddressesByProxy(t *testing.T) {
	for scheme, unseen := range map[string]bool{"http": true, "socks5h": true, "socks5": false} {
		px, rules := through(t, testnet.Proxy{SOCKS: scheme != "http"}, scheme)
		c := newClient(t, Config{Proxies: rules, AllowPrivate: []string{"127.0.0.9"}})
		c.lookup = func(context.Context, string) (dns.Answer, error) {
			return dns.Answer{Addrs: addrs("10.0.0.1"), TTL: time.Minute}, nil
		}
		for _, url := range []string{"http://127.0.0.1/", "http://[::1]/", "http://10.0.0.1/", "http://169.254.169.254/", "https://[::ffff:10.0.0.1]/",
			"http://localhost/", "http://x.localhost/", "http://2130706433/", "http://[64:ff9b::7f00:1]/"} {
			_, err := c.Resolve(t.Context(), mustParse(t, url))
			wantError(t, err, PhaseResolve, CodeAddressDenied)
			_, err = c.Fetch(t.Context(), Request{URL: mustParse(t, url)})
			if e := wantErrorType(t, err); e.Code() != CodeAddressDenied {
				t.Errorf("%s %s: %v", scheme, url, err)
			}
		}
		if asked := px.Asked(); len(asked) > 0 {
			t.Errorf("%s: asked for %q", scheme, asked)
		}
		found, err := c.Resolve(t.Context(), mustParse(t, "http://private.test/"))
		if unseen && (err != nil || len(found.Addrs) > 0 || found.TTL == 0) || !unseen && !errors.Is(err, ErrAddressDenied) {
			t.Errorf("%s: %+v %v", scheme, found, err)
		}
		if _, err := c.Resolve(t.Context(), mustParse(t, "http://127.0.0.9/")); err != nil {
			t.Errorf("%s: what is opened is refused: %v", scheme, err)
		}
	}
}

// TestConnectToByProxy: a rule names where the proxy is to connect to; a request then needs a tunnel, as curl has it.
func TestConnectToByProxy(t *testing.T) {
	p := newPeer(t, answering(hello))
	px, rules := through(t, testnet.Proxy{Hosts: map[string]string{"b.test:8080": p.listener.Addr().String()}}, "http")
	c := newClient(t, Config{Proxies: rules, ConnectTo: []ConnectTo{connectTo(t, "a.test:80:b.test:8080")}})
	wantHello(t, c, mustParse(t, "http://a.test/"))
	if want := []string{"CONNECT b.test:8080"}; !slices.Equal(px.Asked(), want) {
		t.Errorf("asked for %q, want %q", px.Asked(), want)
	}
}

// TestKeptByProxy: a connection by one proxy serves no request that goes by another, or by none.
func TestKeptByProxy(t *testing.T) {
	a, b := &proxy{name: "a"}, &proxy{name: "b"}
	pool := newIdleConns(8, 8, time.Minute)
	defer pool.close()
	p := newPeer(t, (*peerConn).untilGone)
	nc, err := dialTCP(t.Context(), netip.MustParseAddrPort(p.listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	cn := newConn(nc, connKey{"http://a.test", netip.AddrPort{}, a})
	pool.put(cn)
	for _, via := range []*proxy{b, nil} {
		if pool.take("http://a.test", via, noPlace) != nil {
			t.Errorf("taken for %s", via.url())
		}
	}
	if pool.take("http://a.test", a, noPlace) != cn {
		t.Error("not taken for its own proxy")
	}
	cn.close()
}

func TestBadProxies(t *testing.T) {
	for _, rule := range []ProxyRule{
		{"*", Proxy{URL: "proxy:3128"}}, {"*", Proxy{URL: "ftp://proxy:3128"}}, {"*", Proxy{URL: "http://"}}, {"*", Proxy{URL: "http://p:0"}},
		{"*", Proxy{URL: "http://p:99999"}}, {"*", Proxy{URL: "http://u:p@p:80"}}, {"*", Proxy{URL: "http://p/path"}}, {"*", Proxy{URL: "http://p?q"}},
		{"*", Proxy{User: "u"}}, {"a b", Proxy{URL: "http://p"}}, {"*", Proxy{URL: "http://p", User: "a:b"}}, {"*", Proxy{URL: "http://p", Password: "a\nb"}},
		{"*", Proxy{URL: "socks5://p", Password: "x"}}, {"*", Proxy{URL: "socks5://p", User: strings.Repeat("u", 256)}},
	} {
		if err := (Config{Proxies: []ProxyRule{rule}}).Validate(); err == nil {
			t.Errorf("%+v is accepted", rule)
		}
	}
	for url, name := range map[string]string{
		"http://p": "http://p:80", "https://p/": "https://p:443", "socks5://[::1]": "socks5://[::1]:1080", "socks5h://p:9050": "socks5h://p:9050",
	} {
		if p, err := parseProxy(Proxy{URL: url}); err != nil || p.name != name {
			t.Errorf("%s: %+v %v, want %s", url, p, err, name)
		}
	}
}

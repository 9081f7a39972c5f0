package fetch

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"

	"crawl/internal/testnet"
)

// tunnels are the kinds of proxy that HTTP/2 goes through, for a site at an address, and what each is asked.
func tunnels(site string, proxyTLS *tls.Config) map[string]struct {
	scheme string
	proxy  testnet.Proxy
	asked  string
} {
	hosts := map[string]string{"a.test:443": site}
	return map[string]struct {
		scheme string
		proxy  testnet.Proxy
		asked  string
	}{
		"CONNECT":         {"http", testnet.Proxy{Hosts: hosts}, "CONNECT a.test:443"},
		"CONNECT, a user": {"http", testnet.Proxy{Hosts: hosts, User: "u", Password: "pw"}, "CONNECT a.test:443"},
		"CONNECT by TLS":  {"https", testnet.Proxy{Hosts: hosts, TLS: proxyTLS}, "CONNECT a.test:443"},
		"SOCKS":           {"socks5h", testnet.Proxy{Hosts: hosts, SOCKS: true}, "a.test:443"},
	}
}

// TestHTTP2ByProxy: HTTP/2 is agreed on with the host, through the proxy; fetches at once and one after another share one
// tunnel; the host learns nothing of the proxy's user; and nothing is left.
func TestHTTP2ByProxy(t *testing.T) {
	const parallel = 5
	srv, conns := h2Server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Asked", r.Proto+" "+r.Host+r.RequestURI+" "+r.TLS.ServerName+" "+r.Header.Get("Proxy-Authorization"))
		io.WriteString(w, "hello")
	})
	for name, tt := range tunnels(srv.Listener.Addr().String(), &tls.Config{Certificates: srv.TLS.Certificates}) {
		t.Run(name, func(t *testing.T) {
			conns.Store(0)
			p, rules := through(t, tt.proxy, tt.scheme)
			c := newClient(t, Config{Proxies: rules, InsecureTLS: true})
			u := mustParse(t, "https://a.test/x?y=1")
			var fetches sync.WaitGroup
			for range parallel {
				fetches.Go(func() { wantHello(t, c, u) })
			}
			fetches.Wait()
			res := mustFetch(t, c, u)
			if want := tt.scheme + "://" + p.Addr(); res.Proto != "HTTP/2.0" || res.Proxy != want || res.Addr.IsValid() {
				t.Errorf("%s by %q at %v, want HTTP/2.0 by %q", res.Proto, res.Proxy, res.Addr, want)
			}
			if got, want := res.Header.Get("X-Asked"), "HTTP/2.0 a.test/x?y=1 a.test "; got != want {
				t.Errorf("the host was asked %q, want %q", got, want)
			}
			if asked := p.Asked(); !slices.Equal(asked, []string{tt.asked}) || conns.Load() != 1 {
				t.Errorf("the proxy was asked %q, and the host has %d connections; want one tunnel", asked, conns.Load())
			}
			if c.idle.order.n != 1 || len(c.idle.busy) != 0 {
				t.Errorf("%d connections idle, %d in use", c.idle.order.n, len(c.idle.busy))
			}
		})
	}
}

// TestHTTP2AskAgainByProxy: what a host says it has not seen may be asked for again through a new tunnel, and is not the
// proxy's fault. fetch sends nothing twice by itself there either.
func TestHTTP2AskAgainByProxy(t *testing.T) {
	for what, bad := range map[string]func(*h2Conn, uint32){
		"refuses":   func(c *h2Conn, s uint32) { c.WriteRSTStream(s, http2.ErrCodeRefusedStream); c.untilGone() },
		"goes away": func(c *h2Conn, s uint32) { c.WriteGoAway(s-1, http2.ErrCodeNo, nil); c.untilGone() },
	} {
		t.Run(what, func(t *testing.T) {
			var site *h2Peer
			site = newH2Peer(t, func(c *h2Conn) {
				if s, ok := c.request(site); ok && c.number == 1 {
					bad(c, s)
				} else if ok {
					c.hello(s)
					c.untilGone()
				}
			})
			p, rules := through(t, testnet.Proxy{Hosts: map[string]string{"a.test:443": site.listener.Addr().String()}}, "http")
			c := newClient(t, Config{Proxies: rules, InsecureTLS: true})
			u := mustParse(t, "https://a.test/")
			_, err := c.Fetch(t.Context(), Request{URL: u})
			if !errors.Is(err, ErrAskAgain) || strings.Contains(err.Error(), "proxy") {
				t.Fatalf("error %v, want ErrAskAgain, and nothing about the proxy", err)
			}
			if n := site.requests.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
			res, err := c.Fetch(t.Context(), Request{URL: u, Fresh: true})
			if err != nil || string(res.Body) != "hello" {
				t.Fatalf("asked again: %v", err)
			}
			res.Release()
			if asked := p.Asked(); !slices.Equal(asked, []string{"CONNECT a.test:443", "CONNECT a.test:443"}) {
				t.Errorf("the proxy was asked %q, want two tunnels", asked)
			}
		})
	}
}

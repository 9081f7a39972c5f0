package crawler_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"crawl/crawler"
	"crawl/fetch/dns"
	"crawl/internal/testnet"
)

// TestHostileNames crawls hosts whose name server lies, keeps silent, or tells another address the second time.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	const open, shut = "127.0.0.2", "127.0.0.1" // to links of the crawl
	hosts := map[string]testnet.Host{
		"good.test":     {Addrs: []string{open}, TTL: 60},
		"mixed.test":    {Addrs: []string{shut, "10.0.0.1", open, "169.254.169.254"}, TTL: 60},
		"alias.test":    {Alias: "good.test", TTL: 60},
		"private.test":  {Addrs: []string{"10.0.0.1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe"}, TTL: 60},
		"inward.test":   {Alias: "private.test", TTL: 60},
		"loop.test":     {Alias: "loop.test", TTL: 60},
		"forged.test":   {Addrs: []string{open}, TTL: 60, Fault: testnet.Forged},
		"wrong-id.test": {Addrs: []string{shut}, TTL: 60, Fault: testnet.WrongID},
		"question.test": {Addrs: []string{shut}, TTL: 60, Fault: testnet.OtherName},
		"rubbish.test":  {Fault: testnet.Rubbish},
		"silent.test":   {Fault: testnet.Silent},
		"servfail.test": {Code: dnsmessage.RCodeServerFailure},
		"refused.test":  {Code: dnsmessage.RCodeRefused},
		"empty.test":    {Negative: 60},
		"rebind.test":   {Addrs: []string{open}, TTL: 1},
	}
	names, err := testnet.StartDNS(hosts)
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()

	// The page turns its host's address to one that is not open, and takes longer than the old one holds.
	site := listenAt(t, open+":0", func(w http.ResponseWriter, r *http.Request) {
		if host, _, _ := net.SplitHostPort(r.Host); host == "rebind.test" && r.URL.Path == "/" {
			names.Set("rebind.test", testnet.Host{Addrs: []string{shut}, TTL: 1})
			held := time.NewTimer(1200 * time.Millisecond)
			defer held.Stop()
			select {
			case <-held.C:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<a href=/second>")
	})
	_, port, _ := net.SplitHostPort(site.Listener.Addr().String())
	var reached atomic.Int64 // of what is not open
	listenAt(t, shut+":"+port, func(http.ResponseWriter, *http.Request) { reached.Add(1) })

	cfg := crawler.DefaultConfig()
	cfg.Frontier.HostDelay, cfg.Frontier.BackoffBase = -1, time.Millisecond
	cfg.RetryDelay, cfg.Retries = time.Millisecond, 1
	cfg.Concurrency = 32
	cfg.Fetch.Resolvers = []netip.AddrPort{names.Addr()}
	cfg.Fetch.DNSTimeout, cfg.Fetch.DNSMinTTL = 2*time.Second, dns.None
	cfg.Fetch.AllowPrivate = []string{open}
	var urls []string
	for host := range hosts {
		urls = append(urls, "http://"+host+":"+port+"/")
	}
	c, dir := create(t, cfg, append(urls, "http://nowhere.test:"+port+"/")...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}

	pages := judged(pagesByURL(t, dir))
	for host, want := range map[string]string{
		"good.test": "ok", "mixed.test": "ok", "alias.test": "ok", "forged.test": "ok", "rebind.test": "ok",
		"private.test": "address_denied resolve", "inward.test": "address_denied resolve",
		"loop.test": "dns_failed resolve", "wrong-id.test": "dns_timeout resolve", "question.test": "dns_timeout resolve",
		"rubbish.test": "dns_timeout resolve", "silent.test": "dns_timeout resolve", "servfail.test": "dns_failed resolve",
		"refused.test": "dns_failed resolve", "empty.test": "dns_not_found resolve", "nowhere.test": "dns_not_found resolve",
	} {
		r := pages["http://"+host+":"+port+"/"]
		got := r.Outcome
		if r.Code != "" {
			got = r.Code + " " + r.Phase
		}
		if got != want {
			t.Errorf("%s: %s, want %s", host, r, want)
		}
	}
	if r := pages["http://rebind.test:"+port+"/second"]; r.Outcome != "address_denied" {
		t.Errorf("the second page of a host whose address is denied by then: %s", r)
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("an address that is not open was asked %d times", n)
	}
}

func listenAt(t *testing.T, addr string, serve http.HandlerFunc) *httptest.Server {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skipf("no such address here: %v", err) // macOS has 127.0.0.1 alone
	}
	s := &httptest.Server{Listener: ln, Config: &http.Server{Handler: serve}}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

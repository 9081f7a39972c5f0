package crawler_test

import (
	"context"
	"crypto/x509"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"crawl/crawler"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/testweb"
	"crawl/internal/testweb/hostile"
	"crawl/store"
)

const (
	hostileBound  = 2 * time.Minute // of the whole crawl, on a machine with much else to do
	hostileMemory = 512 << 20       // that the process may hold more than before, the servers included
	bodyMemory    = 256 << 20       // of that for bodies in flight
)

// TestHostileWeb crawls every kind of broken server that there is a name for, beside good ones, all at once.
func TestHostileWeb(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for servers that keep silent")
	}
	limits := hostile.Short()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	bad, err := hostile.Start(limits)
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	trust(t, bad.Root())
	good, site := goodSites(t)
	defer good.Close()

	cfg := hostileConfig(t, limits, bad, good, site)
	urls := slices.Clone(site.Seeds())
	for _, b := range bad.Behaviours() {
		urls = append(urls, b.SeedURLs()...)
	}
	dir := t.TempDir()
	c, err := crawler.Create(dir, cfg, seeds(urls...))
	if err != nil {
		t.Fatal(err)
	}
	held := watchMemory(c)
	started := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), hostileBound)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		t.Error(err)
	}
	if ctx.Err() != nil {
		t.Errorf("the crawl has no end: %+v", c.Snapshot())
	}
	checkSums(t, c.Snapshot())
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	most := held()
	t.Logf("%d behaviours in %v, %d MiB more than before", len(bad.Behaviours()), time.Since(started).Round(time.Millisecond), most>>20)
	if most > hostileMemory {
		t.Errorf("the process held %d MiB more than before, want at most %d", most>>20, hostileMemory>>20)
	}

	quiet, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	if err := bad.Quiet(quiet); err != nil {
		t.Error(err)
	}
	checkGood(t, site, good, records(t, dir))
	pages := judged(pagesByURL(t, dir))
	for _, b := range bad.Behaviours() {
		t.Run(b.Name, func(t *testing.T) {
			for _, wrong := range b.Check(limits, bad.Asked(b.Name), pages) {
				t.Errorf("it %s: %s", b.Does, wrong)
			}
		})
	}
}

func hostileConfig(t *testing.T, limits hostile.Limits, bad *hostile.Server, good *testweb.Server, site *testweb.Site) crawler.Config {
	t.Helper()
	cfg := crawler.DefaultConfig()
	cfg.Concurrency, cfg.Sitemaps, cfg.Fetch.Cookies = 64, true, true
	cfg.Retries, cfg.RetryDelay = limits.Retries, time.Millisecond
	cfg.Frontier.HostDelay, cfg.Frontier.BackoffBase, cfg.Frontier.BackoffMax = frontier.None, time.Millisecond, 10*time.Millisecond
	cfg.Frontier.MaxRetryAfter, cfg.Frontier.MaxCrawlDelay = limits.RetryAfter, limits.CrawlDelay
	cfg.Frontier.MaxHostPages = limits.PagesPerHost
	cfg.Fetch.Timeout = limits.Timeout
	cfg.Fetch.ConnectTimeout, cfg.Fetch.TLSTimeout = limits.ConnectTimeout, limits.ConnectTimeout
	cfg.Fetch.MaxHeadBytes, cfg.Fetch.MaxBodyBytes = limits.HeadBytes, limits.BodyBytes
	cfg.Fetch.BodyMemoryBytes, cfg.Fetch.MaxIdleConns = bodyMemory, 2000 // each host may trick us on a kept connection
	for _, text := range bad.ConnectTo() {
		cfg.Fetch.ConnectTo = append(cfg.Fetch.ConnectTo, connectTo(t, text))
	}
	for _, host := range site.Hosts() { // none for any host: a rule opens the address that it names
		cfg.Fetch.ConnectTo = append(cfg.Fetch.ConnectTo, connectTo(t, host+"::"+good.Addr()))
	}
	return cfg
}

func connectTo(t *testing.T, text string) fetch.ConnectTo {
	t.Helper()
	rule, err := fetch.ParseConnectTo(text)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// goodSites are twenty hosts of several pages each.
func goodSites(t *testing.T) (*testweb.Server, *testweb.Site) {
	t.Helper()
	site, err := testweb.New(testweb.Config{Seed: 5, Hosts: 20, PagesPerHost: 12, LinksPerPage: 20, MedianBytes: 5000})
	if err != nil {
		t.Fatal(err)
	}
	server, err := site.Start()
	if err != nil {
		t.Fatal(err)
	}
	return server, site
}

// trusted is what this process trusts since trust was called first: there is no going back.
var (
	trusted   = x509.NewCertPool()
	trustOnce sync.Once
)

// trust has the process trust root, and no other authority.
func trust(t *testing.T, root *x509.Certificate) {
	t.Setenv("GODEBUG", "x509usefallbackroots=1")
	trusted.AddCert(root)
	trustOnce.Do(func() { x509.SetFallbackRoots(trusted) })
}

// watchMemory looks at what the process holds until it is asked for the most, beyond what it held at first.
func watchMemory(c *crawler.Crawler) (most func() uint64) {
	first := c.Snapshot().RSSBytes
	highest := first
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		for {
			select {
			case <-look.C:
				highest = max(highest, c.Snapshot().RSSBytes)
			case <-done:
				return
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-ended
		return highest - first
	}
}

// checkGood: every good page was fetched, and none twice, by the crawl's word and by the server's.
func checkGood(t *testing.T, site *testweb.Site, server *testweb.Server, all []*store.Page) {
	t.Helper()
	hosts := site.Hosts()
	good := slices.DeleteFunc(slices.Clone(all), func(p *store.Page) bool {
		host, _, _ := strings.Cut(strings.TrimPrefix(p.URL, "http://"), "/")
		return !slices.Contains(hosts, host)
	})
	if report := site.Check(requested(good), testweb.Nofollow, testweb.Sitemap); !report.OK() {
		t.Errorf("the good hosts, by the crawl's records: %s", report)
	}
	if report := site.Check(server.Journal().Fetched(), testweb.Nofollow, testweb.Sitemap); !report.OK() {
		t.Errorf("the good hosts, by what they were asked: %s", report)
	}
}

// judged are the facts of records that behaviours are judged by.
func judged(pages map[string]*store.Page) map[string]hostile.Record {
	all := make(map[string]hostile.Record, len(pages))
	for url, p := range pages {
		r := hostile.Record{Outcome: p.Outcome.String(), Status: p.Status, Truncated: p.Truncated, Title: p.Title}
		if p.Error != nil {
			r.Code, r.Phase, r.Message = p.Error.Code, p.Error.Phase, p.Error.Message
		}
		all[url] = r
	}
	return all
}

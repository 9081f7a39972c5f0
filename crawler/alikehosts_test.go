package crawler_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"crawl/crawler"
)

// farm is a domain whose name server answers for every name: each host has links to three new ones, and to a page of its own.
// www.b.example is its seed, and blog.b.example, which it links to, has something to say.
func farm(url string) string {
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	switch {
	case path == "robots.txt":
		return ""
	case host == "www.b.example" && path == "":
		return "Welcome. <a href=http://x1.b.example/>x</a> <a href=http://blog.b.example/>blog</a>"
	case host == "blog.b.example" || host == "www.b.example":
		var b strings.Builder
		fmt.Fprintf(&b, "Something new: %x", sha256.Sum256([]byte(url)))
		for i := range 5 {
			fmt.Fprintf(&b, "<a href=/%d>post</a>", i)
		}
		return b.String()
	}
	name, _, _ := strings.Cut(host, ".b.example")
	if strings.Count(name, ".") > 3 {
		name = fmt.Sprintf("x%x", sha256.Sum256([]byte(name)))[:9]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Buy at %s! <a href=/about>about</a>", host)
	for _, label := range []string{"cheap", "best", "top"} {
		fmt.Fprintf(&b, "<a href=http://%s.%s.b.example/>more</a>", label, name)
	}
	return b.String()
}

// One site under endless names comes to an end: no further name of its domain is asked, not for its robots.txt either. What
// the domain has besides is fetched, and what is shut stays so.
func TestTrapOfEndlessNames(t *testing.T) {
	t.Parallel()
	w := serve(t, nil)
	w.other = farm
	cfg := w.quick()
	cfg.Scope.Mode = "domain"
	cfg.Concurrency, cfg.MaxAlikeHosts, cfg.MaxPages = 1, new(64), new(uint64(10_000)) // of a crawl that does not end
	c, dir := create(t, cfg, "http://www.b.example/")
	run(t, c)
	s := onDisk(t, dir)
	if s.State != crawler.Complete || s.ByTrap["alike_hosts"] == 0 || s.ByOutcome["trap"] == 0 || len(s.Alike) != 1 {
		t.Fatalf("%s, %s after %d pages: traps %v, outcomes %v, %v", s.State, s.LimitReached, s.Pages, s.ByTrap, s.ByOutcome, s.Alike)
	}
	if p := s.Alike[0]; p.Rule != "alike_hosts" || p.Pattern != "*.b.example" || p.Spared != nil {
		t.Errorf("shut: %+v", p)
	}
	asked := len(w.times("http://"))
	if asked > 400 {
		t.Errorf("%d requests", asked)
	}
	if n := askedInVain(w); n > 60 {
		t.Errorf("%d hosts were asked for their robots.txt and nothing else", n)
	}
	want := make(map[string]string)
	for i := range 5 {
		want[fmt.Sprintf("http://blog.b.example/%d", i)] = "ok"
	}
	wantOutcomes(t, pagesByURL(t, dir), want)

	c, err := crawler.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	const added = "http://added.b.example/"
	if _, err := c.Add(t.Context(), slices.Values([]crawler.Seed{{URL: added}}), false); err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if n := len(w.times("http://")) - asked; w.asked(added) != 1 || n > 4 { // robots.txt, the page and /about
		t.Errorf("%d requests after one URL was added, %d of them for it", n, w.asked(added))
	}
}

// askedInVain counts the hosts that were asked for their robots.txt alone.
func askedInVain(w *web) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pages := make(map[string]int) // by host
	for url := range w.requests {
		host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
		pages[host] += 0
		if path != "robots.txt" {
			pages[host]++
		}
	}
	for _, of := range pages {
		if of == 0 {
			n++
		}
	}
	return n
}

// Hosts of one domain that each say something of their own are many sites, however many there are, and so are hosts of which
// some are empty.
func TestNoTrapInManyHosts(t *testing.T) {
	t.Parallel()
	const sites = 600
	w := serve(t, map[string]answer{})
	w.other = func(url string) string {
		host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
		var n int
		switch {
		case path == "robots.txt":
			return ""
		case host == "b.example":
			var b strings.Builder
			for i := range sites {
				fmt.Fprintf(&b, "<a href=http://u%d.b.example/>u</a>", i)
			}
			return b.String()
		case matches(host, "u%d.b.example", &n) && n%4 > 0:
			return "There is nothing here yet."
		}
		return fmt.Sprintf("The site of somebody: %x", sha256.Sum256([]byte(host)))
	}
	cfg := w.quick()
	cfg.Scope.Mode = "domain"
	cfg.MaxAlikeHosts = new(64)
	_, s := crawl(t, cfg, "http://b.example/")
	if s.State != crawler.Complete || len(s.ByTrap) > 0 || s.Pages != sites+1 {
		t.Errorf("%s, %d pages, traps %v, %v", s.State, s.Pages, s.ByTrap, s.Alike)
	}
}

// A rule that admits other hosts lets endless names in as a wide mode does.
func TestTrapOfEndlessNamesByRules(t *testing.T) {
	t.Parallel()
	w := serve(t, nil)
	w.other = farm
	cfg := w.quick()
	cfg.Scope.Rules = []crawler.ScopeRule{{Admit: true, Hosts: []string{"*.b.example"}}}
	cfg.Concurrency, cfg.MaxAlikeHosts, cfg.MaxPages = 1, new(64), new(uint64(2_000)) // of a crawl that does not end
	if _, s := crawl(t, cfg, "http://www.b.example/"); s.State != crawler.Complete || s.ByTrap["alike_hosts"] == 0 {
		t.Errorf("%s after %d pages: traps %v", s.State, s.Pages, s.ByTrap)
	}
}

// Where a seed redirects is exempt like a seed, also in a process that goes on; and why knows the rule, from the process and from
// the directory.
func TestSeedsRedirectIsExemptFromAlikeHosts(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://go.b.example/": {status: 302, header: map[string]string{"Location": "http://www.b.example/"}}})
	w.other = farm
	cfg := w.quick()
	cfg.Scope.Mode = "domain"
	cfg.Concurrency, cfg.MaxAlikeHosts, cfg.MaxPages = 1, new(3), new(uint64(2_000)) // of a crawl that does not end
	c, dir := create(t, cfg, "http://go.b.example/")
	run(t, c)
	c, err := crawler.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for url, want := range map[string]string{"http://www.b.example/not-met": "no trap", "http://never.met.b.example/": "alike_hosts: "} {
		live, err := c.Why(t.Context(), parseURL(t, url))
		if err != nil {
			t.Fatal(err)
		}
		if r := rulingBy(live, crawler.ByTrap); !strings.HasPrefix(r.Rule, want) {
			t.Errorf("%s: %+v, want %q", url, r, want)
		}
	}
	if r := rulingBy(storedStory(t, dir, "http://never.met.b.example/"), crawler.ByTrap); r.Verdict != crawler.Refuses {
		t.Errorf("from the directory: %+v", r)
	}
}

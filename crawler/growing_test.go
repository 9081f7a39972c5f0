package crawler_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"crawl/crawler"
)

// endless answers everything with one page, and has ten real pages that its first page links to.
func endless(t *testing.T, page func(url string) string) (w *web, real map[string]string) {
	t.Helper()
	w = serve(t, map[string]answer{"http://a.test/robots.txt": {status: 404}})
	real = make(map[string]string)
	var links strings.Builder
	for i := range 10 {
		url := fmt.Sprintf("http://a.test/real/%d", i+1)
		real[url] = "ok"
		fmt.Fprintf(&links, "<a href=%s></a>", url)
	}
	w.other = func(url string) string {
		if url == "http://a.test/" {
			return page(url) + links.String()
		}
		return page(url)
	}
	return w, real
}

// trap-01 and its like: a server that answers everything with a page of relative links comes to an end within 500
// requests, and keeps no real page from being fetched.
func TestTrapOfRelativeLinks(t *testing.T) {
	t.Parallel()
	anchors := func(refs ...string) string {
		var b strings.Builder
		for _, ref := range refs {
			fmt.Fprintf(&b, `<a href="%s">a</a> `, ref)
		}
		return b.String()
	}
	query := func(url string) string {
		_, query, _ := strings.Cut(url, "?")
		return "?" + query + "&"
	}
	for name, page := range map[string]func(url string) string{
		"trap-01":     func(string) string { return `<a href="AJAX/index.php">a</a> <a href="infra/www/">b</a>` },
		"one word":    func(string) string { return anchors("more/") },
		"two words":   func(string) string { return anchors("red/", "blue/") },
		"three words": func(string) string { return anchors("red/", "green/", "blue/") },
		"four words":  func(string) string { return anchors("red/x.html", "green/y.html", "blue/", "pink/z") },
		"five words":  func(string) string { return anchors("red/", "green/", "blue/", "pink/", "grey/") },
		"six words":   func(string) string { return anchors("a/", "b/", "c/", "d/", "e/", "f/") },
		"the path is said": func(url string) string {
			return "Nothing is at " + url + anchors("red/", "green/", "blue/")
		},
		"up and down": func(string) string { return anchors("../red/green/", "blue/", "../../pink/x/y/") },
		"pairs of a query": func(url string) string {
			q := query(url)
			return anchors(q+"a=1", q+"b=2", q+"c=3", q+"d=4")
		},
		"with links to what is there": func(string) string {
			return anchors("/", "/real/1", "/real/2", "red/", "green/", "blue/")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, real := endless(t, page)
			cfg := w.quick()
			cfg.MaxPages = new(uint64(5_000)) // of a crawl that does not end
			c, dir := create(t, cfg, "http://a.test/")
			run(t, c)
			s := onDisk(t, dir)
			wantOutcomes(t, pagesByURL(t, dir), real)
			if n := len(w.times("http://a.test/")); n >= 500 {
				t.Errorf("%d requests, want fewer than 500", n)
			}
			if s.State != crawler.Complete || s.ByReason["trap"] == 0 || s.ByReason["trap"] != total(s.ByTrap) {
				t.Errorf("%s, traps %v, reasons %v", s.State, s.ByTrap, s.ByReason)
			}
		})
	}
}

func total(counts map[string]uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// What is shut stays so when the crawl goes on, and what is added by hand is fetched.
func TestGrowingIsKept(t *testing.T) {
	t.Parallel()
	w, _ := endless(t, func(string) string { return "<a href=red/>a</a><a href=blue/>b</a><a href=pink/>c</a>" })
	c, dir := create(t, w.quick(), "http://a.test/")
	run(t, c)
	s := onDisk(t, dir)
	if len(s.Alike) != 1 || s.Alike[0].Rule != "growing" || s.ByTrap["growing"] == 0 || s.ByOutcome["trap"] == 0 {
		t.Fatalf("%v, traps %v, outcomes %v", s.Alike, s.ByTrap, s.ByOutcome)
	}
	c, err := crawler.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	const added = "http://a.test/pink/x/y/red/z/"
	if _, err := c.Add(t.Context(), slices.Values([]crawler.Seed{{URL: added}}), false); err != nil {
		t.Fatal(err)
	}
	before := len(w.times("http://a.test/"))
	run(t, c)
	if n := len(w.times("http://a.test/")) - before; w.asked(added) != 1 || n > 5 {
		t.Errorf("%d requests after one URL was added, %d of them for it", n, w.asked(added))
	}
}

// Ordinary sites whose URLs have words that come again, and pages that say the same, are left alone: directories within
// each other that list the same names, a forum below a doubled name that wants a password for most of it, a source tree.
func TestNoGrowingInOrdinarySites(t *testing.T) {
	t.Parallel()
	hex := strings.Split("0 1 2 3 4 5 6 7 8 9 a b c d e f", " ")
	for name, page := range map[string]func(path string) string{
		"files in directories by their digest": func(path string) string {
			if strings.Count(path, "/") > 3 {
				return fmt.Sprintf("Index of %s: %x", path, sha256.Sum256([]byte(path)))
			}
			return "Index of " + path + listing(hex, "/")
		},
		"a forum that wants a password": func(path string) string {
			switch path {
			case "/":
				return "<a href=/forum/forum/>forum</a>"
			case "/forum/forum/":
				var b strings.Builder
				for i := range 300 {
					fmt.Fprintf(&b, "<a href=members/forum/%d/>%d</a><a href=topics/forum/%d/>topic</a>", i, i, i)
				}
				return b.String()
			}
			if strings.Contains(path, "members") {
				return "Please log in. <a href=/forum/forum/login/>log in</a> <a href=/forum/forum/>home</a>"
			}
			return fmt.Sprintf("What was said: %x", sha256.Sum256([]byte(path)))
		},
		"sources": func(path string) string {
			if strings.Count(path, "/") > 6 {
				return "package " + path
			}
			return "Tree of " + path + fmt.Sprintf("%x", sha256.Sum256([]byte(path))) + listing([]string{"src", "internal", "cmd"}, "/")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, map[string]answer{"http://a.test/robots.txt": {status: 404}})
			w.other = func(url string) string { return page(strings.TrimPrefix(url, "http://a.test")) }
			_, s := crawl(t, w.quick(), "http://a.test/")
			delete(s.ByTrap, "repeats") // src/src/src/src/
			if s.State != crawler.Complete || len(s.ByTrap) > 0 || len(s.Alike) > 0 {
				t.Errorf("%s, %d pages, traps %v, %v", s.State, s.Pages, s.ByTrap, s.Alike)
			}
		})
	}
}

func listing(names []string, end string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "<li><a href=%s%s>%s</a>", name, end, name)
	}
	return b.String()
}

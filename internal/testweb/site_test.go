package testweb

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func newSite(tb testing.TB, cfg Config) *Site {
	tb.Helper()
	s, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

var webs = []Config{
	{MedianBytes: 8_000},
	{Seed: 7, Hosts: 2, PagesPerHost: 350, MedianBytes: 4_000},
	{Seed: 8, Hosts: 60, PagesPerHost: 7, MedianBytes: 2_000},
	{Seed: 9, Hosts: 1, PagesPerHost: 333, LinksPerPage: 3, MedianBytes: 3_000},
	{Seed: 10, Hosts: 120, PagesPerHost: 1, MedianBytes: 2_000, HTTPS: true},
}

func forEachWeb(t *testing.T, test func(t *testing.T, s *Site)) {
	for _, cfg := range webs {
		t.Run(fmt.Sprintf("%dx%d", cfg.withDefaults().Hosts, cfg.withDefaults().PagesPerHost), func(t *testing.T) {
			test(t, newSite(t, cfg))
		})
	}
}

func TestSameConfigIsSameWeb(t *testing.T) {
	a, b, c := newSite(t, Config{Seed: 1}), newSite(t, Config{Seed: 1}), newSite(t, Config{Seed: 2})
	differ := 0
	for e := range a.all() {
		x, y, z := a.Get(e.URL), b.Get(e.URL), c.Get(e.URL)
		if x.Status != y.Status || x.Location != y.Location || x.ContentType != y.ContentType || !bytes.Equal(x.Body, y.Body) {
			t.Fatalf("%s: two answers of one web", e.URL)
		}
		if !bytes.Equal(x.Body, z.Body) {
			differ++
		}
	}
	if differ < 300 {
		t.Errorf("another seed changed %d bodies only", differ)
	}
}

func TestGetAgreesWithURLs(t *testing.T) {
	forEachWeb(t, func(t *testing.T, s *Site) {
		seen := map[string]bool{}
		for e := range s.all() {
			a, key := s.find(e.URL)
			if class := s.class(a); class != e.Class {
				t.Errorf("%s: found as %v, listed as %v", e.URL, class, e.Class)
			}
			if seen[key] {
				t.Errorf("%s: listed twice", e.URL)
			}
			seen[key] = true
			r := s.Get(e.URL)
			if r.Status != e.Status {
				t.Errorf("%s: status %d, want %d", e.URL, r.Status, e.Status)
			}
			if to, _ := resolve(e.URL, r.Location); e.Location != "" && keyOf(s, to) != keyOf(s, e.Location) {
				t.Errorf("%s: redirects to %s, want %s", e.URL, to, e.Location)
			}
			if e.CopyOf != "" && !bytes.Equal(r.Body, s.Get(e.CopyOf).Body) {
				t.Errorf("%s: differs from %s", e.URL, e.CopyOf)
			}
		}
	})
}

func keyOf(s *Site, url string) string {
	_, key := s.find(url)
	return key
}

// A crawler that trusts html.Parse and net/url fetches exactly what Expected says, also from the first seed alone.
func TestExpectedIsWhatParsingReaches(t *testing.T) {
	forEachWeb(t, func(t *testing.T, s *Site) {
		seeds := s.Seeds()
		if s.cfg.Seed%2 == 0 {
			seeds = seeds[:1]
		}
		report := s.Check(slices.Values(crawl(t, s, seeds, func(a address) bool { return s.class(a) == Plain })))
		if !report.OK() {
			t.Errorf("%d seeds: %v", len(seeds), report)
		}
	})
}

// Whoever stays on some hosts, reaches from their roots what Expected says of them.
func TestEachHostIsReachableFromItsRoot(t *testing.T) {
	s := newSite(t, Config{Seed: 3, Hosts: 4, PagesPerHost: 200, MedianBytes: 4_000})
	for h, seed := range s.Seeds() {
		var fetched, want []string
		for _, url := range crawl(t, s, []string{seed}, func(a address) bool { return a.host == h && s.class(a) == Plain }) {
			fetched = append(fetched, keyOf(s, url))
		}
		for e := range s.Expected() {
			if e.Host == s.Hosts()[h] {
				want = append(want, keyOf(s, e.URL))
			}
		}
		slices.Sort(fetched)
		slices.Sort(want)
		if !slices.Equal(fetched, want) {
			t.Errorf("host %d alone: %d URLs, want %d", h, len(fetched), len(want))
		}
	}
}

func TestPlanIsWhatPagesHold(t *testing.T) {
	s := newSite(t, Config{Seed: 4, Hosts: 5, PagesPerHost: 400})
	pages := 0
	for n := 0; pages < 250; n++ {
		p := place{n % s.cfg.Hosts, n / s.cfg.Hosts}
		if !s.kindOf(p).rich() {
			continue
		}
		pages++
		var pl plan
		pl.make(s, s.source(p))
		want := map[string]bool{}
		for _, l := range slices.Concat(pl.nav, pl.nav, pl.main) {
			want[keyOf(s, s.url(l.to))] = true
		}
		if s.traitsOf(s.source(p)).has(withOutside) {
			want[string(s.appendOutside(nil, s.source(p)))] = true
		}
		at := s.url(p)
		page := parse(t, s.Get(at))
		base, _ := resolve(at, page.base)
		got := map[string]bool{}
		for _, l := range page.links {
			if to, ok := resolve(base, l.ref); ok && (strings.Trim(l.ref, "\n ") != "" && l.ref != "#top" || page.base != "") {
				got[keyOf(s, to)] = true
			}
		}
		for key := range want {
			if !got[key] {
				t.Errorf("%s: planned and not found: %s", at, key)
			}
		}
		for key := range got {
			if !want[key] {
				t.Errorf("%s: found and not planned: %s", at, key)
			}
		}
	}
}

func TestSizesAndLinks(t *testing.T) {
	s := newSite(t, Config{Seed: 5, Hosts: 10, PagesPerHost: 300})
	var sizes []int
	bytes, links := 0, 0
	for e := range s.Expected() {
		a, _ := s.find(e.URL)
		if s.kindOf(a.place) != page {
			continue
		}
		r := s.Get(e.URL)
		sizes = append(sizes, len(r.Body))
		bytes += len(r.Body)
		if len(sizes) <= 600 {
			links += len(parse(t, r).links)
		}
	}
	slices.Sort(sizes)
	median, mean := float64(sizes[len(sizes)/2]), float64(bytes)/float64(len(sizes))
	perPage := float64(links) / 600
	t.Logf("%d pages of %d to %d bytes: median %.0f, mean %.0f; %.1f links",
		len(sizes), sizes[0], sizes[len(sizes)-1], median, mean, perPage)
	for _, m := range []struct {
		name      string
		got, want float64
	}{{"median", median, 25_000}, {"mean", mean, 34_000}, {"links", perPage, 65}} {
		if math.Abs(m.got/m.want-1) > 0.1 {
			t.Errorf("%s: got %.1f, want %.1f within a tenth", m.name, m.got, m.want)
		}
	}
}

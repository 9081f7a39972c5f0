package testweb

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Report is the difference between what a crawl fetched and what it should have. Each URL is listed once.
type Report struct {
	Fetched    int      // how many URLs the crawl listed, repeats and services included
	Missed     []string // expected and not fetched
	Twice      []string // expected and fetched more than once, in whatever spelling
	Unexpected []string // not expected, as the crawl spelled it, with its class: "http://... (decoy)"
}

// OK reports whether the crawl did right.
func (r Report) OK() bool { return len(r.Missed)+len(r.Twice)+len(r.Unexpected) == 0 }

// String tells the counts, and the first few URLs of each kind of mistake.
func (r Report) String() string {
	const most = 10
	var b strings.Builder
	fmt.Fprintf(&b, "%d fetched, %d missed, %d twice, %d unexpected",
		r.Fetched, len(r.Missed), len(r.Twice), len(r.Unexpected))
	for _, list := range []struct {
		name string
		urls []string
	}{{"missed", r.Missed}, {"twice", r.Twice}, {"unexpected", r.Unexpected}} {
		for _, url := range list.urls[:min(len(list.urls), most)] {
			fmt.Fprintf(&b, "\n%s %s", list.name, url)
		}
	}
	return b.String()
}

// Check compares the URLs that a crawl fetched, in any spelling and each as often as it was fetched, with what it should
// have fetched: the class Plain and the classes in also. Services are ignored, other URLs are unexpected.
func (s *Site) Check(fetched iter.Seq[string], also ...Class) Report {
	expected := append([]Class{Plain}, also...)
	slots := make(map[int][]uint32, s.cfg.Hosts) // by host, then by slot
	others := map[string]uint32{}                // those expected and no slots, by canonical URL
	var r Report
	unexpected := map[string]bool{}
	for url := range fetched {
		r.Fetched++
		a, own := s.find(url)
		class := s.class(a)
		switch {
		case class == Service:
		case !slices.Contains(expected, class):
			if line := fmt.Sprintf("%s (%s)", url, class); !unexpected[line] {
				unexpected[line] = true
				r.Unexpected = append(r.Unexpected, line)
			}
		case a.area == inSlot:
			if slots[a.host] == nil {
				slots[a.host] = make([]uint32, s.cfg.PagesPerHost)
			}
			slots[a.host][a.n]++
		default:
			others[own]++
		}
	}
	s.judge(&r, expected, slots, others)
	return r
}

// judge fills in what was missed and what came twice.
func (s *Site) judge(r *Report, expected []Class, slots map[int][]uint32, others map[string]uint32) {
	count := func(url string) uint32 {
		a, own := s.find(url)
		if a.area != inSlot {
			return others[own]
		}
		if counts := slots[a.host]; counts != nil {
			return counts[a.n]
		}
		return 0
	}
	for e := range s.URLs(expected...) {
		switch n := count(e.URL); {
		case e.Class == Service:
		case n == 0:
			r.Missed = append(r.Missed, e.URL)
		case n > 1:
			r.Twice = append(r.Twice, e.URL)
		}
	}
}

// find returns the address of a URL in any spelling, and the spelling that stands for all. Another scheme or another
// port than the site's own is another URL, and unknown.
func (s *Site) find(url string) (address, string) {
	unknown := address{area: inNothing, place: place{host: -1}}
	scheme, _, ok := strings.Cut(url, "://")
	if !ok || !strings.EqualFold(scheme, s.scheme()) {
		return unknown, url
	}
	authority, target := cutURL([]byte(url))
	port := ":80"
	if s.cfg.HTTPS {
		port = ":443"
	}
	name := strings.TrimSuffix(string(authority), port)
	if strings.Contains(name, ":") {
		return unknown, url
	}
	return s.locate(name, target), s.scheme() + "://" + hostOnly(name) + string(appendNormal(nil, target))
}

package testweb

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// The default web has every kind of slot and every way to write a link.
func TestDefaultWebHasEverything(t *testing.T) {
	s := newSite(t, Config{})
	kinds, heads := map[kind]int{}, map[string]int{}
	var all []byte
	for h := range s.cfg.Hosts {
		for n := range s.cfg.PagesPerHost {
			p := place{h, n}
			kinds[s.kindOf(p)]++
			heads[s.shapeOf(p).head]++
			all = append(all, s.Get(s.url(p)).Body...)
		}
	}
	for k := range toOutside + 1 {
		if kinds[k] == 0 {
			t.Errorf("no slot of kind %d", k)
		}
	}
	for _, sh := range slices.Concat(common, odd) {
		if heads[sh.head] == 0 {
			t.Errorf("no page like %.20s", sh.head)
		}
	}
	for _, text := range []string{
		` href="http://www0`, ` href="//www0`, ` href="/`, ` href="../`, ` href="./`, ` href="?`, ` href='`, ` href=/`, `/href=`,
		`HREF=`, "hReF =\n",
		`HTTP://`, `://WWW0`, `.test:80/`, `/x/..`, `/x/%2e%2E/`, `/./`, `#top"`, `#/x/../y`, `#"`, `&amp;id`, `&id`, `&#38;`,
		`&#x2f;`, `&sol;`, `%7E`, `%7e`, `%c3%a9`, "/caf\u00E9/", "/caf\xE9/", `/two words/`, `%2f`, "\n\t",
		"=\"\n   ", " \t\n\"",
		`class="b>c"`, `NoFollow`, `<area`, `<iframe src`, `<noscript>`, `<frame name`, `Refresh`,
		`<base href="`, `<base href='//`, `srcset`,
		`mailto:`, `javascript:`, `data:`, `TEL:`, `ftp:`, `[bad`, `//outside.test`, `/private/`, `/missing/`,
		`/assets/site.css`, `<textarea`,
	} {
		if !bytes.Contains(all, []byte(text)) {
			t.Errorf("nowhere: %q", text)
		}
	}
}

func TestEverySlotIsIntroducedOnce(t *testing.T) {
	forEachWeb(t, func(t *testing.T, s *Site) {
		for h := range s.cfg.Hosts {
			by := make([]int, s.cfg.PagesPerHost)
			for n := range s.cfg.PagesPerHost {
				first, end := s.children(place{h, n})
				for c := first; c < end; c++ {
					by[c]++
					if c <= n {
						t.Errorf("slot %d introduces slot %d", n, c)
					}
				}
				if end-first > 4*pageFanout {
					t.Errorf("slot %d introduces %d slots", n, end-first)
				}
			}
			for n, times := range by[1:] {
				if times != 1 {
					t.Errorf("slot %d of host %d is introduced %d times", n+1, h, times)
				}
			}
		}
	})
}

func TestValidate(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("the zero Config: %v", err)
	}
	bad := Config{
		Hosts: -1, PagesPerHost: -2, LinksPerPage: -3, MedianBytes: 5, Latency: -1, CrawlDelay: -1,
		FailRate503: 1.5, FailFirst: -1, RetryAfter: -1,
	}
	_, err := New(bad)
	if err == nil {
		t.Fatal("no error")
	}
	for _, field := range []string{
		"Hosts: want 1 to 1048576, got -1", "PagesPerHost", "LinksPerPage", "MedianBytes", "Latency", "CrawlDelay",
		"FailRate503", "FailFirst", "RetryAfter",
	} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("nothing about %s in %v", field, err)
		}
	}
	err = Config{Hosts: 1 << 20, PagesPerHost: 1 << 20}.Validate()
	if err == nil || !strings.Contains(err.Error(), "Hosts * PagesPerHost") {
		t.Errorf("too many slots: %v", err)
	}
}

func TestNormalForm(t *testing.T) {
	for in, want := range map[string]string{
		"/~a/%7Eb/%7ec": "/~a/~b/~c", "/a%2fb": "/a%2Fb", "/caf\u00E9": "/caf%C3%A9", "/a b": "/a%20b",
		"/100%-w": "/100%25-w", "/%": "/%25", "/%a": "/%25a",
		"/a|b": "/a%7Cb", "/x?q=1%2b1&r=%41#f": "/x?q=1%2B1&r=A", "//a//": "//a//", "/../a": "/../a", "/a?": "/a?",
	} {
		got := string(appendNormal(nil, []byte(in)))
		if got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
		if again := string(appendNormal(nil, []byte(got))); again != got {
			t.Errorf("%s: the normal form of %s", again, got)
		}
	}
}

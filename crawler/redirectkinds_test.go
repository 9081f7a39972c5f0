package crawler_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"crawl/canon"
	"crawl/crawler"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/store"
)

// What a Location field may hold, and where it leads from http://a.test/dir/from.
func TestRedirectTargets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		locations []string
		to        string // redirect_to; empty: it leads nowhere
		code      string // of the error
		reason    string // of the by_reason counters, where it leads nowhere
	}{
		{"path", []string{"/to"}, "http://a.test/to", "", ""},
		{"relative", []string{"to"}, "http://a.test/dir/to", "", ""},
		{"up", []string{"../to"}, "http://a.test/to", "", ""},
		{"far up", []string{"../../../to"}, "http://a.test/to", "", ""},
		{"query alone", []string{"?to"}, "http://a.test/dir/from?to", "", ""},
		{"absolute", []string{"http://a.test/to"}, "http://a.test/to", "", ""},
		{"in capitals", []string{"HTTP://A.TEST:80/to"}, "http://a.test/to", "", ""},
		{"no scheme", []string{"//a.test/to"}, "http://a.test/to", "", ""},
		{"scheme and no slashes", []string{"http:to"}, "http://a.test/dir/to", "", ""},
		{"a host without scheme is a path", []string{"a.test/to"}, "http://a.test/dir/a.test/to", "", ""},
		{"backslashes", []string{`\\a.test\to`}, "http://a.test/to", "", ""},
		{"fragment", []string{"/to#part"}, "http://a.test/to", "", ""},
		{"fragment with a question mark", []string{"/to?a#b?c"}, "http://a.test/to?a", "", ""},
		{"UTF-8", []string{"/caf\xc3\xa9?q=\xc3\xa9"}, "http://a.test/caf%C3%A9?q=%C3%A9", "", ""},
		{"Latin-1", []string{"/caf\xe9?q=\xe9"}, "http://a.test/caf%E9?q=%E9", "", ""},
		{"encoded already", []string{"/caf%C3%A9%2f"}, "http://a.test/caf%C3%A9%2f", "", ""},
		{"UTF-8 in the host", []string{"http://b\xc3\xbccher.test/"}, "http://xn--bcher-kva.test/", "", "out_of_scope"},
		{"blanks inside", []string{"/to this and that"}, "http://a.test/to%20this%20and%20that", "", ""},
		{"blanks around", []string{" \t /to \t "}, "http://a.test/to", "", ""},
		{"tab inside", []string{"/t\to"}, "http://a.test/to", "", ""},
		{"quotes and brackets", []string{`/"<to>"`}, "http://a.test/%22%3Cto%3E%22", "", ""},
		{"lone percent sign", []string{"/100%"}, "http://a.test/100%", "", ""},
		{"user and password", []string{"http://user:secret@a.test/to"}, "http://a.test/to", "", ""},
		{"another port", []string{"http://a.test:8080/to"}, "http://a.test:8080/to", "", "out_of_scope"},
		{"another scheme", []string{"https://a.test/to"}, "https://a.test/to", "", ""},
		{"another host", []string{"http://b.test/to"}, "http://b.test/to", "", "out_of_scope"},
		{"repeated", []string{"/to", "/to"}, "http://a.test/to", "", ""},
		{"two targets", []string{"/to", "/other"}, "http://a.test/to", "", ""},
		{"an empty one first", []string{"", "/to"}, "http://a.test/to", "", ""},
		{"none", nil, "", "no_location", ""},
		{"empty", []string{""}, "", "no_location", ""},
		{"blank", []string{"  "}, "", "no_location", ""},
		{"itself", []string{"/dir/from"}, "http://a.test/dir/from", "redirect_loop", "seen"},
		{"itself, by its fragment", []string{"#top"}, "http://a.test/dir/from", "redirect_loop", "seen"},
		{"itself in capitals", []string{"HTTP://A.test:80/dir/./from"}, "http://a.test/dir/from", "redirect_loop", "seen"},
		{"script", []string{"javascript:alert(1)"}, "", "bad_location", "unsupported_scheme"},
		{"data", []string{"data:text/html,x"}, "", "bad_location", "unsupported_scheme"},
		{"mail", []string{"mailto:x@a.test"}, "", "bad_location", "unsupported_scheme"},
		{"file", []string{"file:///etc/passwd"}, "", "bad_location", "unsupported_scheme"},
		{"no host", []string{"http://"}, "", "bad_location", "malformed"},
		{"no port", []string{"http://a.test:99999/"}, "", "bad_location", "malformed"},
		{"too long", []string{"/" + strings.Repeat("x", 17<<10)}, "", "bad_location", "malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// A server of ours would send what is no field value otherwise.
			cfg := ownConfig(func(_ int, u canon.URL) (*fetch.Result, error) {
				r := &fetch.Result{URL: u, Status: http.StatusOK, Header: http.Header{}}
				switch u.String() {
				case "http://a.test/":
					r.Header.Set("Content-Type", "text/html")
					r.Payload = []byte("<a href=/dir/from>")
				case "http://a.test/dir/from":
					r.Status, r.Header["Location"] = http.StatusFound, trimmed(tt.locations)
				}
				r.Body = r.Payload
				return r, nil
			})
			cfg.Frontier.HostDelay = frontier.None
			pages, s := crawl(t, cfg, "http://a.test/")
			p := pages["http://a.test/dir/from"]
			if outcome(p) != "redirect" || p.RedirectTo != tt.to || (p.Error != nil) != (tt.code != "") || p.Error != nil && p.Error.Code != tt.code {
				t.Errorf("recorded as %+v, error %+v; want it to lead to %q, error %q", p, p.Error, tt.to, tt.code)
			}
			if tt.reason != "" && s.ByReason[tt.reason] != 1 {
				t.Errorf("reasons %v, want 1 %s", s.ByReason, tt.reason)
			}
			if followed := tt.to != "" && tt.reason == ""; followed && outcome(pages[tt.to]) != "ok" {
				t.Errorf("the target is recorded as %+v", pages[tt.to])
			} else if !followed && len(pages) != 2 {
				t.Errorf("%d records, want 2", len(pages))
			}
		})
	}
}

// trimmed returns field values as the head's parser gives them.
func trimmed(values []string) (all []string) {
	for _, v := range values {
		all = append(all, strings.Trim(v, " \t"))
	}
	return all
}

// Which statuses lead elsewhere.
func TestRedirectStatuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		201: "ok", 202: "ok", 300: "other", 301: "redirect", 302: "redirect", 303: "redirect", 304: "other", 305: "other", 306: "other",
		307: "redirect", 308: "redirect", 399: "other", 404: "client_error", 410: "client_error",
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			body := "<a href=/linked>"
			if status == http.StatusNotModified {
				body = ""
			}
			w := serve(t, map[string]answer{
				"http://a.test/":       {status: status, header: map[string]string{"Location": "/to"}, body: body},
				"http://a.test/to":     {body: "to"},
				"http://a.test/linked": {body: "linked"},
			})
			pages, _ := crawl(t, w.quick(), "http://a.test/")
			p := pages["http://a.test/"]
			if outcome(p) != want || p.Status != status || (p.RedirectTo != "") != (want == "redirect") {
				t.Errorf("recorded as %+v, want %s", p, want)
			}
			asked := map[string]bool{"to": want == "redirect", "linked": want == "ok" || status == 300}
			for path, want := range asked {
				if got := w.asked("http://a.test/"+path) == 1; got != want {
					t.Errorf("/%s was asked for: %t, want %t", path, got, want)
				}
			}
		})
	}
}

// A Refresh leads on as a link does, one step deeper, and is no redirect.
func TestRefreshIsALink(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/":        {body: "<a href=/field><a href=/element>"},
		"http://a.test/field":   {header: map[string]string{"Refresh": "0; url=/one"}},
		"http://a.test/element": {body: "<meta http-equiv=refresh content='5;url=/two'>"},
		"http://a.test/one":     {body: "one"},
		"http://a.test/two":     {body: "two"},
	})
	pages, _ := crawl(t, w.quick(), "http://a.test/")
	for _, url := range []string{"http://a.test/one", "http://a.test/two"} {
		if p := pages[url]; outcome(p) != "ok" || p.Depth != 2 {
			t.Errorf("%s is recorded as %+v, want it at depth 2", url, p)
		}
	}
	wantOutcomes(t, pages, map[string]string{"http://a.test/field": "ok", "http://a.test/element": "ok"})
}

// Each hop of a chain over hosts asks that host's robots.txt, is bound by the scope and by the rules of addresses, keeps the
// depth of the page that was linked, and has its record.
func TestRedirectsOverHosts(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/":           {body: "<a href=/1><a href=/private><a href=/closed><a href=/out>"},
		"http://a.test/1":          redirect("http://b.test/2"),
		"http://b.test/2":          redirect("http://c.test/3"),
		"http://c.test/3":          redirect("http://a.test/4"),
		"http://a.test/4":          {body: "<a href=/5>"},
		"http://a.test/5":          {body: "end"},
		"http://a.test/private":    redirect("http://10.0.0.1/secret"),
		"http://a.test/closed":     redirect("http://c.test/closed"),
		"http://c.test/robots.txt": {body: "User-agent: *\nDisallow: /closed"},
		"http://c.test/closed":     {body: "closed"},
		"http://a.test/out":        redirect("http://d.test/"),
		"http://d.test/":           {body: "d"},
	})
	cfg := w.quick()
	to := cfg.Fetch.ConnectTo[0]
	cfg.Fetch.ConnectTo = nil
	for _, host := range []string{"a.test", "b.test", "c.test", "d.test"} {
		rule := to
		rule.Host = host
		cfg.Fetch.ConnectTo = append(cfg.Fetch.ConnectTo, rule)
	}
	cfg.Scope = crawler.Scope{Mode: "any", Exclude: []string{"//d\\.test/"}}
	pages, s := crawl(t, cfg, "http://a.test/")
	wantOutcomes(t, pages, map[string]string{
		"http://a.test/1": "redirect", "http://b.test/2": "redirect", "http://c.test/3": "redirect", "http://a.test/4": "ok", "http://a.test/5": "ok",
		"http://a.test/private": "redirect", "http://10.0.0.1/secret": "address_denied", "http://a.test/closed": "redirect",
		"http://c.test/closed": "robots_denied", "http://a.test/out": "redirect", "http://d.test/": "no record",
	})
	for _, host := range []string{"a.test", "b.test", "c.test"} {
		if n := w.asked("http://" + host + "/robots.txt"); n != 1 {
			t.Errorf("%s was asked for robots.txt %d times, want once", host, n)
		}
	}
	for url, depth := range map[string]int{"http://b.test/2": 1, "http://a.test/4": 1, "http://a.test/5": 2} {
		if p := pages[url]; p == nil || p.Depth != depth {
			t.Errorf("%s is recorded as %+v, want depth %d", url, p, depth)
		}
	}
	if s.ByReason["out_of_scope"] != 1 || pages["http://a.test/out"].RedirectTo != "http://d.test/" {
		t.Errorf("reasons %v, and %+v", s.ByReason, pages["http://a.test/out"])
	}
}

// Hops between spellings of one page have an end: the sixth is not followed. The page's record is of its last spelling.
func TestSpellingsEnd(t *testing.T) {
	t.Parallel()
	spellings := []string{"/abcdef", "/%61bcdef", "/%61%62cdef", "/%61%62%63def", "/%61%62%63%64ef", "/%61%62%63%64%65f", "/%61%62%63%64%65%66"}
	answers := map[string]answer{"http://a.test/": {body: "<a href=" + spellings[0] + ">"}}
	for i, s := range spellings {
		answers["http://a.test"+s] = answer{body: "end"}
		if i+1 < len(spellings) {
			answers["http://a.test"+s] = redirect(spellings[i+1])
		}
	}
	w := serve(t, answers)
	pages, _ := crawl(t, w.quick(), "http://a.test/")
	var last *store.Page
	for url, p := range pages {
		if url != "http://a.test/" {
			last = p
		}
	}
	if len(pages) != 2 || last.URL != "http://a.test"+spellings[5] || last.Error == nil || last.Error.Code != "redirect_loop" {
		t.Errorf("%d records, the page's is %+v", len(pages), last)
	}
	if w.asked("http://a.test"+spellings[5]) != 1 || w.asked("http://a.test"+spellings[6]) != 0 {
		t.Error("it was followed further, or less far, than five times")
	}
}

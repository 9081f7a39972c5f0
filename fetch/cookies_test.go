package fetch

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// cookieStep is an answer that sets cookies and, with wantNext, the Cookie field of a request after it.
type cookieStep struct {
	url string
	set []string
}

func TestCookies(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name  string
		steps []cookieStep
		want  map[string]string // URL → Cookie field
	}{
		{"host alone", []cookieStep{{"http://a.test/x/y", []string{"n=v"}}}, map[string]string{
			"http://a.test/x/z": "n=v", "http://a.test/x": "n=v", "http://a.test/": "", "http://a.test/xy": "", "http://b.a.test/x/": "",
			"https://a.test/x/": "n=v", "http://a.test:8080/x/": "n=v", "http://a.test./x/": "n=v"}},
		{"domain", []cookieStep{{"http://www.a.example.com/", []string{"n=v; Domain=.Example.com; path=/"}}}, map[string]string{
			"http://example.com/": "n=v", "http://x.example.com/": "n=v", "http://evilexample.com/": "", "http://example.com.test/": ""}},
		{"domain of others", []cookieStep{{"http://a.example.com/", []string{"n=v; domain=b.example.com", "m=v; domain=example.org", "o=v; domain=com",
			"p=v; domain=a.a.example.com"}}}, map[string]string{"http://a.example.com/": "", "http://b.example.com/": "", "http://example.org/": ""}},
		{"public suffix", []cookieStep{{"http://a.co.uk/", []string{"n=v; domain=co.uk"}}, {"http://github.io/", []string{"m=v; domain=github.io"}}},
			map[string]string{"http://a.co.uk/": "", "http://b.co.uk/": "", "http://github.io/": "m=v", "http://x.github.io/": ""}},
		{"address", []cookieStep{{"http://127.0.0.1/", []string{"n=v", "m=v; domain=0.0.1", "o=v; domain=127.0.0.1"}}, {"http://[::1]/", []string{"p=v"}}},
			map[string]string{"http://127.0.0.1/": "n=v; o=v", "http://27.0.0.1/": "", "http://[::1]/": "p=v"}},
		{"name without a dot", []cookieStep{{"http://intranet/", []string{"n=v; domain=intranet"}}}, map[string]string{"http://intranet/": "n=v", "http://a.intranet/": ""}},
		{"path", []cookieStep{{"http://a.test/", []string{"n=v; path=/foo", "m=w; Path=/", "o=x; path=bar", "p=y; path=/foo/"}}}, map[string]string{
			"http://a.test/foo": "n=v; m=w; o=x", "http://a.test/foo/b": "p=y; n=v; m=w; o=x", "http://a.test/foobar": "m=w; o=x"}},
		{"secure", []cookieStep{{"https://a.test/", []string{"n=v; Secure"}}, {"http://a.test/", []string{"n=low", "m=v; secure"}}},
			map[string]string{"https://a.test/": "n=v", "http://a.test/": ""}},
		{"name prefixes", []cookieStep{{"https://a.test/", []string{"__Secure-a=1; secure", "__Secure-b=1", "__Host-c=1; secure; path=/", "__host-d=1; secure; path=/x",
			"__Host-e=1; secure; path=/; domain=a.test"}}}, map[string]string{"https://a.test/x/": "__Secure-a=1; __Host-c=1"}},
		{"name prefix, no path said", []cookieStep{{"https://a.test/", []string{"__Host-a=1; secure", "__Host-b=1; secure; path=", "__Host-c=1; secure; path=/; path=x",
			"__Secure-d=1; secure", "__HOST-e=1; secure; Path=/"}}}, map[string]string{"https://a.test/": "__Secure-d=1; __HOST-e=1"}},
		{"secure, and others like it from http", []cookieStep{{"https://a.example.com/", []string{"n=v; secure; domain=example.com; path=/x"}},
			{"http://a.example.com/", []string{"n=1; path=/x", "n=2; path=/x/y", "n=3; path=/x/y; domain=a.example.com", "m=4; path=/x", "n=5; path=/z"}},
			{"http://example.com/", []string{"n=6; path=/x"}}, {"https://a.example.com/", []string{"n=7; path=/x/y"}}},
			map[string]string{"https://a.example.com/x/y": "n=7; n=v; m=4", "https://example.com/x": "n=v", "http://a.example.com/z": "n=5"}},
		{"replaced", []cookieStep{{"http://a.test/", []string{"a=1", "b=1"}}, {"http://a.test/", []string{"a=2"}}}, map[string]string{"http://a.test/": "a=2; b=1"}},
		{"removed", []cookieStep{{"http://a.test/", []string{"a=1", "b=1", "c=1", "d=1"}},
			{"http://a.test/", []string{"a=; expires=Thu, 01 Jan 1970 00:00:00 GMT", "b=x; max-age=0", "c=x; Max-Age=-1; expires=Thu, 01 Jan 2099 00:00:00 GMT"}}},
			map[string]string{"http://a.test/": "d=1"}},
		{"expiry", []cookieStep{{"http://a.test/", []string{"a=1; expires=Fri, 02-Jan-2026 03:04:06 GMT", "b=1; expires=Fri, 02 Jan 2026 03:04:05 GMT",
			"c=1; max-age=1; expires=Fri, 02 Jan 2020 03:04:05 GMT", "d=1; expires=nonsense", "e=1; max-age=x", "f=1; max-age=99999999999999999999"}}},
			map[string]string{"http://a.test/": "a=1; c=1; d=1; e=1; f=1"}},
		{"values as browsers take them", []cookieStep{{"http://a.test/", []string{`a="x y,z"`, "b=c=d", " e = f ;HttpOnly", "g=", "h=\xc3\xa9", `i={"a":1}`}}},
			map[string]string{"http://a.test/": `a="x y,z"; b=c=d; e=f; g=; h=` + "\xc3\xa9" + `; i={"a":1}`}},
		{"no cookies", []cookieStep{{"http://a.test/", []string{"", ";", "a", "=b", "a=b\x01", "a\x7f=b", "c=" + strings.Repeat("x", maxCookieBytes),
			"d=1; path=/" + strings.Repeat("x", maxCookiePath), "e=1; domain=" + strings.Repeat("x", 300)}}}, map[string]string{"http://a.test/": ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := newJar(nil)
			for _, s := range tt.steps {
				j.receive(mustParse(t, s.url), s.set, now)
			}
			for url, want := range tt.want {
				if got := j.field(mustParse(t, url), now, true, false); got != want {
					t.Errorf("%s is sent %q, want %q", url, got, want)
				}
			}
			checkJar(t, j)
		})
	}
}

// checkJar checks that the jar's sums are those of its cookies, and within their bounds.
func checkJar(t *testing.T, j *jar) {
	t.Helper()
	bytes, listed := 0, 0
	for name, s := range j.sites {
		count, own := 0, 0
		for _, k := range s.cookies {
			if !k.loaded {
				count, own = count+1, own+k.cost()
			}
		}
		if count != s.count || own != s.bytes || len(s.cookies) == 0 || (s.place != nil) != (count > 0) {
			t.Errorf("%s has %d cookies, %d bytes; counted %d, %d", name, count, own, s.count, s.bytes)
		}
		if s.count > maxSiteCookies || s.bytes > maxSiteBytes {
			t.Errorf("%s has %d cookies, %d bytes", name, s.count, s.bytes)
		}
		bytes += own
		if s.place != nil {
			listed++
		}
	}
	if bytes != j.bytes || bytes > maxJarBytes || listed != j.used.Len() {
		t.Errorf("%d bytes, counted %d; %d sites in the list, want %d", bytes, j.bytes, j.used.Len(), listed)
	}
}

// A site that sets cookies without end keeps 50 of them, the last ones, within 32 KiB.
func TestCookieFlood(t *testing.T) {
	now := time.Now()
	j := newJar(nil)
	u := mustParse(t, "http://a.flood.test/")
	for i := range 200 {
		var set []string
		for n := range 100 {
			set = append(set, fmt.Sprintf("n%d-%d=%s; domain=flood.test", i, n, strings.Repeat("x", i%400*10)))
		}
		j.receive(u, set, now)
	}
	checkJar(t, j)
	sent := j.field(u, now, true, false)
	if !strings.Contains(sent, "n199-49=") || strings.Contains(sent, "n199-50=") || len(sent) > maxSiteBytes {
		t.Errorf("%d bytes are sent: %.100s", len(sent), sent)
	}
}

// Many sites together stay within the jar: the one that was not asked for longest goes, and loaded cookies stay.
func TestCookieSites(t *testing.T) {
	now := time.Now()
	j := newJar([]Cookie{{Name: "l", Value: "1", Domain: "s0.test", Path: "/"}, {Name: "l", Value: "1", Domain: "loaded.test", Path: "/"}})
	big := strings.Repeat("x", 4000)
	first := mustParse(t, "http://s1.test/")
	const sites = 3 * maxJarBytes / (7 * 4000)
	for i := range sites {
		var set []string
		for n := range 7 {
			set = append(set, fmt.Sprintf("n%d=%s", n, big))
		}
		j.receive(mustParse(t, fmt.Sprintf("http://s%d.test/", i)), set, now)
		j.field(first, now, true, false)
	}
	checkJar(t, j)
	for url, want := range map[string]bool{"http://s0.test/": false, "http://s1.test/": true, "http://s2.test/": false, fmt.Sprintf("http://s%d.test/", sites-1): true} {
		if got := j.field(mustParse(t, url), now, true, false) != ""; got != want {
			t.Errorf("%s has cookies: %t, want %t", url, got, want)
		}
	}
	for _, url := range []string{"http://s0.test/", "http://loaded.test/"} {
		if got := j.field(mustParse(t, url), now, true, true); got != "l=1" {
			t.Errorf("%s has %q, want what was loaded", url, got)
		}
	}
}

func TestLoadedCookies(t *testing.T) {
	now := time.Now()
	load := func() *jar {
		return newJar([]Cookie{
			{Name: "sid", Value: "loaded", Domain: "a.test", Path: "/"},
			{Name: "old", Value: "x", Domain: "a.test", Path: "/", Expires: now.Add(-time.Hour)},
			{Name: "only", Value: "x", Domain: "a.test", Path: "/", HostOnly: true, Secure: true},
		})
	}
	j := load()
	for _, tt := range []struct {
		url         string
		set, loaded bool
		want        string
	}{
		{"http://a.test/", true, true, "sid=loaded"}, {"http://b.a.test/", false, true, "sid=loaded"}, {"https://b.a.test/", true, true, "sid=loaded"},
		{"https://a.test/", false, true, "sid=loaded; only=x"}, {"http://a.test/", true, false, ""}, {"http://a.test/", false, false, ""},
	} {
		if got := j.field(mustParse(t, tt.url), now, tt.set, tt.loaded); got != tt.want {
			t.Errorf("%s, set %t, loaded %t: %q, want %q", tt.url, tt.set, tt.loaded, got, tt.want)
		}
	}
	j.receive(mustParse(t, "http://b.a.test/"), []string{"sid=fresh; domain=a.test; path=/"}, now)
	if got := j.field(mustParse(t, "http://a.test/"), now, true, true); got != "sid=fresh" {
		t.Errorf("what a host sets anew does not replace what was loaded: %q", got)
	}
	checkJar(t, j)
}

// The client sends cookies back where they are on and belong, and says when an answer brought some.
func TestClientCookies(t *testing.T) {
	p := newPeer(t, func(c *peerConn) {
		for {
			head, ok := c.request()
			if !ok {
				return
			}
			sent := ""
			for line := range strings.Lines(head) {
				if value, found := strings.CutPrefix(line, "Cookie: "); found {
					sent += strings.TrimSpace(value)
				}
			}
			c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: %d\r\n\r\n%s", len(sent), sent))
		}
	})
	u := p.url("/")
	loaded := []Cookie{{Name: "l", Value: "0", Domain: "127.0.0.1", Path: "/", HostOnly: true}}
	on, off := true, false
	own := Field{Name: "Cookie", Value: "own=1", Secret: true}
	for _, tt := range []struct {
		name string
		cfg  Config
		want []string // of two requests
	}{
		{"off", Config{}, []string{"", ""}},
		{"on", Config{Cookies: true}, []string{"", "a=1; b=2"}},
		{"on, but not here", Config{Cookies: true, Hosts: []HostRule{{Pattern: u.Host(), Cookies: &off}}}, []string{"", ""}},
		{"on here", Config{Hosts: []HostRule{{Pattern: u.Host(), Cookies: &on}}}, []string{"", "a=1; b=2"}},
		{"on elsewhere", Config{Hosts: []HostRule{{Pattern: "b.test", Cookies: &on}}}, []string{"", ""}},
		{"loaded for a seed", Config{LoadedCookies: loaded, Trusted: p.trusts}, []string{"l=0", "l=0"}},
		{"loaded for no seed", Config{LoadedCookies: loaded}, []string{"", ""}},
		{"loaded, and on here", Config{LoadedCookies: loaded, Hosts: []HostRule{{Pattern: u.Host(), Cookies: &on}}}, []string{"l=0", "l=0; a=1; b=2"}},
		{"loaded for a seed, off here", Config{LoadedCookies: loaded, Trusted: p.trusts, Hosts: []HostRule{{Pattern: u.Host(), Cookies: &off}}}, []string{"", ""}},
		{"beside a field of one's own", Config{Cookies: true, Fields: []Field{own}, Trusted: p.trusts}, []string{"own=1", "own=1; a=1; b=2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, tt.cfg)
			var got []string
			for range tt.want {
				res, err := c.Fetch(t.Context(), Request{URL: u})
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(res.Body))
				if kept := strings.Contains(tt.want[1], "a=1"); res.SetCookies != kept {
					t.Errorf("SetCookies is %t, want %t", res.SetCookies, kept)
				}
				res.Release()
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("sent %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCookieDate(t *testing.T) {
	want := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	for _, text := range []string{
		"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "6 november 1994 8:49:37", "1994 6 nov 8:49:37",
		"08:49:37, 6-NOVember-1994", "Sun, 06 Nov 1994 08:49:37 +0100",
	} {
		if got, ok := cookieDate(text); !ok || !got.Equal(want) {
			t.Errorf("%q: %v, %t", text, got, ok)
		}
	}
	for text, year := range map[string]int{"1 Jan 69 00:00:00": 2069, "1 Jan 70 00:00:00": 1970, "1 Jan 1601 00:00:00": 1601, "1 Jan 9999 00:00:00": 9999} {
		if got, ok := cookieDate(text); !ok || got.Year() != year {
			t.Errorf("%q: %v, %t", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "nonsense", "0", "Sun, 06 Nov 1994", "06 Nov 08:49:37", "31 Feb 2026 00:00:00", "32 Jan 2026 00:00:00", "1 Jan 1600 00:00:00", "1 Jan 2026 24:00:00",
		"1 Jan 2026 00:60:00", "1 Jan 20260 00:00:00", "1 Jan 2026 000:00:00", "1 anf 2026 00:00:00", strings.Repeat("9", 1000),
	} {
		if got, ok := cookieDate(text); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestReadCookies(t *testing.T) {
	const file = "\ufeff# Netscape HTTP Cookie File\r\n\r\n" +
		".example.com\tTRUE\t/\tFALSE\t0\tsid\tabc\r\n" +
		"#HttpOnly_a.example.com\tFALSE\t/x\tTRUE\t1900000000.5\tn\ta=b c\n" +
		"B\u00fccher.example\tfalse\t/\tfalse\t0\tempty\n" +
		"# a comment\n" +
		"a.example\tFALSE\t/\tFALSE\t0\tn\n" + // six fields, which are a cookie without a value
		"a.example FALSE / FALSE 0 n s3cret\n" +
		"a.example\tperhaps\t/\tFALSE\t0\tn\ts3cret\n" +
		"a.example\tFALSE\t/\tFALSE\tsoon\tn\ts3cret\n" +
		"a.example\tFALSE\tx\tFALSE\t0\tn\ts3cret\n" +
		"\tFALSE\t/\tFALSE\t0\tn\ts3cret\n" +
		"a.example\tFALSE\t/\tFALSE\t0\t\ts3cret\n" +
		"127.0.0.1\tTRUE\t/\tFALSE\t-1\tip\tv"
	var got []string
	for c, err := range ReadCookies(strings.NewReader(file)) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		expires := int64(0)
		if !c.Expires.IsZero() {
			expires = c.Expires.Unix()
		}
		got = append(got, fmt.Sprintf("%s %t %s %t %d %s=%s", c.Domain, c.HostOnly, c.Path, c.Secure, expires, c.Name, c.Value))
	}
	want := []string{
		"example.com false / false 0 sid=abc",
		"a.example.com true /x true 1900000000 n=a=b c",
		"xn--bcher-kva.example true / false 0 empty=",
		"a.example true / false 0 n=",
		"line 8: want 7 fields with tabs between them, got 1",
		"line 9: want TRUE or FALSE in the second field",
		"line 10: want Unix seconds in the fifth field",
		"line 11: want a path that begins with a slash in the third field",
		"line 12: want a domain in the first field",
		"line 13: want a name and a value that can be sent in the last two fields",
		"127.0.0.1 true / false 0 ip=v",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var last error
	n := 0
	for _, err := range ReadCookies(strings.NewReader(strings.Repeat("x", maxCookieLine+1))) {
		last, n = err, n+1
	}
	if n != 1 || last == nil || !strings.Contains(last.Error(), "no cookies.txt") {
		t.Errorf("a file of one long line gives %d results, %v", n, last)
	}
}

// Whatever a host sets, the jar keeps its bounds and sends what is a field.
func FuzzSetCookie(f *testing.F) {
	for _, text := range []string{"a=b", "a=b; domain=a.test; path=/; expires=Sun, 06 Nov 1994 08:49:37 GMT; max-age=5; secure", "=;=;", "a=b\x00", "a=\"b\"; domain=..", "__Host-a=b"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		now := time.Unix(1e9, 0)
		j := newJar(nil)
		u := mustParse(t, "https://a.b.test/c/d?e")
		j.receive(u, []string{one, other, one + other}, now)
		checkJar(t, j)
		sent := j.field(u, now, true, true)
		if err := checkFields(http.Header{"Cookie": {sent}}); err != nil && !strings.ContainsAny(one+other, "\r\n") {
			t.Errorf("%q, %q: %v", one, other, err)
		}
		if got := j.field(mustParse(t, "https://other.test/c/"), now, true, true); got != "" {
			t.Errorf("another site is sent %q", got)
		}
	})
}

package fetch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"crawl/canon"
)

// sentTo returns the fields that c sends for a URL beside the client's own, as lines.
func sentTo(t *testing.T, c *credentials, url string) string {
	t.Helper()
	var lines []string
	for _, f := range c.of(mustParse(t, url)) {
		switch f.name {
		case "User-Agent", "Accept", "Accept-Encoding":
			continue
		}
		lines = append(lines, f.name+": "+f.value)
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

func TestCredentials(t *testing.T) {
	trusted := func(u canon.URL) bool { return u.Origin() == "https://seed.test" }
	const basic = "Authorization: Basic YW5uOnA6dw=="
	ann, bob := &Auth{"ann", "p:w"}, &Auth{"bob", ""}
	cfg := Config{
		Fields:  []Field{{Name: "x-plain", Value: "1"}, {Name: "X-Key", Value: "k", Secret: true}},
		Auth:    ann,
		Trusted: trusted,
		Hosts: []HostRule{
			{Pattern: "*.more.test", Fields: []Field{{Name: "X-Key", Value: "low", Secret: true}, {Name: "X-Low", Value: "l"}}},
			{Pattern: "a.more.test:443", Fields: []Field{{Name: "x-key", Value: "high", Secret: true}}, Auth: bob},
			{Pattern: "seed.test", Fields: []Field{{Name: "X-Plain", Value: "2"}}},
			{Pattern: "none.test", Auth: &Auth{}},
			{Pattern: "[2001:db8::1]:8080", Auth: ann},
		},
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	c := newCredentials(cfg.withDefaults())
	for url, want := range map[string]string{
		"https://seed.test/":           basic + ", X-Key: k, X-Plain: 2",
		"https://seed.test./":          "X-Plain: 2", // another origin
		"http://seed.test/":            "X-Plain: 2",
		"https://www.seed.test/":       "X-Plain: 1",
		"https://seed.test:8443/":      "X-Plain: 2",
		"https://seed.test.evil.test/": "X-Plain: 1",
		"https://other.test/":          "X-Plain: 1",
		"http://more.test/":            "X-Key: low, X-Low: l, X-Plain: 1",
		"https://b.more.test:8443/":    "X-Key: low, X-Low: l, X-Plain: 1",
		"http://evilmore.test/":        "X-Plain: 1",
		"https://a.more.test/":         "Authorization: Basic Ym9iOg==, X-Key: high, X-Low: l, X-Plain: 1",
		"http://a.more.test/":          "X-Key: low, X-Low: l, X-Plain: 1",
		"http://[2001:db8::1]:8080/":   basic + ", X-Plain: 1",
		"http://[2001:db8::1]/":        "X-Plain: 1",
	} {
		if got := sentTo(t, c, url); got != want {
			t.Errorf("%s is sent %q, want %q", url, got, want)
		}
	}
	untrusting := newCredentials(Config{Fields: cfg.Fields, Auth: ann}.withDefaults())
	if got := sentTo(t, untrusting, "https://seed.test/"); got != "X-Plain: 1" {
		t.Errorf("without Trusted it is sent %q", got)
	}
	everywhere := newCredentials(Config{Auth: ann, Trusted: func(canon.URL) bool { return true }, Hosts: []HostRule{
		{Pattern: "*", Auth: &Auth{}}, {Pattern: "*:81", Auth: bob},
	}}.withDefaults())
	for url, want := range map[string]string{"http://a.test/": "", "http://a.test:81/": "Authorization: Basic Ym9iOg=="} {
		if got := sentTo(t, everywhere, url); got != want {
			t.Errorf("%s is sent %q, want %q", url, got, want)
		}
	}
}

// What cannot be sent is refused at the start, under its key, and a secret is not shown.
func TestCredentialsValidate(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{Fields: []Field{{Name: "Host", Value: "b.test"}}}, `header: header field "Host": set by the client alone`},
		{Config{Fields: []Field{{Name: "transfer-encoding", Value: "s3cret", Secret: true}}}, `header: header field "transfer-encoding": set by the client alone`},
		{Config{Fields: []Field{{Name: "X-A", Value: "s3cret\r\nX-B: c", Secret: true}}}, `header: header field "X-A": its value cannot be sent`},
		{Config{Fields: []Field{{Name: "X A", Value: "b"}}}, `header: header field "X A": not a field name`},
		{Config{Auth: &Auth{"a:b", "s3cret"}}, "auth: the user's name has a colon"},
		{Config{Hosts: []HostRule{{Pattern: "a.*.test"}}}, `hosts: pattern: want a host such as a.example, a.example:8080, *.example or *, got "a.*.test": no host of a URL`},
		{Config{Hosts: []HostRule{{Pattern: "u@a.test"}}}, `hosts: pattern: want a host such as a.example, a.example:8080, *.example or *, got "u@a.test": no host of a URL`},
		{Config{Hosts: []HostRule{{Pattern: "a.test", Auth: &Auth{"a:b", "s3cret"}}}}, "hosts: a.test: auth: the user's name has a colon"},
		{Config{Hosts: []HostRule{{Pattern: "a.test", Fields: []Field{{Name: "Te", Value: "x"}}}}}, `hosts: a.test: headers: header field "Te": set by the client alone`},
	} {
		err := tt.cfg.Validate()
		if err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// A request carries them in the place of the client's own fields, and under those of the request itself.
func TestCredentialsOnTheWire(t *testing.T) {
	heads := make(chan string, 1)
	p := newPeer(t, func(c *peerConn) {
		head, _ := c.request()
		heads <- head
		c.say("HTTP/1.1 204 No Content\r\n\r\n")
	})
	u := p.url("/")
	c := newClient(t, Config{
		Fields: []Field{{Name: "Accept", Value: "text/css"}, {Name: "Cookie", Value: "a=b", Secret: true}},
		Hosts:  []HostRule{{Pattern: u.Host(), Auth: &Auth{"ann", "p"}}},
	})
	res, err := c.Fetch(t.Context(), Request{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	res.Release()
	want := fmt.Sprintf("GET / HTTP/1.1\r\nHost: %s\r\nUser-Agent: crawl\r\nAccept-Encoding: %s\r\nAccept: text/css\r\nAuthorization: Basic YW5uOnA=\r\n\r\n",
		u.Host(), acceptEncoding)
	if got := <-heads; got != want {
		t.Errorf("sent\n%s\nwant\n%s", got, want)
	}
}

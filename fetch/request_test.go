package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRequestBytes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cfg    Config
		target string
		header http.Header
		want   []string // after request line and Host
	}{
		{"defaults", Config{}, "/", nil, []string{"User-Agent: crawl", "Accept: " + accept, "Accept-Encoding: " + acceptEncoding}},
		{"target as it is", Config{}, "/a%2Fb/%zz;x?q=a+b&c=%E9&d", nil,
			[]string{"User-Agent: crawl", "Accept: " + accept, "Accept-Encoding: " + acceptEncoding}},
		{"a page to turn to", Config{Contact: "https://a.test/bot"}, "/", nil,
			[]string{"User-Agent: crawl (+https://a.test/bot)", "Accept: " + accept, "Accept-Encoding: " + acceptEncoding}},
		{"a person to turn to", Config{UserAgent: "bot/1", Contact: "Bot Owner <bot@a.test>"}, "/", nil,
			[]string{"User-Agent: bot/1", "Accept: " + accept, "Accept-Encoding: " + acceptEncoding, "From: bot@a.test"}},
		{"more fields", Config{}, "/", http.Header{"X-B": {"1", "2"}, "X-A": {"é"}, "accept": {"text/css"}, "User-Agent": {"other"}},
			[]string{"Accept-Encoding: " + acceptEncoding, "User-Agent: other", "X-A: é", "X-B: 1", "X-B: 2", "accept: text/css"}},
		{"a field less", Config{}, "/", http.Header{"Accept-Encoding": nil}, []string{"User-Agent: crawl", "Accept: " + accept}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			heads := make(chan string, 1)
			p := newPeer(t, func(c *peerConn) {
				head, _ := c.request()
				heads <- head
				c.say("HTTP/1.1 204 No Content\r\n\r\n")
			})
			u := p.url(tt.target)
			res, err := newClient(t, tt.cfg).Fetch(t.Context(), Request{URL: u, Header: tt.header})
			if err != nil {
				t.Fatal(err)
			}
			res.Release()
			want := "GET " + tt.target + " HTTP/1.1\r\nHost: " + u.Host() + "\r\n" + strings.Join(tt.want, "\r\n") + "\r\n\r\n"
			if got := <-heads; got != want {
				t.Errorf("sent\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestHostField(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test/":         "Host: a.test\r\n",
		"http://a.test:80/":      "Host: a.test\r\n",
		"http://a.test:81/":      "Host: a.test:81\r\n",
		"https://a.test:80/":     "Host: a.test:80\r\n",
		"http://[2001:db8::1]/":  "Host: [2001:db8::1]\r\n",
		"http://A.TEST.:8080/?x": "Host: a.test.:8080\r\n",
	} {
		if got := string(appendRequest(nil, Request{URL: mustParse(t, url)}, nil, nil)); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", url, got, want)
		}
	}
}

func TestRefusedFields(t *testing.T) {
	c := newClient(t, Config{})
	u := mustParse(t, "http://127.0.0.1:1/")
	for _, h := range []http.Header{
		{"Host": {"b.test"}}, {"content-length": {"3"}}, {"Transfer-Encoding": {"chunked"}}, {"Connection": {"close"}},
		{"X-A": {"a\r\nX-B: c"}}, {"X A": {"b"}}, {"": {"b"}}, {"X-A": {"a\x00"}}, {"X-A\r\nX-B": {"c"}}, {"Upgrade": {"h2c"}},
	} {
		_, err := c.Fetch(t.Context(), Request{URL: u, Header: h})
		wantError(t, err, PhaseWrite, CodeBadRequest)
	}
}

func TestConfigValidate(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("the zero Config: %v", err)
	}
	err := Config{
		UserAgent: "a\nb", Contact: "x\r\ny", Timeout: -1, ConnectTimeout: -time.Second, IdleTimeout: -1, MaxHeadBytes: -1,
		MaxBodyBytes: 1 << 62, BodyMemoryBytes: -1, MaxIdleConns: -1, MaxIdlePerHost: -1, ConnectTo: []ConnectTo{{Port: "x"}}, AllowPrivate: []string{"a b"},
	}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, key := range []string{
		"user_agent", "contact", "timeout", "connect_timeout", "idle_timeout", "max_head", "max_body", "body_memory", "max_idle_conns",
		"max_idle_per_host", "connect_to", "allow_private",
	} {
		if !strings.Contains("\n"+err.Error(), "\n"+key+": ") {
			t.Errorf("nothing on %s in %q", key, err)
		}
	}
	if _, err := New(Config{Timeout: -1}); err == nil {
		t.Error("New accepts a bad Config")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{ // -1: not ok
		"120":                            2 * time.Minute,
		" 7 ":                            7 * time.Second,
		"0":                              0,
		"007":                            7 * time.Second,
		"99999999999999999999999":        1<<63 - 1,
		"9999999999999":                  1<<63 - 1,
		"Sun, 01 Mar 2026 12:01:30 GMT":  90 * time.Second,
		"Sunday, 01-Mar-26 12:00:01 GMT": time.Second,
		"Sun Mar  1 12:00:02 2026":       2 * time.Second,
		"Sun, 01 Mar 2026 12:00:00 GMT":  0,
		"Sun, 01 Mar 2026 11:59:59 GMT":  -1,
		"-5":                             -1,
		"+5":                             -1,
		"1.5":                            -1,
		"5s":                             -1,
		"soon":                           -1,
		"":                               -1,
	} {
		got, ok := RetryAfter(http.Header{"Retry-After": {value}}, now)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v %v, want %v", value, got, ok, want)
		}
	}
	for _, values := range [][]string{{"5", "60"}, {"60", "5"}, {"soon", "60"}, {"60", ""}, {"Sun, 01 Mar 2026 12:01:00 GMT", "7"}} {
		if got, ok := RetryAfter(http.Header{"Retry-After": values}, now); !ok || got != time.Minute {
			t.Errorf("%q: %v %v, want a minute", values, got, ok)
		}
	}
	if _, ok := RetryAfter(nil, now); ok {
		t.Error("ok without the field")
	}
}

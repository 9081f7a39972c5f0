package fetch

import "testing"

func connectTo(t *testing.T, s string) ConnectTo {
	t.Helper()
	rule, err := ParseConnectTo(s)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

func TestParseConnectTo(t *testing.T) {
	for in, want := range map[string]ConnectTo{
		"a.test:80:127.0.0.1:8080": {"a.test", "80", "127.0.0.1", "8080"},
		"::127.0.0.1:8080":         {"", "", "127.0.0.1", "8080"},
		"a.test:443::8443":         {"a.test", "443", "", "8443"},
		":::":                      {},
		"[::1]:80:[fe80::2]:81":    {"::1", "80", "fe80::2", "81"},
		"a.test::b.test:":          {"a.test", "", "b.test", ""},
	} {
		got, err := ParseConnectTo(in)
		if err != nil || got != want {
			t.Errorf("%q: %+v %v, want %+v", in, got, err, want)
		}
		if got.String() != in {
			t.Errorf("%q is written as %q", in, got)
		}
	}
	for _, in := range []string{
		"", "a", "a:80", "a:80:b", "a:80:b:81:c", "a:x:b:81", "a:80:b:99999", "a:0:b:1", "a b:80::", "a:80:[::1:81", "a:-1:b:1",
		"http://a:80:b:81",
	} {
		if got, err := ParseConnectTo(in); err == nil {
			t.Errorf("%q: %+v, want an error", in, got)
		}
	}
}

func TestConnectToTarget(t *testing.T) {
	c := newClient(t, Config{ConnectTo: []ConnectTo{
		connectTo(t, "A.test:80:127.0.0.1:8080"),
		connectTo(t, "a.test::b.test:"),
		connectTo(t, ":444::4444"),
		connectTo(t, "a.test:::1"),
	}})
	for url, want := range map[string]struct {
		host, port string
		named      bool
	}{
		"http://a.test/":      {"127.0.0.1", "8080", true},
		"https://a.test/":     {"b.test", "443", true},
		"https://a.test:444/": {"b.test", "444", true}, // the first rule that matches holds
		"https://c.test:444/": {"c.test", "4444", false},
		"http://c.test/":      {"c.test", "80", false},
	} {
		host, port, named := c.target(mustParse(t, url))
		if host != want.host || port != want.port || named != want.named {
			t.Errorf("%s goes to %s %s %v, want %+v", url, host, port, named, want)
		}
	}
}

package canon

import "testing"

func TestParts(t *testing.T) {
	for _, tt := range []struct {
		in                                                        string
		scheme, origin, host, hostname, port, target, path, query string
	}{
		{in: "http://a.example/b/c?d=e?f",
			scheme: "http", origin: "http://a.example", host: "a.example", hostname: "a.example", port: "80",
			target: "/b/c?d=e?f", path: "/b/c", query: "d=e?f"},
		{in: "https://a.example:8443?",
			scheme: "https", origin: "https://a.example:8443", host: "a.example:8443", hostname: "a.example", port: "8443",
			target: "/?", path: "/"},
		{in: "https://[2001:db8::1]/",
			scheme: "https", origin: "https://[2001:db8::1]", host: "[2001:db8::1]", hostname: "2001:db8::1", port: "443",
			target: "/", path: "/"},
		{in: "http://[::1]:8080/a:b",
			scheme: "http", origin: "http://[::1]:8080", host: "[::1]:8080", hostname: "::1", port: "8080",
			target: "/a:b", path: "/a:b"},
	} {
		u := mustParse(t, tt.in)
		for _, part := range []struct{ name, got, want string }{
			{"Scheme", u.Scheme(), tt.scheme},
			{"Origin", u.Origin(), tt.origin},
			{"Host", u.Host(), tt.host},
			{"Hostname", u.Hostname(), tt.hostname},
			{"Port", u.Port(), tt.port},
			{"Target", u.Target(), tt.target},
			{"Path", u.Path(), tt.path},
			{"Query", u.Query(), tt.query},
		} {
			if part.got != part.want {
				t.Errorf("%s of %q is %q, want %q", part.name, tt.in, part.got, part.want)
			}
		}
	}
}

func TestZeroURL(t *testing.T) {
	var u URL
	parts := u.String() + u.Key() + u.Scheme() + u.Origin() + u.Host() + u.Hostname() + u.Port() + u.Target() + u.Path() + u.Query()
	if parts != "" || !u.IsZero() {
		t.Errorf("the zero URL has parts: %q", parts)
	}
	if mustParse(t, "http://a.example").IsZero() {
		t.Error("a URL is zero")
	}
}

func TestURLsCompare(t *testing.T) {
	if a, b := mustParse(t, "HTTP://A.example:80/x?|#y"), mustParse(t, "http://a.example/x?|"); a != b {
		t.Errorf("%#v and %#v differ", a, b)
	}
	// The keys are one, the requests are not.
	if a, b := mustParse(t, "http://a.example/%7e"), mustParse(t, "http://a.example/~"); a == b || a.Key() != b.Key() {
		t.Errorf("%#v and %#v", a, b)
	}
}

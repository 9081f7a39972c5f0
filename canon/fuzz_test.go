package canon

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
)

// FuzzParse holds the fast path against the full parser, whatever the document's encoding, and every URL against its
// own text.
func FuzzParse(f *testing.F) {
	for _, base := range bases {
		for _, ref := range refs {
			f.Add(base, ref)
		}
	}
	windows1251 := encoderOf(charmap.Windows1251)
	f.Fuzz(func(t *testing.T, baseText, ref string) {
		base, err := Parse(baseText)
		if err != nil && !base.IsZero() {
			t.Fatalf("%q: an error and a URL", baseText)
		}
		full, err := parseFull(base, ref, nil)
		if clean, ok := parseClean(base, ref); ok {
			if err != nil || clean != full {
				t.Fatalf("%q on %q: fast path %q, full parser %q, %v", ref, base, clean, full, err)
			}
			if legacy, err := parseFull(base, ref, windows1251); err != nil || clean != legacy {
				t.Fatalf("%q on %q: fast path %q, legacy %q, %v", ref, base, clean, legacy, err)
			}
		}
		if err != nil {
			checkError(t, err)
			return
		}
		checkURL(t, full)
		checkKey(t, full)
		if legacy, err := parseFull(base, ref, windows1251); err != nil {
			t.Fatalf("%q on %q: legacy: %v", ref, base, err)
		} else {
			checkURL(t, legacy)
			checkKey(t, legacy)
		}
	})
}

// FuzzKey holds the keys of any two paths and queries against what a server can tell apart.
func FuzzKey(f *testing.F) {
	for _, a := range refs {
		f.Add(a, strings.ToUpper(a))
		f.Add(a, unescaped(a))
	}
	base := URL{href: "https://a.example/"}
	f.Fuzz(func(t *testing.T, a, b string) {
		u, err1 := (*Rules)(nil).Parse(base, a)
		v, err2 := (*Rules)(nil).Parse(base, b)
		if err1 != nil || err2 != nil {
			return
		}
		if alike := meaning(u) == meaning(v); alike != (u.Key() == v.Key()) {
			t.Fatalf("%q and %q: alike %v, keys %q and %q", u, v, alike, u.Key(), v.Key())
		}
	})
}

// checkURL holds a URL against its invariants.
func checkURL(t *testing.T, u URL) {
	t.Helper()
	if again, err := Parse(u.String()); err != nil || again != u {
		t.Fatalf("%q parses as %q, %v", u, again, err)
	}
	if again, err := Keep(u.String()); err != nil || again != u {
		t.Fatalf("%q is kept as %q, %v", u, again, err)
	}
	for i := range len(u.href) {
		if c := u.href[i]; c <= ' ' || c >= 0x7f || c == '#' {
			t.Fatalf("%q: byte %#x", u, c)
		}
	}
	if u.Origin()+u.Target() != u.href || u.Scheme()+"://"+u.Host() != u.Origin() || !strings.HasPrefix(u.Target(), "/") {
		t.Fatalf("%q: parts do not make the whole", u)
	}
	if strings.ContainsRune(u.Host(), '@') || u.Hostname() == "" || u.Port() == "" {
		t.Fatalf("%q: host %q, port %q", u, u.Host(), u.Port())
	}
}

// checkKey holds a URL's key against its invariants.
func checkKey(t *testing.T, u URL) {
	t.Helper()
	k, err := Parse(u.Key())
	if err != nil {
		t.Fatalf("key of %q: %v", u, err)
	}
	if k.String() != u.Key() || k.Key() != u.Key() {
		t.Fatalf("%q has key %q, which parses as %q and has key %q", u, u.Key(), k, k.Key())
	}
	if meaning(k) != meaning(u) {
		t.Fatalf("%q has key %q, which means something else", u, k)
	}
}

// checkError holds an error against its promises.
func checkError(t *testing.T, err error) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok || e.Detail == "" || e.Reason != Malformed && e.Reason != UnsupportedScheme {
		t.Fatalf("error %#v", err)
	}
}

// meaning is what a server can tell of a URL by RFC 3986: the bytes it holds when all triplets are decoded, and which
// reserved characters stand there as such. A lone percent sign is itself; an empty query is none.
func meaning(u URL) string {
	var b strings.Builder
	b.WriteString(u.Origin())
	path, query, _ := strings.Cut(u.Target(), "?")
	target := path
	if query != "" {
		target += "?" + query
	}
	for i := 0; i < len(target); i++ {
		c := target[i]
		if v, ok := triplet(target, i); c == '%' && ok {
			c = v
			i += 2
		} else if strings.IndexByte("!$&'()*+,;=:@/?", c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
		b.WriteByte('.')
	}
	return b.String()
}

package crawler

import (
	"errors"
	"strings"
	"testing"

	"crawl/canon"
)

func TestSeedOrigins(t *testing.T) {
	o := newSeedOrigins()
	for _, seed := range []string{"https://a.test/x", "http://b.test/", "http://c.test:8080/", "http://[::1]/"} {
		o.add(mustURL(t, seed))
	}
	for url, want := range map[string]bool{
		"https://a.test/y": true, "https://a.test:443/": true, "http://a.test/": false, "https://www.a.test/": false, "https://a.test:8443/": false,
		"http://b.test/?q": true, "https://b.test/": true, "https://b.test:8443/": false, "http://b.test:81/": false, "http://b.test./": false,
		"http://c.test:8080/": true, "https://c.test:8080/": false, "http://c.test/": false,
		"https://[::1]/": true, "http://d.test/": false,
	} {
		if got := o.trusts(mustURL(t, url)); got != want {
			t.Errorf("%s: %t, want %t", url, got, want)
		}
	}
	var none *seedOrigins
	none.add(mustURL(t, "http://a.test/"))
	if none.trusts(mustURL(t, "http://a.test/")) {
		t.Error("none trusts")
	}
}

func mustURL(t *testing.T, text string) canon.URL {
	t.Helper()
	u, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A seed with a user is refused however it is written, and no message shows the password.
func TestUserInSeed(t *testing.T) {
	for _, text := range []string{
		"http://ann:s3cret@a.test/", "https://ann@a.test", "//ann:s3cret@a.test/", `http:\\ann:s3cret@a.test\`, "http:/ann:s3cret@a.test/",
		"http:ann:s3cret@a.test", "HTTP://ann:s3cret@a.test?x@y", "http://ann:s3cret@x@a.test/", "http://@a.test/", " http://:s3cret@a.test/#x",
		"http://ann:s3c\tret@a.test/", "ann@a.test",
	} {
		_, _, err := Seed{URL: text}.parse()
		if !errors.Is(err, errUserInSeed) || strings.Contains(err.Error(), "s3c") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"http://ann:s3cret@a.test:99999/", "ann:s3cret@a.test/", "ftp://ann:s3cret@a.test/", "http://ann:s3cret@/"} {
		_, _, err := Seed{URL: text}.parse()
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"http://a.test/@x", "http://a.test?x@y", "a.test/ann:x@y", "http://a.test/#a@b", "a.test:8080/@"} {
		if _, _, err := (Seed{URL: text}).parse(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

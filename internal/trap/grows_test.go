package trap

import (
	"strings"
	"testing"
)

func TestGrows(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"http://a.test/", "http://a.test/a/", true},
		{"http://a.test/a/index.php", "http://a.test/a/a/index.php", true},
		{"http://a.test/a/b", "http://a.test/a/c", false},
		{"http://a.test/a/b/", "http://a.test/", false},
		{"http://a.test/a/b/", "http://a.test/c/d/e/", true},
		{"http://a.test/", "http://b.test/a/b/", false},
		{"http://a.test/", "https://a.test/a/b/", false},
		{"http://a.test/l?a=1", "http://a.test/l?a=1&b=2", true},
		{"http://a.test/l?a=1", "http://a.test/l?b=2&a=1", true},
		{"http://a.test/l?a=1", "http://a.test/l?b=2&c=3", false},
		{"http://a.test/l?a=1", "http://a.test/l?a=1", false},
		{"http://a.test/l?a=/b/c", "http://a.test/l/m", true},
		{"", "", false},
	} {
		if got := Grows(tt.from, tt.to); got != tt.want {
			t.Errorf("from %s to %s: %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}

func TestComesAgain(t *testing.T) {
	for in, want := range map[string]int{
		"/": 0, "/a/b/c/": 0, "/a/b/a/": 1, "/a/b/a/b/": 2, "/a/a/a": 2, "/2024/05/05/": 0, "/0/0/0/1": 0, "/2024/2024/": 1, "/a//b//": 0,
		"/l?a=1&b=2&a=1": 1, "/l?a=1&a=2": 0, "/a/a?b&b": 2,
	} {
		path, query, _ := strings.Cut(in, "?")
		if got := ComesAgain(path, query); got != want {
			t.Errorf("%s: %d, want %d", in, got, want)
		}
	}
}

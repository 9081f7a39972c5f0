package config

import (
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, tt := range []struct {
		name, source string
		line, column int
		want         string
	}{
		{"second line", "a: 1\nb: 2\n", 2, 4, "    2 | b: 2\n      |    ^"},
		{"behind the end", "a: 1", 1, 9, "    1 | a: 1\n      |     ^"},
		{"wide and unprintable", "\tü\x1b: 1", 1, 5, "    1 |  ü\ufffd: 1\n      |     ^"},
		{"start of a long line", long, 1, 3, "    1 | " + long[:100] + "\n      |   ^"},
		{"within a long line", long + "yz" + long, 1, 202, "    1 | " + long[:49] + "yz" + long[:49] + "\n      | " + strings.Repeat(" ", 50) + "^"},
		{"no such line", "a: 1", 3, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := excerpt(tt.source, tt.line, tt.column); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestLikely(t *testing.T) {
	for word, want := range map[string]string{
		"max_page": "max_pages", "max_depht": "max_depth", "hostdelay": "host_delay", "delay": "host_delay", "fb": "fp",
		"x": "", "colour": "", "jsn": "", strings.Repeat("fp", 100): "",
	} {
		if got := likely(word, (*setting).inEnvironment); got != want {
			t.Errorf("%.20s: got %q, want %q", word, got, want)
		}
	}
}

package crawler_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"crawl/crawler"
)

// A line that cannot be a seed is named by its number, however long it is, and the others are used.
func TestReadSeeds(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "http://a.test/\nb.test\n", "1 http://a.test/; 2 b.test"},
		{"the last line without an end", "a.test\nb.test", "1 a.test; 2 b.test"},
		{"mark, two-byte ends, blank lines, comments, labels", "\ufeffa.test\r\n\r\n# c\r\n \t\nb.test\tlabel \r\n", "1 a.test; 5 b.test label"},
		{"nothing", "", ""},
		{"a long line among others", "a.test\n" + long + "x\nb.test\n", "1 a.test; 2 too long; 3 b.test"},
		{"the longest that is read", "a.test\n" + long + "\n", fmt.Sprintf("1 a.test; 2 %s", long)},
		{"a long label", "a.test\t" + long + "\nb.test\n", "1 too long; 2 b.test"},
		{"a long comment", "# " + long + "\nb.test\n", "2 b.test"},
		{"long blanks", strings.Repeat(" ", 3<<20) + "a.test\nb.test\n", "1 too long; 2 b.test"},
		{"a long line at the end", "a.test\n" + strings.Repeat(long, 3), "1 a.test; 2 too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.text), iotest.HalfReader(strings.NewReader(tt.text))} {
				var got []string
				for s, err := range crawler.ReadSeeds(r) {
					line := strings.TrimSpace(fmt.Sprintf("%d %s %s", s.Line, s.URL, s.Label))
					if bad, ok := errors.AsType[*crawler.SeedError](err); ok && bad.Seed.Line == s.Line {
						line += " too long"
					} else if err != nil {
						t.Fatal(err)
					}
					got = append(got, strings.Join(strings.Fields(line), " "))
				}
				if text := strings.Join(got, "; "); text != tt.want {
					t.Errorf("got  %.200s\nwant %.200s", text, tt.want)
				}
			}
		})
	}
	var last error
	for _, err := range crawler.ReadSeeds(io.MultiReader(strings.NewReader("a.test\nb"), iotest.ErrReader(io.ErrClosedPipe))) {
		last = err
	}
	if !errors.Is(last, io.ErrClosedPipe) || !mentions("line 2")(last) {
		t.Errorf("%v, want an error of line 2", last)
	}
}

// A crawl begins from the seeds that can be used, and the log names the others.
func TestLongSeedLineIsPassedOver(t *testing.T) {
	var log strings.Builder
	cfg := crawler.DefaultConfig()
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	text := "http://a.test/\n" + strings.Repeat("x", 2<<20) + "\nhttp://b.test/\n"
	c, err := crawler.Create(t.TempDir(), cfg, crawler.ReadSeeds(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "seed on line 2: the line is longer than 1048576 bytes") || log.Len() > 1000 {
		t.Errorf("the log says %.1000s", log.String())
	}
	added, err := c.Add(t.Context(), slices.Values([]crawler.Seed{{URL: "http://b.test/"}}), false)
	if err != nil || added.Admitted+added.Known != 1 {
		t.Errorf("%+v, %v", added, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

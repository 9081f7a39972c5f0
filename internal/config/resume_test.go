package config

import (
	"bytes"
	"strings"
	"testing"
)

// stored writes the file that a crawl keeps.
func stored(t *testing.T, set func(*Settings)) string {
	t.Helper()
	s := Default()
	set(&s)
	var b bytes.Buffer
	if err := s.Render(&b); err != nil {
		t.Fatal(err)
	}
	return write(t, b.String())
}

func TestResume(t *testing.T) {
	crawl := stored(t, func(s *Settings) { s.FP, s.Retries, s.Grace = 0.01, 7, 1e9 })
	const fix = ", which the crawl was started with (leave it out to go on as before, or have the filter made again with `crawl resume --rebuild-seen`), got "
	for _, tt := range []struct {
		name, file string
		env, args  []string
		want       string
	}{
		{name: "nothing said"},
		{name: "the same said again", file: "fp: 1%", args: []string{"--fp=0.01", "--expect=none"}},
		{name: "flag", args: []string{"--fp=2%"}, want: "--fp: want 1%" + fix + "2%"},
		{name: "variable", env: []string{"CRAWL_EXPECT=5M"}, want: "CRAWL_EXPECT: want none" + fix + "5M"},
		{name: "file", file: "fp: 0.1%", want: "new.yaml:1:5: fp: want 1%" + fix + "0.1%\n    1 | fp: 0.1%\n      |     ^"},
		{name: "both", args: []string{"--fp=2%", "--expect=1"}, want: "--fp: want 1%" + fix + "2%\n--expect: want none" + fix + "1"},
		{name: "unreadable", args: []string{"--fp=x"}, want: `--fp: want a rate between 0 and 1, such as 0.1% or 0.001, got "x"`},
		{name: "out of range", args: []string{"--fp=60%"}, want: "--fp: want from 0.0001% to 50%, got 60%"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, tt.file)
			s, err := Resume(crawl, file, tt.env, parse(t, tt.args...))
			if tt.want != "" {
				if err == nil || strings.ReplaceAll(err.Error(), file, "new.yaml") != tt.want {
					t.Errorf("got  %v\nwant %s", err, tt.want)
				}
				return
			}
			if err != nil || s.FP != 0.01 || s.Retries != 7 {
				t.Errorf("got %+v, %v, want what was stored", s, err)
			}
		})
	}
}

// Where the filter is made again, what it is built on may change, within its range.
func TestRebuild(t *testing.T) {
	crawl := stored(t, func(s *Settings) { s.FP, s.Retries = 0.01, 7 })
	s, err := Rebuild(crawl, "", nil, parse(t, "--fp=0.1%", "--expect=5M"))
	if err != nil || s.FP != 0.001 || s.Expect.Or(0) != 5_000_000 || s.Retries != 7 {
		t.Errorf("got %+v, %v, want the new fp and expect, and the rest as it was stored", s, err)
	}
	if _, err := Rebuild(crawl, "", nil, parse(t, "--fp=60%")); err == nil {
		t.Error("an fp of 60% passes")
	}
}

// What is said when a crawl goes on goes over what was stored, in the usual order.
func TestResumeChanges(t *testing.T) {
	crawl := stored(t, func(s *Settings) { s.Retries, s.MaxPages, s.Concurrency = 7, Some[Count](5), 3 })
	s, err := Resume(crawl, write(t, "retries: 1\nmax_pages: none\n"), []string{"CRAWL_RETRIES=2"}, parse(t, "--timeout=5s"))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Retries, want.Concurrency, want.Timeout = 2, 3, 5e9
	if s.Retries != want.Retries || s.Concurrency != want.Concurrency || s.Timeout != want.Timeout || s.MaxPages != want.MaxPages {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

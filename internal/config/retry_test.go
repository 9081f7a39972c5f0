package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestRetryRules(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       []RetryRule
	}{
		{"none", "", nil},
		{"nothing said", "retry: {}", nil},
		{"the example", retryExample, []RetryRule{
			{"dns", new(Count(5)), new(Duration(120e9))}, {Class: "status_503", Delay: new(Duration(300e9))},
			{Class: "status_5xx", Retries: new(Count(0))},
		}},
		{"in lines", "retry:\n  tls:\n    delay: 0\n  reset:\n    retries: 1", []RetryRule{
			{Class: "tls", Delay: new(Duration(0))}, {Class: "reset", Retries: new(Count(1))},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Load(write(t, tt.file), []string{"CRAWL_RETRY=dns"}, nil) // no variable sets it
			if err != nil || !reflect.DeepEqual(s.Retry, tt.want) {
				t.Fatalf("got %+v, %v, want %+v", s.Retry, err, tt.want)
			}
			if text, back := rendered(t, s); !reflect.DeepEqual(back, s) {
				t.Errorf("read back as %+v:\n%s", back, text)
			}
		})
	}
}

// A file that is read over another replaces all of it, as it does a list.
func TestRetryRulesAreReplaced(t *testing.T) {
	crawl := stored(t, func(s *Settings) { s.Retry = []RetryRule{{Class: "dns", Retries: new(Count(9))}} })
	s, err := Resume(crawl, write(t, "retry: {tls: {retries: 1}}"), nil, nil)
	if err != nil || len(s.Retry) != 1 || s.Retry[0].Class != "tls" {
		t.Errorf("got %+v, %v", s.Retry, err)
	}
	if s, err = Resume(crawl, "", nil, nil); err != nil || len(s.Retry) != 1 || *s.Retry[0].Retries != 9 {
		t.Errorf("got %+v, %v", s.Retry, err)
	}
}

func TestRetryProblems(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"a list", "retry: [dns]", "crawl.yaml:1:8: retry: want a mapping of keys to values, got a list"},
		{"nothing", "retry:\n  dns:", "crawl.yaml:2:3: retry: want a mapping of keys to values for dns, got nothing"},
		{"no such class", "retry:\n  dnss: {retries: 1}", `crawl.yaml:2:3: retry: no key "dnss"; the nearest is dns`},
		{"no such key", "retry: {dns: {retry: 1}}", `crawl.yaml:1:15: retry: no key "retry"`},
		{"out of range", "retry: {dns: {retries: 101, delay: 25h}}", "crawl.yaml:1:24: retry: retries: want from 0 to 100, got 101"},
		{"too long", "retry: {dns: {delay: 25h}}", "crawl.yaml:1:22: retry: delay: want from 0s to 24h, got 25h"},
		{"a class with nothing", "retry: {dial: {}}", "crawl.yaml:1:8: retry: want retries or delay for each class (dial has neither), got dial"},
		{"no time", "retry: {tls: {delay: 3}}", "crawl.yaml:1:22: retry: delay: want a time with its unit, such as 1s, 1m30s or 250ms, got \"3\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, tt.file)
			_, err := Load(file, nil, nil)
			if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), file, "crawl.yaml"), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// A program may set what no file could.
func TestRetryIsJudged(t *testing.T) {
	for _, rules := range [][]RetryRule{
		{{Class: "weather"}}, {{Class: "dns"}, {Class: "dns"}}, {{Class: "dns", Retries: new(Count(-1))}},
	} {
		s := Default()
		s.Retry = rules
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "retry") {
			t.Errorf("%+v: %v", rules, err)
		}
	}
}

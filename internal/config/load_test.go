package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// write puts a file into a folder of the test's own.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "crawl.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// parse returns flags as a command line gives them.
func parse(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	s := Default()
	s.Register(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return fs
}

// A flag goes over the environment, that over the file, that over the default.
func TestPrecedence(t *testing.T) {
	delay := func(s Settings) any { return time.Duration(s.HostDelay) }
	pages := func(s Settings) any { return s.MaxPages.String() }
	exclude := func(s Settings) any { return s.Exclude }
	private := func(s Settings) any { return s.AllowPrivate }
	insecure := func(s Settings) any { return s.Insecure }
	hosts := func(s Settings) any { return s.Hosts }
	for _, tt := range []struct {
		name, file string
		env, args  []string
		get        func(Settings) any
		want       any
	}{
		{"default", "", nil, nil, delay, time.Second},
		{"file", "host_delay: 2s", nil, nil, delay, 2 * time.Second},
		{"file over nothing else", "host_delay: 0", nil, nil, delay, time.Duration(0)},
		{"environment over file", "host_delay: 2s", []string{"CRAWL_HOST_DELAY=3s"}, nil, delay, 3 * time.Second},
		{"last of two variables", "", []string{"CRAWL_HOST_DELAY=3s", "CRAWL_HOST_DELAY=4s"}, nil, delay, 4 * time.Second},
		{"empty variable is not set", "host_delay: 2s", []string{"CRAWL_HOST_DELAY="}, nil, delay, 2 * time.Second},
		{"flag over all", "host_delay: 2s", []string{"CRAWL_HOST_DELAY=3s"}, []string{"--host-delay=4s"}, delay, 4 * time.Second},
		{"flag back to the default", "host_delay: 2s", nil, []string{"--host-delay=1s"}, delay, time.Second},
		{"alias", "host_delay: 2s", nil, []string{"--delay", "5s"}, delay, 5 * time.Second},
		{"last of alias and flag", "", nil, []string{"--delay", "5s", "--host-delay=6s"}, delay, 6 * time.Second},
		{"last of flag and alias", "", nil, []string{"--host-delay=6s", "--delay=5s"}, delay, 5 * time.Second},

		{"no limit by default", "", nil, nil, pages, "none"},
		{"null is no limit", "max_pages: ~", nil, nil, pages, "none"},
		{"nothing is no limit", "max_pages:", nil, nil, pages, "none"},
		{"none is no limit", "max_pages: none", nil, nil, pages, "none"},
		{"zero is zero", "max_pages: 0", nil, nil, pages, "0"},
		{"none over a limit", "max_pages: 5", nil, []string{"--max-pages=none"}, pages, "none"},
		{"null over a default", "give_up_after: null", nil, nil, func(s Settings) any { return s.GiveUpAfter.String() }, "none"},
		{"quoted", `max_pages: "5"`, nil, nil, pages, "5"},
		{"exponent", `max_pages: 1e3`, nil, nil, pages, "1000"},
		{"leading zero", `max_pages: 010`, nil, nil, pages, "10"},
		{"anchored on a line of its own", "max_pages:\n  7", nil, nil, pages, "7"},

		{"list", "exclude: [a, 'b c']", nil, nil, exclude, []Pattern{"a", "b c"}},
		{"list of lines", "exclude:\n  - a\n  - \"b\"", nil, nil, exclude, []Pattern{"a", "b"}},
		{"block", "exclude:\n  - |\n    a", nil, nil, exclude, []Pattern{"a"}},
		{"a variable replaces a list", "exclude: [a]", []string{"CRAWL_EXCLUDE=b  c"}, nil, exclude, []Pattern{"b", "c"}},
		{"flags replace a list", "exclude: [a]", []string{"CRAWL_EXCLUDE=b"}, []string{"--exclude=c,d", "--exclude", "e"}, exclude, []Pattern{"c,d", "e"}},
		{"a flag empties a list", "exclude: [a]", nil, []string{"--exclude="}, exclude, []Pattern(nil)},
		{"bare flag", "", nil, []string{"--allow-private"}, private, []Private{AllPrivate}},
		{"named", "", nil, []string{"--allow-private=127.0.0.1", "--allow-private=localhost"}, private, []Private{"127.0.0.1", "localhost"}},

		{"switch", "insecure: true", nil, nil, insecure, true},
		{"variable 1", "", []string{"CRAWL_INSECURE=1"}, nil, insecure, true},
		{"short flag", "", nil, []string{"-k"}, insecure, true},
		{"switched off", "insecure: true", nil, []string{"--insecure=false"}, insecure, false},
		{"no variable for a file alone", "", []string{"CRAWL_EXTRACT=x"}, nil, func(s Settings) any { return s.Extract }, []Extract(nil)},
		{"extract", "extract:\n  - {field: a, selector: .x}\n  - field: b\n    selector: p\n    attr: id\n    all: true", nil, nil,
			func(s Settings) any { return s.Extract }, []Extract{{Field: "a", Selector: ".x"}, {Field: "b", Selector: "p", Attr: "id", All: true}}},
		{"extract of some pages", "extract:\n  - {field: a, selector: .x, html: true, pages: '/p/'}", nil, nil,
			func(s Settings) any { return s.Extract }, []Extract{{Field: "a", Selector: ".x", HTML: true, Pages: "/p/"}}},

		{"no variable for hosts", "", []string{"CRAWL_HOSTS=a.example"}, nil, hosts, []HostRule(nil)},
		{"hosts", "hosts:\n  - {pattern: A.Example, delay: 0, concurrency: 2, robots: ignore, max_pages: 0, max_bytes: 1Mi}\n" +
			"  - pattern: '*.bücher.example'\n    max_pages: none\n    max_bytes:\n  - pattern: a.example\n    cookies: on\n", nil, nil, hosts, []HostRule{
			{
				Pattern: "a.example", Delay: new(Duration(0)), Concurrency: new(Count(2)), Robots: new(RobotsIgnore),
				MaxPages: new(Some[Count](0)), MaxBytes: new(Some[Size](1 << 20)),
			},
			{Pattern: "*.xn--bcher-kva.example", MaxPages: new(Optional[Count]{}), MaxBytes: new(Optional[Size]{})},
			{Pattern: "a.example", Cookies: new(CookiesOn)},
		}},
		{"limits of bytes", "max_bytes: 10Gi", []string{"CRAWL_MAX_BYTES_PER_HOST=1M"}, []string{"--min-free=0", "--max-pages-per-host=7"},
			func(s Settings) any {
				return []string{s.MaxBytes.String(), s.MaxBytesPerHost.String(), s.MinFree.String(), s.MaxPagesPerHost.String()}
			}, []string{"10Gi", "1M", "0", "7"}},
		{"memory", "max_hosts: 5k", nil, []string{"--max-tasks=1M", "--per-ip"},
			func(s Settings) any { return []any{s.MaxHosts, s.MaxTasks, s.PerIP} }, []any{Count(5000), Count(1e6), true}},

		{"empty file", "", nil, nil, delay, time.Second},
		{"comments only", "# nothing\n", nil, nil, delay, time.Second},
		{"mark and two-byte line ends", "\ufeff# x\r\nhost_delay: 2s\r\n", nil, nil, delay, 2 * time.Second},
		{"document marks", "---\nhost_delay: 2s\n...\n", nil, nil, delay, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Load(write(t, tt.file), tt.env, parse(t, tt.args...))
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.get(s); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestLoadNothing(t *testing.T) {
	s, err := Load("", nil, nil)
	if err != nil || !reflect.DeepEqual(s, Default()) {
		t.Errorf("got %+v, %v, want the defaults", s, err)
	}
}

// Each problem is named with its place, what is wanted and what was got.
func TestFileProblems(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"wrong value", "# x\nhost_delay: 3\n", `
crawl.yaml:2:13: host_delay: want a time with its unit, such as 1s, 1m30s or 250ms, got "3"
    2 | host_delay: 3
      |             ^`},
		{"after characters of many bytes", `contact: "ü@ü.example"`, `
crawl.yaml:1:10: contact: want a URL or a mail address, got "ü@ü.example"
    1 | contact: "ü@ü.example"
      |          ^`},
		{"out of range", "\n\nconcurrency:   0\n", `
crawl.yaml:3:16: concurrency: want from 1 to 65536, got 0
    3 | concurrency:   0
      |                ^`},
		{"unknown key", "host-delay: 3s", `
crawl.yaml:1:1: no key "host-delay"; the nearest is host_delay
    1 | host-delay: 3s
      | ^`},
		{"name of a flag alone", "delay: 3s", `
crawl.yaml:1:1: no key "delay"; the nearest is host_delay
    1 | delay: 3s
      | ^`},
		{"unlike any key", "colour: red", `
crawl.yaml:1:1: no key "colour"
    1 | colour: red
      | ^`},
		{"flag alone", "json: true", `
crawl.yaml:1:1: no key "json"
    1 | json: true
      | ^`},
		{"twice", "retries: 1\nretries: 2", `
crawl.yaml:2:1: mapping key "retries" already defined at [1:1]
    2 | retries: 2
      | ^`},
		{"list for a value", "grace: [1s]", `
crawl.yaml:1:8: grace: want a single value, got a list
    1 | grace: [1s]
      |        ^`},
		{"mapping for a value", "scope: {host: a}", `
crawl.yaml:1:8: scope: want a single value, got a mapping
    1 | scope: {host: a}
      |        ^`},
		{"value for a list", "include: a", `
crawl.yaml:1:10: include: want a list, got "a"
    1 | include: a
      |          ^`},
		{"nothing for a list", "include:", `
crawl.yaml:1:1: include: want a list, got nothing
    1 | include:
      | ^`},
		{"nothing for a value", "timeout: ~", `
crawl.yaml:1:1: timeout: want a single value, got nothing
    1 | timeout: ~
      | ^`},
		{"alias", "timeout: &t 5s\ngrace: *t", `
crawl.yaml:1:10: timeout: want a single value, got an anchor, alias or tag, none of which is read here
    1 | timeout: &t 5s
      |          ^
crawl.yaml:2:8: grace: want a single value, got an anchor, alias or tag, none of which is read here
    2 | grace: *t
      |        ^`},
		{"elements of a list", "exclude: ['(', x, '[']", `
crawl.yaml:1:11: exclude: want a regular expression (missing closing ) in it), got "("
    1 | exclude: ['(', x, '[']
      |           ^
crawl.yaml:1:19: exclude: want a regular expression (missing closing ] in it), got "["
    1 | exclude: ['(', x, '[']
      |                   ^`},
		{"elements of two kinds", "exclude: [[a], '(']", `
crawl.yaml:1:11: exclude: want a single value, got a list
    1 | exclude: [[a], '(']
      |           ^
crawl.yaml:1:16: exclude: want a regular expression (missing closing ) in it), got "("
    1 | exclude: [[a], '(']
      |                ^`},
		{"unknown key of an entry", "extract:\n  - {field: a, selektor: b}\n", `
crawl.yaml:2:16: extract: no key "selektor"; the nearest is selector
    2 |   - {field: a, selektor: b}
      |                ^`},
		{"wrong value in an entry", "extract:\n  - field: a\n    selector: p\n    all: 5", `
crawl.yaml:4:10: extract: all: want true or false, got "5"
    4 |     all: 5
      |          ^`},
		{"control character in an entry", "extract:\n  - field: \"a\\tb\"\n    selector: p", `
crawl.yaml:2:12: extract: field: want text without control characters, got "a\tb"
    2 |   - field: "a\tb"
      |            ^`},
		{"list in an entry", "extract:\n  - field: [a]\n    selector: p", `
crawl.yaml:2:12: extract: want a single value for field, got a list
    2 |   - field: [a]
      |            ^`},
		{"entry that is none", "extract: [a]", `
crawl.yaml:1:11: extract: want a mapping of keys to values, got "a"
    1 | extract: [a]
      |           ^`},
		{"entries that are none", "extract: {field: a}", `
crawl.yaml:1:10: extract: want a list, got a mapping
    1 | extract: {field: a}
      |          ^`},
		{"repeated field", "extract: [{field: a, selector: p}, {field: a, selector: q}]", `
crawl.yaml:1:10: extract: want each field once (entry 2 repeats one), got a, a
    1 | extract: [{field: a, selector: p}, {field: a, selector: q}]
      |          ^`},
		{"entry without selector", "extract: [{field: a}]", `
crawl.yaml:1:10: extract: want field and selector in each entry (entry 1 lacks one), got a
    1 | extract: [{field: a}]
      |          ^`},
		{"unknown key of a host's entry", "hosts:\n  - pattern: a.example\n    host_delay: 1s\n", `
crawl.yaml:3:5: hosts: no key "host_delay"
    3 |     host_delay: 1s
      |     ^`},
		{"misspelt key of a host's entry", "hosts:\n  - pattern: a.example\n    max-page: 1\n", `
crawl.yaml:3:5: hosts: no key "max-page"; the nearest is max_pages
    3 |     max-page: 1
      |     ^`},
		{"wrong values for hosts", "hosts:\n  - {pattern: 'a b', delay: 3}\n  - {pattern: '*', concurrency: 0, robots: none}\n", `
crawl.yaml:2:15: hosts: pattern: want a host such as a.example, a.example:8080, *.example or *, got "a b"
    2 |   - {pattern: 'a b', delay: 3}
      |               ^
crawl.yaml:2:29: hosts: delay: want a time with its unit, such as 1s, 1m30s or 250ms, got "3"
    2 |   - {pattern: 'a b', delay: 3}
      |                             ^
crawl.yaml:3:33: hosts: concurrency: want from 1 to 65536, got 0
    3 |   - {pattern: '*', concurrency: 0, robots: none}
      |                                 ^
crawl.yaml:3:44: hosts: robots: want one of obey, ignore, got "none"
    3 |   - {pattern: '*', concurrency: 0, robots: none}
      |                                            ^`},
		{"nothing for a host's key", "hosts:\n  - pattern: a.example\n    delay:\n", `
crawl.yaml:3:5: hosts: want a single value for delay, got nothing
    3 |     delay:
      |     ^`},
		{"pattern without quotes", "hosts:\n  - pattern: *.example\n", `
crawl.yaml:2:14: hosts: want a single value for pattern, got an anchor, alias or tag, none of which is read here
    2 |   - pattern: *.example
      |              ^`},
		{"host's entry without anything else", "hosts:\n  - {pattern: a.example, headers: []}\n", `
crawl.yaml:2:3: hosts: want what differs for those hosts in each entry, such as delay: 5s (entry 1 says nothing), got a.example
    2 |   - {pattern: a.example, headers: []}
      |   ^`},
		{"pages that are the same by nothing", "same_page:\n  - {pattern: a.example, slash: false}\n", `
crawl.yaml:2:3: same_page: want what counts as one page in each entry, such as sort_parameters: true (entry 1 says nothing), got a.example
    2 |   - {pattern: a.example, slash: false}
      |   ^`},
		{"every parameter", "same_page:\n  - drop_parameters: ['*']\n", `
crawl.yaml:2:23: same_page: drop_parameters: want the name of a parameter, or the start of one and a star, such as utm_*, got "*"
    2 |   - drop_parameters: ['*']
      |                       ^`},
		{"host's entry without pattern", "hosts:\n  - delay: 3s\n", `
crawl.yaml:2:3: hosts: want pattern in each entry (entry 1 lacks one), got ""
    2 |   - delay: 3s
      |   ^`},
		{"list", "- a", `
crawl.yaml:1:1: want a mapping of keys to values, got a list
    1 | - a
      | ^`},
		{"two documents", "retries: 1\n---\nretries: 2\n", `
crawl.yaml:2:1: want one document, got a second
    2 | ---
      | ^`},
		{"no YAML", "exclude: [a\n", `
crawl.yaml:1:10: sequence end token ']' not found
    1 | exclude: [a
      |          ^`},
		{"tab", "retries: 1\n\tgrace: 1s\n", `
crawl.yaml:2:1: found character '	' that cannot start any token
    2 |  grace: 1s
      | ^`},
		{"all at once", "retries: -1\nmax_depht: 3\nfp: 2\nmax_body: 0\n", `
crawl.yaml:1:10: retries: want a whole number such as 500, 200k or 1.5M, got "-1"
    1 | retries: -1
      |          ^
crawl.yaml:2:1: no key "max_depht"; the nearest is max_depth
    2 | max_depht: 3
      | ^
crawl.yaml:3:5: fp: want a rate between 0 and 1, such as 0.1% or 0.001, got "2"
    3 | fp: 2
      |     ^
crawl.yaml:4:11: max_body: want from 1 to 1Ti, got 0
    4 | max_body: 0
      |           ^`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := write(t, tt.file)
			_, err := Load(name, nil, nil)
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.ReplaceAll(err.Error(), name, "crawl.yaml")
			if want := strings.TrimPrefix(tt.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestOtherProblems(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		env, args  []string
		want       string
	}{
		{"variable", "", []string{"CRAWL_HOST_DELAY=soon"}, nil,
			`CRAWL_HOST_DELAY: want a time with its unit, such as 1s, 1m30s or 250ms, got "soon"`},
		{"flag", "", nil, []string{"--delay=soon"}, `--host-delay: want a time with its unit, such as 1s, 1m30s or 250ms, got "soon"`},
		{"every element", "", nil, []string{"--include=(", "--include=a", "--include=["}, `
--include: want a regular expression (missing closing ) in it), got "("
--include: want a regular expression (missing closing ] in it), got "["`},
		{"range", "", []string{"CRAWL_RETRIES=1000"}, nil, `CRAWL_RETRIES: want from 0 to 100, got 1000`},
		{"the place that counts", "retries: 1000", nil, []string{"--retries=2000"}, `--retries: want from 0 to 100, got 2000`},
		{"a range is judged for what holds", "fp: 60%", nil, []string{"--fp=1%"}, ""},
		{"a bad text is reported though another holds", "fp: x", nil, []string{"--fp=1%"}, `
crawl.yaml:1:5: fp: want a rate between 0 and 1, such as 0.1% or 0.001, got "x"
    1 | fp: x
      |     ^`},
		{"from all sources", "grace: x", []string{"CRAWL_TIMEOUT=0"}, []string{"--scope=all"}, `
crawl.yaml:1:8: grace: want a time with its unit, such as 1s, 1m30s or 250ms, got "x"
    1 | grace: x
      |        ^
--scope: want one of host, domain, prefix, any, got "all"
CRAWL_TIMEOUT: want from 1ms to 24h, got 0s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := write(t, tt.file)
			_, err := Load(name, tt.env, parse(t, tt.args...))
			got := ""
			if err != nil {
				got = strings.ReplaceAll(err.Error(), name, "crawl.yaml")
			}
			if want := strings.TrimPrefix(tt.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"), nil, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func TestLargeFile(t *testing.T) {
	_, err := Load(write(t, strings.Repeat("https://a.example/\n", maxFileBytes/18)), nil, nil)
	if e, ok := errors.AsType[*Error](err); !ok || e.Problem != "want a file of settings, got more than 4Mi" {
		t.Errorf("got %v, want it refused for its size", err)
	}
}

// A program that sets what no text says is told the same.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(*Settings)
		want string
	}{
		{"zero", func(s *Settings) { s.Concurrency = 0 }, "concurrency: want from 1 to 65536, got 0"},
		{"negative", func(s *Settings) { s.HostDelay = -1 }, "host_delay: want a time with its unit, such as 1s, 1m30s or 250ms, got \"-1ns\""},
		{"no choice", func(s *Settings) { s.Scope = "" }, `scope: want one of host, domain, prefix, any, got ""`},
		{"pattern", func(s *Settings) { s.Exclude = []Pattern{"a", "("} },
			`exclude: want a regular expression (missing closing ) in it), got a, "("`},
		{"header in the agent", func(s *Settings) { s.UserAgent = "a\r\nb: c" },
			`user_agent: want a product name, then what you like in ASCII, such as mybot/1.0, got "a\r\nb: c"`},
		{"rate", func(s *Settings) { s.FP = 0 }, "fp: want a rate between 0 and 1, such as 0.1% or 0.001, got 0"},
		{"limit", func(s *Settings) { s.GiveUpAfter = Some[Count](0) }, "give_up_after: want 1 or more, or none, got 0"},
		{"control character", func(s *Settings) { s.Extract = []Extract{{Field: "a\n", Selector: "p"}} },
			`extract: want no control characters (entry 1 has one), got "a\n"`},
		{"host without pattern", func(s *Settings) { s.Hosts = []HostRule{{Pattern: "a", Delay: new(Duration(1))}, {}} },
			`hosts: want pattern in each entry (entry 2 lacks one), got a, ""`},
		{"host's pattern", func(s *Settings) { s.Hosts = []HostRule{{Pattern: "a b"}} },
			`hosts: want pattern a host such as a.example, a.example:8080, *.example or * (entry 1), got "a b"`},
		{"host's delay", func(s *Settings) { s.Hosts = []HostRule{{Pattern: "a", Delay: new(Duration(-1))}} },
			`hosts: want delay a time with its unit, such as 1s, 1m30s or 250ms (entry 1), got a`},
		{"host's concurrency", func(s *Settings) { s.Hosts = []HostRule{{Pattern: "a", Concurrency: new(Count(70_000))}} },
			`hosts: want concurrency from 1 to 65536 (entry 1), got a`},
		{"no pages of a host", func(s *Settings) { s.MaxPagesPerHost = Some[Count](0) },
			"max_pages_per_host: want 1 or more, or none, got 0"},
		{"limit that cannot be counted", func(s *Settings) { s.MaxDepth = Some[Count](3e9) },
			"max_depth: want 2147483647 at most, or none, got 3G"},
		{"longer than any URL", func(s *Settings) { s.MaxURL = Some[Size](64e3) }, "max_url: want 16Ki at most, or none, got 64k"},
		{"nothing different for a host", func(s *Settings) { s.Hosts = []HostRule{{Pattern: "a"}} },
			"hosts: want what differs for those hosts in each entry, such as delay: 5s (entry 1 says nothing), got a"},
		{"nothing that counts as one page", func(s *Settings) { s.SamePage = []SamePage{{Slash: true}, {Pattern: new(HostPattern("a"))}} },
			`same_page: want what counts as one page in each entry, such as sort_parameters: true (entry 2 says nothing), got "*", a`},
		{"no memory for a body", func(s *Settings) { s.MaxBody = 1 << 30 }, "body_memory: want from 2180Mi to 64Ti, got 512Mi"},
		{"two", func(s *Settings) { s.Retries, s.MaxBody = 101, 0 },
			"max_body: want from 1 to 1Ti, got 0\nretries: want from 0 to 100, got 101"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Default()
			tt.set(&s)
			err := s.Validate()
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestUnknown(t *testing.T) {
	var got []string
	for _, err := range Unknown([]string{"CRAWL_FP=1%", "CRAWL_MAX_PAGE=3", "PATH=/bin", "CRAWL_TOKEN=x",
		"CRAWL_JSON=1", "CRAWL_DIR=x", "CRAWL_DELAY=3s"}, "CRAWL_DIR") {
		got = append(got, err.Error())
	}
	want := []string{
		"CRAWL_MAX_PAGE: no setting of this name; the nearest is CRAWL_MAX_PAGES",
		"CRAWL_TOKEN: no setting of this name",
		"CRAWL_JSON: no setting of this name",
		"CRAWL_DELAY: no setting of this name; the nearest is CRAWL_HOST_DELAY",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever a file holds, reading it ends in settings or in an error that says where.
func FuzzFile(f *testing.F) {
	f.Add("host_delay: 1s\nexclude: ['(', x]\nextract: [{field: a, selector: b}]\n")
	f.Add("hosts:\n  - {pattern: '*.a.example', delay: 1s, max_pages: none}\n  - max_bytes:\n  - pattern: '[::1]:8080'\n")
	f.Add("a: &a [*a]\n<<: *a\n? {a: b}\n: c\n")
	f.Add("---\n- \xff\n...\n--- |\n")
	f.Add(string(Template()))
	f.Fuzz(func(t *testing.T, text string) {
		l := newLoader()
		l.yaml("crawl.yaml", text)
		for _, problem := range l.problems {
			if e, ok := errors.AsType[*Error](problem); !ok || !strings.HasPrefix(e.Place, "crawl.yaml") {
				t.Errorf("%q gives %v", text, problem)
			}
		}
	})
}

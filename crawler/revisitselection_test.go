package crawler

import (
	"slices"
	"strings"
	"testing"

	"crawl/store"
)

func TestSelectionValidate(t *testing.T) {
	codes := ": want one of " + strings.Join(errorCodes(), ", ") + ", or what they begin with"
	for _, tt := range []struct {
		name string
		s    Selection
		want string
	}{
		{"nothing", Selection{}, "nothing is selected: want a status, an error, an outcome or a host"},
		{"a status", Selection{Status: []string{"5x"}}, `status: want one such as 404 or 5xx, got "5x"`},
		{"a letter", Selection{Status: []string{"5yx"}}, `status: want one such as 404 or 5xx, got "5yx"`},
		{"an error", Selection{Error: []string{""}}, "error: want a code such as dns or timeout, got none"},
		{"no class of statuses", Selection{Status: []string{"700"}}, `status: want one such as 404 or 5xx, got "700"`},
		{"an unknown error", Selection{Error: []string{"foo"}}, `unknown error "foo"` + codes},
		{"half a word", Selection{Error: []string{"time", "status_5xx"}}, "unknown error \"time\"" + codes + "\nunknown error \"status_5xx\"" + codes},
		{"a host", Selection{Hosts: []string{"a b"}}, `host: want a host such as a.example, a.example:8080, *.example or *, got "a b": no host of a URL`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.s.Validate(); err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// Which records a selection takes.
func TestSelects(t *testing.T) {
	page := func(url string, outcome store.Outcome, status int, code string) *store.Page {
		p := &store.Page{URL: url, Outcome: outcome, Status: status}
		if code != "" {
			p.Error = &store.PageError{Code: code}
		}
		return p
	}
	down := page("http://a.test/", store.OutcomeFailed, 0, "dns_timeout")
	broken := page("https://www.b.test:8443/x", store.OutcomeServerError, 503, "status_503")
	fine := page("http://b.test/", store.OutcomeOK, 200, "")
	six := page("http://[::1]:8080/", store.OutcomeOK, 200, "")
	for _, tt := range []struct {
		name string
		s    Selection
		want []*store.Page
	}{
		{"a status", Selection{Status: []string{"503"}}, []*store.Page{broken}},
		{"a class of statuses", Selection{Status: []string{"5xx"}}, []*store.Page{broken}},
		{"any status", Selection{Status: []string{"xxx"}}, []*store.Page{broken, fine, six}},
		{"an error", Selection{Error: []string{"dns_timeout"}}, []*store.Page{down}},
		{"a family of errors", Selection{Error: []string{"dns", "status"}}, []*store.Page{down, broken}},
		{"another word", Selection{Error: []string{"timeout", "status_50"}}, nil},
		{"an outcome", Selection{Outcome: []store.Outcome{store.OutcomeOK}}, []*store.Page{fine, six}},
		{"a status or an error", Selection{Status: []string{"2xx"}, Error: []string{"dns"}}, []*store.Page{down, fine, six}},
		{"a host", Selection{Hosts: []string{"B.test"}}, []*store.Page{fine}},
		{"all hosts below", Selection{Hosts: []string{"*.b.test"}}, []*store.Page{broken, fine}},
		{"a host and a status", Selection{Hosts: []string{"*.b.test"}, Status: []string{"5xx"}}, []*store.Page{broken}},
		{"a port", Selection{Hosts: []string{"*:8443"}}, []*store.Page{broken}},
		{"a scheme's own port", Selection{Hosts: []string{"b.test:443"}}, []*store.Page{fine}},
		{"an address", Selection{Hosts: []string{"[::1]"}}, []*store.Page{six}},
		{"an address and a port", Selection{Hosts: []string{"[::1]:8080"}}, []*store.Page{six}},
		{"every host", Selection{Hosts: []string{"*"}}, []*store.Page{down, broken, fine, six}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read, err := tt.s.compile()
			if err != nil {
				t.Fatal(err)
			}
			var got []*store.Page
			for _, p := range []*store.Page{down, broken, fine, six} {
				if read.selects(p) {
					got = append(got, p)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%d of them: %v", len(got), got)
			}
		})
	}
}

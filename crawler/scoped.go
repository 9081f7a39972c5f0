package crawler

import (
	"iter"
	"net/http"
	"slices"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/parse"
	"crawl/internal/scope"
)

// Scope says which URLs belong to the crawl. It is a list of rules, of which the last one that a URL meets decides: Mode is
// the first, and Include and Exclude are the last. Seeds are exempt.
type Scope struct {
	Mode    string      // host, domain, prefix or any: of the seeds
	Rules   []ScopeRule `json:",omitempty"`
	Include []string    // RE2; when given, a link must match one of them too
	Exclude []string    // RE2; wins over Include
}

// ScopeRule admits or refuses the URLs that meet all of its conditions. A condition with several values is met by any of
// them, one that is empty by all URLs.
type ScopeRule struct {
	Name  string // what statistics and records call it; empty: the conditions themselves
	Admit bool   // false: refuse

	Seeds        string   `json:",omitempty"` // a Scope.Mode: what the seeds reach by it
	Hosts        []string `json:",omitempty"` // a host (a.example), a name and all below it (*.example), or every host (*); with a port that one alone
	Domains      []string `json:",omitempty"` // registrable domains by the public suffix list, with every host below
	Prefixes     []string `json:",omitempty"` // what a URL starts with; without a scheme, http and https
	Regexps      []string `json:",omitempty"` // RE2, matched anywhere in the URL as it is requested
	Schemes      []string `json:",omitempty"` // http, https
	Ports        []int    `json:",omitempty"` // that are dialled, the scheme's default included
	MinDepth     *int     `json:",omitempty"` // links from a seed
	MaxDepth     *int     `json:",omitempty"`
	Classes      []string `json:",omitempty"` // navigation, requisite, sitemap: how it was linked
	ContentTypes []string `json:",omitempty"` // media types (text/html), or all of a kind (image/*); of an answer of 2xx
}

func (s Scope) compile() (*scope.Scope, error) {
	cfg := scope.Config{Mode: scope.Mode(s.Mode), Include: s.Include, Exclude: s.Exclude}
	for _, r := range s.Rules {
		cfg.Rules = append(cfg.Rules, scope.Rule(r))
	}
	return scope.New(cfg)
}

// NeedsSeeds reports whether what is admitted depends on the seeds.
func (s Scope) NeedsSeeds() bool {
	return s.Mode != string(scope.Any) || slices.ContainsFunc(s.Rules, func(r ScopeRule) bool { return r.Seeds != "" })
}

// Scoped is what the scope says of a URL: a line of `crawl inspect scope`.
type Scoped struct {
	URL      string `json:"url"` // as it is requested; of what is no URL, the text
	Admitted bool   `json:"admitted"`
	Rule     string `json:"rule"`             // that decides; of what is no URL, the reason under which its link is counted
	Unless   string `json:"unless,omitempty"` // a rule that may have another word once more is known of the URL, its content type say
	Error    string `json:"error,omitempty"`  // why it is no URL
}

// Linked is what is known of a URL besides itself, where a Scope is asked about it.
type Linked struct {
	Depth       *int   // links from a seed; nil: not known
	Class       string // navigation, requisite or sitemap; empty: not known
	ContentType string // as the head of an answer has it; empty: not known
}

// Test says whether URLs belong to a crawl of the given seeds: it is what the crawl itself would say. An error is of the
// seeds, or says what is wrong with the Scope.
func (s Scope) Test(seeds iter.Seq2[Seed, error], urls []string, l Linked) ([]Scoped, error) {
	inScope, err := s.compile()
	if err != nil {
		return nil, err
	}
	for seed, err := range seeds {
		if err != nil {
			return nil, err
		}
		u, _, err := seed.parse()
		if err != nil {
			return nil, err
		}
		inScope.AddSeed(u)
	}
	at := scope.Place{Depth: scope.UnknownDepth, Class: l.Class, ContentType: parse.DeclaredType(l.ContentType)}
	if l.Depth != nil {
		at.Depth = *l.Depth
	}
	out := make([]Scoped, len(urls))
	for i, text := range urls {
		out[i] = scoped(inScope, text, at)
	}
	return out, nil
}

func scoped(inScope *scope.Scope, text string, at scope.Place) Scoped {
	u, err := rules.Parse(canon.URL{}, text)
	if err == nil && tooLong(u) {
		err = errTooLong
	}
	if err != nil {
		return Scoped{URL: text, Rule: reasonOf(err).String(), Error: err.Error()}
	}
	verdict := inScope.Test(u, at)
	return Scoped{URL: u.String(), Admitted: verdict.Admitted, Rule: verdict.Rule, Unless: verdict.Unless}
}

// placeOf is what is known of a task before its request.
func placeOf(t *frontier.Task) scope.Place {
	return scope.Place{Depth: t.Depth, Class: t.Class.String()}
}

// wantOf returns how much of a page's body is wanted, given its head: nothing of what the scope refuses by its content type.
func (c *Crawler) wantOf(l *frontier.Lease) func(int, http.Header) int64 {
	if !c.asksType(l) {
		return c.want
	}
	return func(status int, h http.Header) int64 {
		if mediaType := parse.DeclaredType(parse.ContentType(h)); mediaType != "" && isPage(status) && !c.testType(l, mediaType).Admitted {
			return 0
		}
		return c.want(status, h)
	}
}

// asksType reports whether a page's content type matters to the scope, from which seeds are exempt, and to which checks do
// not belong.
func (c *Crawler) asksType(l *frontier.Lease) bool {
	return c.scope.AsksType() && l.Class > frontier.Added && l.Class != frontier.Check
}

// isPage tells answers with a page from errors and redirects, whose content type does not count.
func isPage(status int) bool { return status >= 200 && status <= 300 }

func (c *Crawler) testType(l *frontier.Lease, mediaType string) scope.Verdict {
	at := placeOf(&l.Task)
	at.ContentType = mediaType
	return c.scope.Test(l.URL, at)
}

// outOfType ends a visit whose page the scope refuses by its content type.
func (c *Crawler) outOfType(v *visit, r *fetch.Result) bool {
	if !c.asksType(&v.lease) || !isPage(r.Status) {
		return false
	}
	verdict := c.testType(&v.lease, parse.MediaType(parse.ContentType(r.Header), r.Body))
	if verdict.Admitted {
		return false
	}
	v.refuseBy(OutOfScope, verdict.Rule, verdict.Rule)
	v.page.Truncated, v.page.Digest = "", "" // not for want of room
	return true
}

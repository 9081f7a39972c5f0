package crawler

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"crawl/canon"
	"crawl/internal/parse"
	"crawl/internal/scope"
)

// trapHosts names the rule in statistics.
const trapHosts = "alike_hosts"

// alikeHosts watches what hosts of one registrable domain say. A name server can answer for every name below a domain, so
// that one site has endless names: a.b.c.example.com, each with links to new ones. Those of many sites under one roof are as
// many, but say different things.
//
// Of each host below a domain the first page is looked at, without the words and numbers of its own URL. Once hosts in a row
// have said what others had said, no further host of that domain is asked. Hosts of seeds, those that said something of
// their own and the first ones of a domain are exempt. Which domains are shut, and what is exempt, is part of the crawl's
// state; how far others have come is not.
type alikeHosts struct {
	limit int       // hosts in a row; 0: none are watched
	seeds hostNames // are exempt, and where these redirect to
	from  int       // hosts of a domain before one is looked at

	any atomic.Bool // a domain is shut: else there is nothing to ask

	mu      sync.RWMutex // guards all below
	domains map[string]*alikeDomain
	met     int // hosts in domains
	shut    map[string]*alikeDomain
}

type alikeDomain struct {
	met    map[uint64]struct{} // hosts, by a hash of their names
	run    int                 // hosts that said what another one had said, less unlikeWeighs for each that did not
	said   map[uint64]struct{} // parse.Gist
	exempt map[string]struct{} // hosts that stay
}

const (
	fromHosts      = 1 << 6  // at most of alikeHosts.from
	maxHostsMet    = 1 << 17 // that are remembered
	maxExemptHosts = 1 << 10 // of one domain
)

// newAlikeHosts watches nothing where the scope admits no hosts but those of seeds.
func newAlikeHosts(limit *int, within Scope) *alikeHosts {
	a := &alikeHosts{domains: make(map[string]*alikeDomain), shut: make(map[string]*alikeDomain)}
	if limit != nil && within.hasOtherHosts() {
		a.limit = *limit
		a.from = min(a.limit/4, fromHosts)
	}
	return a
}

// hasOtherHosts reports whether hosts are admitted that no seed names.
func (s Scope) hasOtherHosts() bool {
	return s.Mode == string(scope.Domain) || s.Mode == string(scope.Any) ||
		slices.ContainsFunc(s.Rules, func(r ScopeRule) bool { return r.Admit })
}

// exempt has a host that a seed names, or redirects to, exempt from the rule.
func (a *alikeHosts) exempt(host string) {
	if a.limit > 0 {
		a.seeds.add(host)
	}
}

// read takes in a page. It returns the domain that is shut by it.
func (a *alikeHosts) read(u canon.URL, body []byte) (shut string) {
	if a.limit == 0 || a.seeds.has(u.Host()) {
		return ""
	}
	name, ok := scope.Registrable(u.Host())
	if !ok {
		return ""
	}
	d, looked := a.meet(name, u.Host())
	if !looked {
		return ""
	}
	says := parse.Gist(body, u)
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, again := d.said[says]; !again {
		d.run = max(0, d.run-unlikeWeighs)
		d.spare(u.Host())
		if len(d.said) < maxSaid {
			d.said[says] = struct{}{}
		}
		return ""
	}
	if d.run++; d.run < a.limit || a.shut[name] != nil {
		return ""
	}
	a.close(name, d)
	return name
}

// meet notes a host of a domain, and reports whether what it says is to be looked at.
func (a *alikeHosts) meet(domain, host string) (d *alikeDomain, looked bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shut[domain] != nil {
		return nil, false
	}
	if a.met >= maxHostsMet {
		clear(a.domains)
		a.met = 0
	}
	if d = a.domains[domain]; d == nil {
		d = &alikeDomain{met: make(map[uint64]struct{}), said: make(map[uint64]struct{}), exempt: make(map[string]struct{})}
		a.domains[domain] = d
	}
	hash := xxhash.Sum64String(host)
	if _, before := d.met[hash]; before {
		return nil, false
	}
	d.met[hash] = struct{}{}
	a.met++
	if len(d.met) <= a.from {
		d.spare(host)
		return nil, false
	}
	return d, true
}

// spare exempts a host, unless too many are.
func (d *alikeDomain) spare(host string) {
	if len(d.exempt) < maxExemptHosts {
		d.exempt[strings.Clone(host)] = struct{}{}
	}
}

// close keeps of a domain which hosts are exempt.
func (a *alikeHosts) close(name string, d *alikeDomain) {
	if watched := a.domains[name]; watched != nil {
		a.met -= len(watched.met)
		delete(a.domains, name)
	}
	a.shut[name] = &alikeDomain{exempt: d.exempt}
	a.any.Store(true)
}

// spared returns the hosts of a domain that is shut which are asked nevertheless.
func (a *alikeHosts) spared(domain string) (hosts []string) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for host := range a.shut[domain].exempt {
		hosts = append(hosts, host)
	}
	return hosts
}

// hostsPattern names what is shut: hosts below a domain.
func hostsPattern(domain string) string { return "*." + domain }

// restore shuts a domain again.
func (a *alikeHosts) restore(domain string, spared []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := &alikeDomain{exempt: make(map[string]struct{}, len(spared))}
	for _, host := range spared {
		d.spare(host)
	}
	a.close(domain, d)
}

// refuses returns the domain of u if it is shut and u's host is not exempt.
func (a *alikeHosts) refuses(u canon.URL) (domain string, refused bool) {
	if !a.any.Load() || a.limit == 0 || a.seeds.has(u.Host()) {
		return "", false
	}
	domain, ok := scope.Registrable(u.Host())
	if !ok {
		return "", false
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	d := a.shut[domain]
	if d == nil {
		return "", false
	}
	_, spared := d.exempt[u.Host()]
	return domain, !spared
}

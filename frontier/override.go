package frontier

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"crawl/canon"
)

// Override is what holds for the hosts that match Pattern, where it differs from the Config. Nil fields change nothing.
// Where several match a host, the last one that sets a field decides it.
type Override struct {
	// Pattern is a host ("a.example"), with a port to mean that one alone ("a.example:8080"), all hosts below a name
	// and the name itself ("*.example", "*.example:8080"), or every host ("*", "*:8080"). Case and a dot at the end of
	// a name do not count. http and https of a host share a queue, so ports 80 and 443 both stand for that one too.
	Pattern string

	HostDelay       *time.Duration // 0: none
	HostConcurrency *int           // 1 or more
	IgnoreRobots    *bool
	MaxPages        *uint64 // page records of the host over the crawl's life; 0: the host is dropped; math.MaxUint64: no limit
	MaxBytes        *uint64 // body bytes of the host; math.MaxUint64: no limit
}

// Validate reports every problem at once, each under its key in config.yaml.
func (o Override) Validate() error {
	var errs []error
	bad := func(key, want string, got any) {
		errs = append(errs, fmt.Errorf("hosts: %s: %s: want %s, got %v", o.Pattern, key, want, got))
	}
	if _, err := canon.ParseHostPattern(o.Pattern); err != nil {
		errs = append(errs, fmt.Errorf("hosts: pattern: %w", err))
	}
	if o.HostDelay != nil && *o.HostDelay < 0 {
		bad("delay", "0s or more", *o.HostDelay)
	}
	if o.HostConcurrency != nil && *o.HostConcurrency < 1 {
		bad("concurrency", "1 or more", *o.HostConcurrency)
	}
	return errors.Join(errs...)
}

// site is a host without the dot at its end, and the port that names its queue. As a pattern's, an empty port is any.
type site struct{ name, port string }

// splitSite splits what canon.URL.Host returns.
func splitSite(host string) site {
	s := site{name: host}
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		s = site{name: host[:i], port: host[i+1:]}
	}
	s.name = strings.TrimSuffix(s.name, ".")
	return s
}

// isAddress reports whether the host is an IP address, which has no names above it. canon writes IPv6 in brackets, and
// takes no name that ends in a number.
func (s site) isAddress() bool {
	last := s.name[strings.LastIndexByte(s.name, '.')+1:]
	return strings.HasPrefix(s.name, "[") || strings.Trim(last, "0123456789") == ""
}

// policy is what holds for one host.
type policy struct {
	hostDelay          time.Duration
	hostConcurrency    int
	ignoreRobots       bool
	maxPages, maxBytes uint64 // math.MaxUint64: no limit
}

// change is what overrides make of one field: of two, the later one holds.
type change[T any] struct {
	at    int // place of its override in the list, from 1; 0: no change
	value T
}

func changeTo[T any](at int, value *T) change[T] {
	if value == nil {
		return change[T]{}
	}
	return change[T]{at, *value}
}

func (c *change[T]) join(other change[T]) {
	if other.at > c.at {
		*c = other
	}
}

func (c change[T]) apply(field *T) {
	if c.at > 0 {
		*field = c.value
	}
}

// changes are those of all fields of a policy.
type changes struct {
	hostDelay          change[time.Duration]
	hostConcurrency    change[int]
	ignoreRobots       change[bool]
	maxPages, maxBytes change[uint64]
}

func (c *changes) join(other *changes) {
	c.hostDelay.join(other.hostDelay)
	c.hostConcurrency.join(other.hostConcurrency)
	c.ignoreRobots.join(other.ignoreRobots)
	c.maxPages.join(other.maxPages)
	c.maxBytes.join(other.maxBytes)
}

func (c *changes) apply(p policy) policy {
	c.hostDelay.apply(&p.hostDelay)
	c.hostConcurrency.apply(&p.hostConcurrency)
	c.ignoreRobots.apply(&p.ignoreRobots)
	c.maxPages.apply(&p.maxPages)
	c.maxBytes.apply(&p.maxBytes)
	return p
}

// overrides finds a host's policy. What it costs grows with the labels of the host, not with the number of overrides.
// It is not safe for concurrent use.
type overrides struct {
	base    policy
	exact   map[site]*changes
	below   map[site]*changes
	longest int                // name in below, in bytes
	shared  map[policy]*policy // those that differ from base and were asked for, at most a few for each override
}

// compileOverrides returns the policies of a list whose later entries win, over base. The error is that of Validate.
func compileOverrides(base policy, list []Override) (*overrides, error) {
	o := &overrides{
		base: base, exact: map[site]*changes{}, below: map[site]*changes{}, shared: map[policy]*policy{},
	}
	var errs []error
	for i, entry := range list {
		err := entry.Validate()
		if err == nil {
			err = o.add(i+1, entry)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *overrides) add(place int, entry Override) error {
	p, err := canon.ParseHostPattern(entry.Pattern)
	if err != nil {
		return err
	}
	table, at := o.exact, site{p.Name, p.Port}
	if p.Below {
		table = o.below
		o.longest = max(o.longest, len(p.Name))
	}
	if table[at] == nil {
		table[at] = &changes{}
	}
	table[at].join(&changes{
		hostDelay:       changeTo(place, entry.HostDelay),
		hostConcurrency: changeTo(place, entry.HostConcurrency),
		ignoreRobots:    changeTo(place, entry.IgnoreRobots),
		maxPages:        changeTo(place, entry.MaxPages),
		maxBytes:        changeTo(place, entry.MaxBytes),
	})
	return nil
}

// of returns the policy of a host, as canon.URL.Host names it. Hosts with equal policies share one.
func (o *overrides) of(host string) *policy {
	if len(o.exact)+len(o.below) == 0 {
		return &o.base
	}
	s := splitSite(host)
	var c changes
	c.joinFrom(o.exact, s)
	c.joinFrom(o.below, site{"", s.port})
	if !s.isAddress() {
		for name, more := s.name, true; more; _, name, more = strings.Cut(name, ".") {
			if len(name) <= o.longest {
				c.joinFrom(o.below, site{name, s.port})
			}
		}
	}
	return o.share(c.apply(o.base))
}

// joinFrom joins the changes of the patterns in table that have the name of s and a port that matches.
func (c *changes) joinFrom(table map[site]*changes, s site) {
	if len(table) == 0 {
		return
	}
	ports := [...]string{"", s.port, s.port}
	if s.port == "" {
		ports = [...]string{"", "80", "443"}
	}
	for _, port := range ports {
		if found := table[site{s.name, port}]; found != nil {
			c.join(found)
		}
	}
}

func (o *overrides) share(p policy) *policy {
	if p == o.base {
		return &o.base
	}
	known := o.shared[p]
	if known == nil {
		known = new(p)
		o.shared[p] = known
	}
	return known
}

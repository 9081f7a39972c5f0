package crawler

import (
	"encoding/json"

	"crawl/canon"
	"crawl/frontier"
	"crawl/store"
)

// hostFinder makes rows of hosts again: which the user dropped, and what they have had of their budgets.
type hostFinder struct {
	everyone bool          // every host has a budget
	patterns []sitePattern // of hosts that have one
	states   map[string]frontier.HostState
}

func newHostFinder(cfg frontier.Config, dropped []string) (*hostFinder, error) {
	f := &hostFinder{everyone: cfg.MaxHostPages > 0 || cfg.MaxHostBytes > 0, states: make(map[string]frontier.HostState)}
	for _, o := range cfg.Overrides {
		if o.MaxPages == nil && o.MaxBytes == nil {
			continue
		}
		p, err := parseSitePattern(o.Pattern)
		if err != nil {
			return nil, err
		}
		f.patterns = append(f.patterns, p)
	}
	for _, host := range dropped {
		f.states[host] = frontier.HostState{Host: host, GivenUp: Dropped}
	}
	return f, nil
}

// charge books a page record to its host's budget. It counts what a host had before it first had a budget, too: that is
// not known any more.
func (f *hostFinder) charge(p *store.Page) {
	if !f.everyone && len(f.patterns) == 0 {
		return
	}
	u, err := canon.Parse(p.URL)
	if err != nil || !f.limited(u) {
		return
	}
	s := f.states[u.Host()]
	s.Host = u.Host()
	s.Pages++
	s.Bytes += uint64(max(p.BodyBytes, 0))
	f.states[s.Host] = s
}

func (f *hostFinder) limited(u canon.URL) bool {
	if f.everyone {
		return true
	}
	for _, p := range f.patterns {
		if p.matches(u) {
			return true
		}
	}
	return false
}

func (f *hostFinder) all() ([]store.Row, error) {
	rows := make([]store.Row, 0, len(f.states))
	for host, state := range f.states {
		value, err := json.Marshal(state)
		if err != nil {
			return nil, err
		}
		rows = append(rows, store.Row{Key: hostPrefix + host, Value: value})
	}
	return rows, nil
}

package crawler

import (
	"maps"
	"slices"
	"time"

	"crawl/store"
)

// simPast is what has happened to a web: all that a process that is killed leaves behind outside its directory.
type simPast struct {
	asked   map[string]int // requests, by URL; look-ups, by host
	holds   []simHold
	records []simRecord // in commit order
	done    map[string]bool
}

func newSimPast() *simPast { return &simPast{asked: make(map[string]int), done: make(map[string]bool)} }

func (p *simPast) clone() *simPast {
	return &simPast{
		asked: maps.Clone(p.asked), holds: slices.Clip(p.holds), records: slices.Clip(p.records), done: maps.Clone(p.done),
	}
}

// cutTo forgets what a checkpoint of that time with so many records does not hold. What hosts said at that very moment may
// be in it or not.
func (p *simPast) cutTo(records uint64, at time.Time) {
	p.holds = slices.DeleteFunc(slices.Clone(p.holds), func(h simHold) bool { return !h.at.Before(at) })
	p.records = slices.Clip(p.records[:records])
	clear(p.done)
	for _, r := range p.records {
		p.done[r.key] = true
	}
}

// simHold is what a host asked for: to be left alone until then, or between two requests.
type simHold struct {
	host  string
	at    time.Time // when it was said
	until time.Time
	delay time.Duration // a Crawl-delay
}

// simRecord is a page record as it was committed.
type simRecord struct {
	seq     uint64
	visit   int
	key     string
	outcome store.Outcome
}

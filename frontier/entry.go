package frontier

import (
	"cmp"
	"time"

	"crawl/canon"
)

// entry is a task in a heap. Hundreds of thousands of them are what a frontier's memory holds: what few tasks have is kept
// apart, so that an entry takes little more than a cache line, and nothing for the collector to follow but its text.
type entry struct {
	url       canon.URL
	referrer  string
	rare      *rare // nil: as it is for most
	seq, from uint64
	depth     int
	seed      uint32
	class     Class
	head      bool
	https     uint8 // isHTTPS of url
}

// rare is what most tasks have not.
type rare struct {
	notBefore                     time.Time
	via                           *Redirect
	hop, reroutes, attempt, visit int
	former                        uint64
	fresh                         bool
}

// usual is what an entry without rare stands for.
var usual = rare{visit: 1}

func newEntry(t *Task, head bool) entry {
	e := entry{
		url: t.URL, referrer: t.Referrer, seq: t.Seq, from: t.From, depth: t.Depth, seed: t.Seed, class: t.Class,
		head: head, https: uint8(isHTTPS(t.URL)),
	}
	if r := (rare{t.NotBefore, t.Via, t.Hop, t.Reroutes, t.Attempt, t.Visit, t.Former, t.Fresh}); r != usual {
		kept := r // r itself would be on the heap for every task
		e.rare = &kept
	}
	return e
}

// task returns the task that newEntry was given.
func (e *entry) task() Task {
	r := e.rare
	if r == nil {
		r = &usual
	}
	return Task{
		URL: e.url, NotBefore: r.notBefore, Seq: e.seq, From: e.from, Referrer: e.referrer, Via: r.via, Depth: e.depth,
		Hop: r.hop, Reroutes: r.reroutes, Attempt: r.attempt, Visit: r.visit, Former: r.former, Fresh: r.fresh, Seed: e.seed, Class: e.class,
	}
}

func (e *entry) order() order { return order{e.class, e.depth, e.seq} }

func (e *entry) notBefore() time.Time {
	if e.rare == nil {
		return time.Time{}
	}
	return e.rare.notBefore
}

// before reports whether e is taken before other.
func (e *entry) before(other *entry) bool {
	if e.head != other.head {
		return e.head
	}
	if e.head {
		return cmp.Or(e.notBefore().Compare(other.notBefore()), cmp.Compare(e.seq, other.seq)) < 0
	}
	if e.class != other.class {
		return e.class < other.class
	}
	if e.depth != other.depth {
		return e.depth < other.depth
	}
	return e.seq < other.seq
}

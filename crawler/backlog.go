package crawler

import (
	"slices"
	"strings"
	"time"

	"crawl/canon"
	"crawl/frontier"
	"crawl/store"
)

// pendingOf is what the queue on disk keeps of a task: all that its visit needs.
func pendingOf(t *frontier.Task) store.Pending {
	p := store.Pending{
		URL: t.URL.String(), Host: t.URL.Host(), Referrer: t.Referrer, Seq: t.Seq, From: t.From, Class: uint8(t.Class),
		Depth: uint32(t.Depth), Hop: uint8(t.Hop), Seed: t.Seed, Attempt: uint8(t.Attempt), Visit: uint16(t.Visit), Former: t.Former, Due: t.NotBefore,
	}
	for r := t.Via; r != nil; r = r.Before {
		p.Chain = append(p.Chain, r.Hash)
	}
	slices.Reverse(p.Chain)
	return p
}

// taskOf remakes the task that pendingOf was given. An entry that is none is the damage of its run, which can be mended.
func (c *Crawler) taskOf(p *store.Pending, now time.Time) (frontier.Task, error) {
	u, err := canon.Keep(p.URL)
	if err != nil {
		return frontier.Task{}, c.committer.store.Queue.Harm(p, err)
	}
	t := frontier.Task{
		URL: u, Referrer: p.Referrer, Seq: p.Seq, From: p.From, Class: frontier.Class(p.Class), Depth: int(p.Depth),
		Hop: int(p.Hop), Seed: p.Seed, Attempt: int(p.Attempt), Visit: max(int(p.Visit), 1), Former: p.Former,
	}
	if wait := p.Due.Sub(now); wait > 0 {
		// A clock that was set back must not keep it for longer than it was to wait.
		t.NotBefore = now.Add(min(wait, c.live.Load().retries.longest(max(t.Attempt-1, 0))))
	}
	for _, hash := range p.Chain {
		t.Via = &frontier.Redirect{Hash: hash, Before: t.Via}
	}
	return t, nil
}

// wait makes tasks pending: in the queue on disk, which holds everything, and in the frontier, which takes what it has room
// for.
func (k *committer) wait(tasks ...frontier.Task) {
	for i := range tasks {
		p := pendingOf(&tasks[i])
		k.store.Queue.Add(&p)
	}
	k.frontier.Add(tasks...)
}

// maxAsked is how many hosts whose tasks were asked for by name are known by their keys.
const maxAsked = 1 << 13

// noteAsked remembers which host a key stands for.
func (k *committer) noteAsked(key uint64, host string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.asked) >= maxAsked {
		clear(k.asked) // those that are asked for again come back
	}
	k.asked[key] = host
}

// sweptTo returns where the sweep was that the last checkpoint broke off; 0: there was none.
func (k *committer) sweptTo() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.books.SweptTo
}

func (k *committer) noteSweep(next uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.books.SweptTo = next
}

// referrer returns the URL of the page that led to a task. Tasks that come from the queue on disk, and those that were added
// last before a restart, know only its number where it is of another host.
func (c *Crawler) referrer(l *frontier.Lease) string {
	if l.Referrer == "" && l.From != 0 {
		l.Referrer = c.committer.admittedURL(l.From)
	}
	return l.Referrer
}

// admittedURL returns the URL of a number; empty where the log cannot be read, which is found out when it matters.
func (k *committer) admittedURL(seq uint64) string {
	if url, found := k.store.URLs.Of(seq); found {
		return url
	}
	k.mu.Lock() // it may be among the last
	defer k.mu.Unlock()
	a, err := k.store.Admissions.Get(seq)
	if err != nil {
		return ""
	}
	return strings.Clone(a.URL) // a block's URLs share one string
}

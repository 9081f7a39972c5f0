package crawler

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"crawl/frontier"
	"crawl/store"
)

// Revisited says what came of Revisit.
type Revisited struct {
	Again   uint64 `json:"again"`             // URLs that are to be fetched once more
	Pending uint64 `json:"pending,omitempty"` // selected, and left alone since they are pending already
	// Revived are hosts that were given up for their failures, and are asked again.
	Revived []string `json:"revived,omitempty"`
	// HostsWithoutRecords are the patterns of Selection.Hosts that match the host of no page record.
	HostsWithoutRecords []string `json:"hosts_without_records,omitempty"`
}

// Revisit makes URLs pending once more whose last visit ended as selected: `crawl retry`. What is pending already is left
// alone. A URL keeps its class and its place in its host's order, so the scope binds it as before. A host that was given up
// for its failures is asked again where a URL of it is selected, and where Selection.Hosts names it. Revisit returns when a
// checkpoint holds that; with an error, some of the URLs may be pending.
//
// It reads all page records that there are at the call, in batches, each a commit of its own: its memory does not grow
// with their number, and its time does, by a few microseconds a record.
func (c *Crawler) Revisit(ctx context.Context, want Selection) (Revisited, error) {
	var sum Revisited
	selected, err := want.compile()
	if err != nil {
		return sum, err
	}
	release := c.frontier.Intake()
	defer release()
	if err := c.awaitCheckpoint(ctx); err != nil { // so that what was committed can be read
		return sum, err
	}
	reader, err := store.OpenReader(c.Dir())
	if err != nil {
		return sum, err
	}
	defer reader.Close() // of files that were only read
	r := revisits{c: c, reader: reader, pages: make([]revisitPage, 0, revisitBatch)}
	last := reader.Cut().Pages.Records // the reader may come to a later checkpoint, with records that this led to
	for page, err := range reader.Pages(ctx, store.Query{}) {
		if err != nil {
			return r.sum, err
		}
		if page.Record > last {
			break
		}
		selected.meet(page.URL)
		if selected.selects(page) {
			if err := r.add(page); err != nil {
				return r.sum, err
			}
		}
	}
	if err := r.commit(); err != nil {
		return r.sum, err
	}
	r.sum.HostsWithoutRecords = selected.withoutRecords
	if err := r.reviveHosts(selected); err != nil {
		return r.sum, err
	}
	return r.sum, c.awaitCheckpoint(ctx)
}

// revisitBatch is how many URLs one commit makes pending at most.
const revisitBatch = 1024

// revisits gathers a batch.
type revisits struct {
	c      *Crawler
	reader *store.Reader
	pages  []revisitPage
	sum    Revisited
}

// revisitPage is what is kept of a page record that was selected.
type revisitPage struct {
	seq, record uint64
	visit       int
	referrer    string
}

func (r *revisits) add(p *store.Page) error {
	r.pages = append(r.pages, revisitPage{p.Seq, p.Record, p.Visit, p.Referrer})
	if len(r.pages) < revisitBatch {
		return nil
	}
	return r.commit()
}

// commit makes the batch pending. What can be read beside the committer is read before it has to wait.
func (r *revisits) commit() error {
	slices.SortFunc(r.pages, func(a, b revisitPage) int { return cmp.Compare(a.seq, b.seq) }) // so that a block is read once
	batch := make([]revisit, 0, len(r.pages))
	for _, p := range r.pages {
		task, err := r.task(p)
		if err != nil {
			return err
		}
		batch = append(batch, revisit{task, p.record})
	}
	r.pages = r.pages[:0]
	return r.c.committer.revisit(batch, &r.sum)
}

// task is the next visit of a page's URL. Of one that is pending it has the number alone: that one is only counted.
func (r *revisits) task(p revisitPage) (frontier.Task, error) {
	if !r.c.frontier.IsDone(p.seq) {
		return frontier.Task{Seq: p.seq, Visit: p.visit + 1}, nil
	}
	a, err := r.reader.Admission(p.seq)
	if err != nil {
		return frontier.Task{}, err
	}
	task, err := pendingTask(p.seq, a, store.DoneEntry{})
	task.Visit, task.Referrer, task.Former = p.visit+1, p.referrer, p.record
	return task, err
}

// reviveHosts has the hosts that the selection names asked again, also those of which no URL was selected.
func (r *revisits) reviveHosts(want *selector) error {
	if len(want.hosts) == 0 {
		return nil
	}
	var failed []string
	err := r.c.committer.store.Rows(hostPrefix, func(_ string, value []byte) error {
		var state frontier.HostState
		if json.Unmarshal(value, &state) != nil { // said when the host comes into memory
			return nil
		}
		if state.GivenUp == frontier.TooManyFailures && want.at("http://"+state.Host+"/") {
			failed = append(failed, state.Host)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.c.committer.askAgain(failed, &r.sum)
}

// revisit is the next visit of a URL, if its last one made that record.
type revisit struct {
	task   frontier.Task
	record uint64
}

// revisit is one commit. A log that cannot be read fails it before anything has changed.
func (k *committer) revisit(batch []revisit, sum *Revisited) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed != nil {
		return k.failed
	}
	repeats, pending, err := k.stillLast(batch)
	sum.Pending += pending
	if err != nil || len(repeats) == 0 {
		return err
	}
	k.reopen()
	for _, r := range repeats {
		if err := k.addAgain(r, r.outcome); err != nil {
			k.failed = fmt.Errorf("visit %s again: %w", r.task.URL, err)
			return k.failed
		}
		sum.Again++
		k.reviveFailed(r.task.URL.Host(), sum)
	}
	k.failed = k.committed()
	return k.failed
}

// stillLast returns those of the batch whose record is that of their last visit, and counts those that are pending since
// that visit.
func (k *committer) stillLast(batch []revisit) (repeats []repeat, pending uint64, err error) {
	seqs := make([]uint64, len(batch))
	for i, r := range batch {
		seqs[i] = r.task.Seq
	}
	last, err := k.store.LastDoneOf(seqs)
	if err != nil {
		return nil, 0, err
	}
	repeats = make([]repeat, 0, len(batch))
	for _, r := range batch {
		end := last[r.task.Seq]
		if end.Event == store.EventAgain && int(end.Visit) == r.task.Visit {
			pending++
		}
		if end.Event != store.EventDone || end.Record != r.record {
			continue
		}
		if r.task.Hop > 0 {
			if r.task.Via, err = redirectChain(k.store.Admissions, r.task); err != nil {
				return nil, 0, err
			}
		}
		repeats = append(repeats, repeat{r.task, end.Outcome})
	}
	return repeats, pending, nil
}

// askAgain is one commit of hosts that are asked again.
func (k *committer) askAgain(hosts []string, sum *Revisited) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed != nil {
		return k.failed
	}
	for _, host := range hosts {
		k.reviveFailed(host, sum)
	}
	return nil
}

// reviveFailed takes back that a host was given up for its failures. One that the user dropped stays dropped.
func (k *committer) reviveFailed(host string, sum *Revisited) {
	if k.frontier.GivenUp(host) != frontier.TooManyFailures {
		return
	}
	if _, revived := k.revive(host); revived {
		sum.Revived = append(sum.Revived, host)
	}
}

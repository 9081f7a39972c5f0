package crawler

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"crawl/frontier"
	"crawl/store"
)

// Revisited says what came of Revisit.
type Revisited struct {
	Again uint64 `json:"again"` // URLs that are to be fetched once more
}

// Revisit makes URLs pending once more whose last visit ended as selected: `crawl retry`. What is pending already is left
// alone. A URL keeps its class and its place in its host's order, so the scope binds it as before, and a host that was
// given up for its failures is asked again. Revisit returns when a checkpoint holds that; with an error, some of the URLs
// may be pending.
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
		if selected.selects(page) {
			if err := r.add(page); err != nil {
				return r.sum, err
			}
		}
	}
	if err := r.commit(); err != nil {
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
	if !r.c.frontier.IsDone(p.Seq) { // it is pending
		return nil
	}
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
		a, err := r.reader.Admission(p.seq)
		if err != nil {
			return err
		}
		task, err := pendingTask(p.seq, a, store.DoneEntry{})
		if err != nil {
			return err
		}
		task.Visit, task.Referrer = p.visit+1, p.referrer
		batch = append(batch, revisit{task, p.record})
	}
	r.pages = r.pages[:0]
	n, err := r.c.committer.revisit(batch)
	r.sum.Again += n
	return err
}

// revisit is the next visit of a URL, if its last one made that record.
type revisit struct {
	task   frontier.Task
	record uint64
}

// revisit is one commit. A log that cannot be read fails it before anything has changed.
func (k *committer) revisit(batch []revisit) (n uint64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed != nil {
		return 0, k.failed
	}
	repeats, err := k.stillLast(batch)
	if err != nil || len(repeats) == 0 {
		return 0, err
	}
	k.reopen()
	for _, r := range repeats {
		if err := k.addAgain(r, r.outcome); err != nil {
			k.failed = fmt.Errorf("visit %s again: %w", r.task.URL, err)
			return n, k.failed
		}
		n++
	}
	k.askAgain(repeats)
	k.failed = k.committed()
	return n, k.failed
}

// stillLast returns those of the batch whose record is that of their last visit.
func (k *committer) stillLast(batch []revisit) ([]repeat, error) {
	seqs := make([]uint64, len(batch))
	for i, r := range batch {
		seqs[i] = r.task.Seq
	}
	last, err := k.store.LastDoneOf(seqs)
	if err != nil {
		return nil, err
	}
	repeats := make([]repeat, 0, len(batch))
	for _, r := range batch {
		end := last[r.task.Seq]
		if end.Event != store.EventDone || end.Record != r.record {
			continue
		}
		if r.task.Hop > 0 {
			if r.task.Via, err = redirectChain(k.store.Admissions, r.task); err != nil {
				return nil, err
			}
		}
		repeats = append(repeats, repeat{r.task, end.Outcome})
	}
	return repeats, nil
}

// askAgain takes back that hosts of these URLs were given up for their failures. One that the user dropped stays dropped.
func (k *committer) askAgain(repeats []repeat) {
	asked := make(map[string]struct{})
	for _, r := range repeats {
		host := r.task.URL.Host()
		if _, known := asked[host]; known {
			continue
		}
		asked[host] = struct{}{}
		if k.frontier.GivenUp(host) == frontier.TooManyFailures {
			k.frontier.Revive(host)
		}
	}
}

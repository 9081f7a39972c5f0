package crawler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"crawl/canon"
	"crawl/frontier"
	"crawl/internal/scope"
	"crawl/seen"
	"crawl/store"
)

// committer owns what a crawl remembers: the filter, the logs and the outputs in store, the books. Whoever holds its lock
// is the one writer, so events have one order, and a checkpoint is taken between two of them.
type committer struct {
	frontier *frontier.Frontier // is told what is admitted and what has ended
	scope    *scope.Scope       // hosts of seeds' redirects join it
	deny     *denylists
	log      *slog.Logger
	onCommit func(*store.Page)

	labels    *labels
	givenUpAt *givenUpTimes
	ledger    *hostLedger
	kick      chan<- struct{} // asks for a checkpoint before its time

	store *store.Store // the pointer is not written after newCommitter; for the lock's holder, but for what it says of itself

	mu      sync.Mutex // guards all below
	met     *met
	sights  *sights // nil: every URL is admitted at its first sight
	saver   filterSaver
	shadow  *shadow
	refused *refusedList
	books   books
	rate    rateMeter
	clock   clock
	batch   batch
	asked   map[uint64]string // hosts whose tasks were asked for by name, by their keys
	rows    []store.Row       // changed since the last checkpoint
	waiters []chan error      // for the next checkpoint
	held    bool              // the user's pause
	short   chan struct{}     // not nil while the disk has too little space left; closed when that ends
	running bool              // checkpoints are being made
	ending  bool              // the run is ending, or has ended
	failed  error             // why nothing can be committed any more; final
}

func newCommitter(c *Crawler, st *store.Store, kept books) *committer {
	return &committer{
		met: newMet(st.Dir()), frontier: c.frontier, scope: c.scope, deny: c.deny, log: c.log, onCommit: c.cfg.OnCommit, labels: newLabels(), givenUpAt: &c.givenUpAt, ledger: c.ledger, kick: c.kick, store: st,
		asked: make(map[uint64]string), shadow: newShadow(), refused: newRefusedList(c.cfg.KeepRefused), books: kept, clock: clock{before: time.Duration(kept.ElapsedMS) * time.Millisecond},
	}
}

// commit makes a visit part of the crawl: its links are admitted, its record and its end are logged, its lease ends.
func (k *committer) commit(v *visit) error {
	return k.whole(func() error {
		k.count(v)
		if err := k.enterRefusals(v, v.origin()); err != nil {
			return err
		}
		switch v.end {
		case endReturned:
			return k.frontier.Return(v.lease)
		case endAskAgain:
			return k.frontier.AskAgain(v.lease)
		case endRerouted:
			return k.frontier.Reroute(v.lease, v.target, v.answer)
		case endRetry:
			return k.retry(v)
		}
		return k.done(v)
	})
}

// commitPiece makes links of a page part of the crawl before the page is.
func (k *committer) commitPiece(v *visit) error {
	return k.whole(func() error {
		k.books.Counters.addLinks(v)
		if err := k.enterRefusals(v, v.origin()); err != nil {
			return err
		}
		return k.admit(v.links, v.origin())
	})
}

// origin is where the links of a visit come from.
func (v *visit) origin() origin {
	return origin{seq: v.lease.Seq, url: v.lease.URL, seed: v.lease.Seed, named: v.lease.Class <= frontier.Added}
}

// whole runs one commit. After one that failed half-way there is no moment between two commits any more: nothing is
// committed, and no checkpoint taken.
func (k *committer) whole(commit func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed == nil {
		k.failed = commit()
	}
	if k.failed == nil {
		k.failed = k.committed()
	}
	return k.failed
}

// committed ends a commit. Where the queue has as much in memory as it may, the commit waits for the disk.
func (k *committer) committed() error {
	queue := k.store.Queue
	queue.Committed(k.store.Admissions.Len(), k.store.Done.Len())
	if queue.Full() {
		return queue.Spill(context.Background())
	}
	return nil
}

// errClosed: the crawler was closed.
var errClosed = errors.New("the crawl is closed")

// close gives the directory free.
func (k *committer) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failed = errClosed
	return errors.Join(k.met.close(), k.sights.close(), k.store.Close())
}

// count enters what a visit cost and found.
func (k *committer) count(v *visit) {
	c := &k.books.Counters
	if v.answer.Requested {
		c.Requests++
	}
	c.BodyBytes += uint64(v.page.BodyBytes)
	c.DecodedBytes += uint64(v.page.DecodedBytes)
	if v.page.Error != nil && !v.refused {
		c.Errors[v.page.Error.Code]++
	}
	c.addLinks(v)
}

// bodyBytes is how many bytes of bodies the crawl has fetched.
func (k *committer) bodyBytes() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.books.Counters.BodyBytes
}

// countRequest enters a request for a robots.txt, which no visit stands for.
func (k *committer) countRequest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.books.Counters.Requests++
}

// countError enters a failed request for a robots.txt, which no visit stands for.
func (k *committer) countError(code string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.books.Counters.Errors[code]++
}

// retry logs that the URL is pending again. Its wait outlives the process.
func (k *committer) retry(v *visit) error {
	k.books.Counters.Retries++
	entry := v.entry(store.EventAgain)
	entry.Due = entry.At.Add(v.wait)
	entry.Record = v.lease.Former
	entry.Named = v.lease.Visit > 1 && v.lease.Class <= frontier.Added // what its admission does not tell of a link
	if err := k.store.Done.Append(entry); err != nil {
		return err
	}
	again := pendingOf(&v.lease.Task)
	again.Attempt, again.Due = entry.Attempt, entry.Due
	k.store.Queue.Add(&again)
	return k.frontier.Retry(v.lease, v.wait, v.answer)
}

// done ends a visit with its outcome and its page record.
func (k *committer) done(v *visit) error {
	if v.joins != "" {
		k.join(v.joins, v.lease.URL)
	}
	if v.led != "" {
		k.rows = append(k.rows, store.Row{Key: ledPrefix + v.led, Value: []byte{}})
	}
	if v.shuts != nil {
		if err := k.shutPattern(v.shuts); err != nil {
			return err
		}
	}
	if err := k.admit(v.links, v.origin()); err != nil {
		return err
	}
	record, err := k.store.Pages.Append(v.record)
	if err != nil {
		return err
	}
	entry := v.entry(store.EventDone)
	entry.Record = record
	if err := k.store.Done.Append(entry); err != nil {
		return err
	}
	v.answer.Recorded, v.answer.Bytes = true, v.page.BodyBytes
	c := &k.books.Counters
	c.addPage(&v.page)
	c.Outcomes[v.page.Outcome]++
	if v.denier != "" {
		countIn(&c.Denied.URLs, v.denier, 1)
		c.rule(ruleKey{Denied, v.denier}).Pages++
	}
	if v.refuser.rule != "" {
		c.rule(v.refuser).Pages++
	}
	if v.page.Status != 0 {
		c.Statuses[v.page.Status]++
	}
	k.rate.add(time.Now(), uint64(v.page.BodyBytes))
	if k.onCommit != nil {
		v.page.Record = record
		k.onCommit(&v.page)
	}
	return k.frontier.Done(v.lease, v.answer)
}

// join widens the scope to where a seed redirects to, and says so.
func (k *committer) join(entry string, from canon.URL) {
	if !k.scope.Join(entry) {
		return
	}
	k.books.RulesAt = time.Now().UTC()
	k.rows = append(k.rows, store.Row{Key: joinedPrefix + entry, Value: []byte{}})
	k.log.Info("the scope widens: a seed redirects there", "to", entry, "seed", from.String())
}

// Row keys. What follows the prefix names the row.
const (
	hostPrefix   = "host/"   // a host's state, by name
	joinedPrefix = "joined/" // what a seed redirects to, where that widens the scope
	ledPrefix    = "led/"    // a host that a seed redirects to
	labelPrefix  = "label/"  // a seed label, by number
	addedPrefix  = "added/"  // a seed added to a running crawl
	alikePrefix  = "alike/"  // a pattern of URLs that is shut, by its text
	shadowPrefix = "shadow/" // hashes of the shadow sample, by checkpoint
)

// origin is where links come from.
type origin struct {
	seq   uint64
	url   canon.URL
	seed  uint32
	named bool // by the user
}

// linkBatch is how many links are tested against the filter at once: enough for it to be quick, and so few that its error
// is the same for all of them.
const linkBatch = 256

// admit tests the links of a page in batches and admits the new ones.
func (k *committer) admit(links []link, from origin) error {
	for batch := range slices.Chunk(links, linkBatch) {
		batch, err := k.holdBack(batch, from)
		if err != nil {
			return err
		}
		if err := k.admitBatch(batch, from); err != nil {
			return err
		}
	}
	return nil
}

func (k *committer) admitBatch(links []link, from origin) error {
	b := &k.batch
	defer b.clear()
	for i := range links {
		b.hashes = append(b.hashes, links[i].hash)
	}
	was := b.was[:len(links)]
	if err := k.test(b.hashes, was); err != nil {
		return fmt.Errorf("test %d links of %s: %w", len(links), from.url, err)
	}
	for i := range links {
		l := &links[i]
		k.shadow.offer(l.hash, was[i], &k.books.Loss)
		switch {
		case was[i] && l.class <= frontier.Added && !k.met.certain(): // a seed's redirect, or its http form
			b.maybes = append(b.maybes, maybe{*l, from})
			continue
		case was[i]:
			k.books.Counters.Reasons[Seen]++
			if err := k.merge(l, from); err != nil {
				return err
			}
			continue
		}
		task, err := k.enter(l, from)
		if err != nil {
			return err
		}
		b.tasks = append(b.tasks, task)
	}
	k.wait(b.tasks...)
	return k.settle(b.maybes)
}

// batch is what admitting a batch of links takes. It is kept for the next.
type batch struct {
	hashes []uint64
	was    [linkBatch]bool
	tasks  []frontier.Task
	maybes []maybe
}

// clear keeps no text alive.
func (b *batch) clear() {
	clear(b.tasks)
	clear(b.maybes)
	b.hashes, b.tasks, b.maybes = b.hashes[:0], b.tasks[:0], b.maybes[:0]
}

// known tests hashes, and takes none in.
func (k *committer) known(hashes []uint64, was []bool) error {
	err := k.met.hasBatch(hashes, was)
	if !errors.Is(err, seen.ErrDamaged) {
		return err
	}
	if err := k.remakeMet(err); err != nil {
		return err
	}
	return k.met.hasBatch(hashes, was)
}

// test tests hashes and takes in those that are new. What the disk has behind the filter is made again where it is damaged.
func (k *committer) test(hashes []uint64, was []bool) error {
	err := k.met.testAndAdd(hashes, was)
	if !errors.Is(err, seen.ErrDamaged) {
		return err
	}
	if err := k.remakeMet(err); err != nil {
		return err
	}
	return k.met.testAndAdd(hashes, was)
}

func (k *committer) remakeMet(why error) error {
	k.log.Warn("the hashes behind the filter are made again from the log", "urls", k.store.Admissions.Len(), "err", why)
	return k.met.remake(k.store.Admissions)
}

// enter gives a new URL its sequence number. Its hash is in the filter already: one hash an admission, in their order,
// so that the filter can be remade from the log.
func (k *committer) enter(l *link, from origin) (frontier.Task, error) {
	seq, err := k.store.Admissions.Append(store.Admission{
		URL: l.url.String(), Hash: l.hash, Depth: uint32(l.depth), Class: uint8(l.class),
		From: from.seq, Hop: uint8(l.hop), Seed: from.seed,
	})
	if err != nil {
		return frontier.Task{}, err
	}
	k.books.Counters.Reasons[Admitted]++
	k.books.Loss.admitted(k.met.rate())
	return frontier.Task{
		URL: l.url, Seq: seq, From: from.seq, Referrer: from.url.String(), Via: l.via, Depth: l.depth, Hop: l.hop,
		Class: l.class, Seed: from.seed, Visit: 1,
	}, nil
}

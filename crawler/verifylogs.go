package crawler

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"crawl/seen"
	"crawl/store"
)

// progressEvery is how many entries are read between two calls of VerifyOptions.Progress.
const progressEvery = 1 << 16

// checkAdmissions reads the admission log, and asks the saved filter, and what is behind it, for every hash that it says it
// has.
func (v *verifier) checkAdmissions(ctx context.Context) (err error) {
	check := admissionCheck{verifier: v, exact: exactCheck{verifier: v}}
	if err := check.exact.begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, check.exact.end()) }()
	if check.hasher, err = seen.NewScalable(seen.Config{Seed: v.cfg.Seen.Seed, ExpectedItems: 1}); err != nil {
		return err
	}
	check.filter, err = readFilter(v.inspection.Filter(), v.cfg.Seen, v.cut.Admissions.Entries)
	if err != nil {
		v.found(partFilter, filepath.Join(v.dir, "seen.db"), -1, unnamed(err))
		check.filter = nil
	}
	if check.filter != nil {
		v.report.Filter = check.filter.Len()
		check.upto = check.filter.Len()
	}
	damage, err := v.inspection.EachAdmission(ctx, check.take)
	if err == nil {
		err = check.ask()
	}
	if err != nil {
		return err
	}
	if check.lacks > 0 {
		v.found(partFilter, filepath.Join(v.dir, "seen.db"), -1,
			fmt.Sprintf("it calls %d admitted URLs new, number %d the first", check.lacks, check.firstLack))
	}
	return v.noteAll(damage)
}

// unnamed is the text of damage without the name of its file.
func unnamed(err error) string {
	if d, ok := asDamage(err); ok {
		return d.Err.Error()
	}
	return err.Error()
}

type admissionCheck struct {
	*verifier
	hasher *seen.Scalable // only its hash
	exact  exactCheck
	filter *seen.Scalable // nil: none is saved
	upto   uint64         // number up to which the filter has the log

	seqs, hashes     []uint64 // that the filter is still to be asked for
	lacks, firstLack uint64
}

func (c *admissionCheck) take(seq uint64, a store.Admission) error {
	if seq%progressEvery == 0 {
		c.options.Progress(partLog, seq, c.cut.Admissions.Entries)
	}
	if h, err := hashOf(c.hasher, c.names, a); err != nil {
		c.found(partLog, filepath.Join(c.dir, "log"), -1, fmt.Sprintf("URL %d: %v", seq, err))
	} else if h != a.Hash && c.books.CanonRules == c.names.Version() {
		c.found(partLog, filepath.Join(c.dir, "log"), -1, fmt.Sprintf("URL %d, %s: its hash is that of another", seq, a.URL))
	}
	if err := c.exact.take(seq, a.Hash); err != nil {
		return err
	}
	if seq > c.upto {
		return nil
	}
	c.seqs, c.hashes = append(c.seqs, seq), append(c.hashes, a.Hash)
	if len(c.hashes) < store.BlockEntries {
		return nil
	}
	return c.ask()
}

// ask asks the filter for what has gathered. One that lacks some is changed by it, and of no use any more.
func (c *admissionCheck) ask() error {
	was := make([]bool, len(c.hashes))
	if len(was) == 0 {
		return nil
	}
	if err := c.filter.TestAndAddBatch(c.hashes, was); err != nil {
		return err
	}
	for i, known := range was {
		if known {
			continue
		}
		if c.lacks == 0 {
			c.firstLack = c.seqs[i]
		}
		c.lacks++
	}
	c.seqs, c.hashes = c.seqs[:0], c.hashes[:0]
	return nil
}

// checkVisits goes through the done log and the page records side by side: each end of a visit has its record, in order,
// and each number its visits.
func (v *verifier) checkVisits(ctx context.Context) error {
	next, stop := iter.Pull2(v.inspection.Pages(ctx))
	defer stop()
	check := visitCheck{verifier: v, next: next, visits: make(map[uint64]uint16), more: true}
	damage, err := v.inspection.EachEvent(ctx, 0, check.take)
	if err == nil {
		err = check.rest()
	}
	if err == nil {
		err = v.noteAll(damage)
	}
	if err != nil {
		return err
	}
	v.report.Done = v.done.Count()
	v.report.Pending = v.report.Admitted - v.done.Count()
	v.counted.Pages = check.record
	if check.record != v.cut.Pages.Records && !v.report.has(partDone) {
		v.found(partPages, filepath.Join(v.dir, "pages"), -1,
			fmt.Sprintf("there are %d records, and %d visits ended", v.cut.Pages.Records, check.record))
	}
	return nil
}

type visitCheck struct {
	*verifier
	next   func() (*store.Page, error, bool)
	page   *store.Page // the record that was read last
	more   bool        // there may be further ones
	record uint64      // of the last end of a visit
	events uint64      // position of the last event
	gap    bool        // events are missing: what they did is not known
	visits map[uint64]uint16
}

func (c *visitCheck) take(position uint64, e store.DoneEntry) error {
	if position%progressEvery == 0 {
		c.options.Progress(partDone, position, c.cut.Done.Entries)
	}
	if e.Seq > c.report.Admitted {
		c.wrong(position, fmt.Sprintf("it is of URL %d, and %d were admitted", e.Seq, c.report.Admitted))
		return nil
	}
	if c.events++; c.events != position {
		c.events, c.gap = position, true
	}
	visit, pending := max(c.visits[e.Seq], 1), !c.done.Test(e.Seq)
	if c.gap {
		visit, pending = c.assumed(e)
	}
	if e.Event == store.EventAgain {
		return c.again(position, e, visit, pending)
	}
	if !pending || max(e.Visit, 1) != visit {
		c.wrong(position, fmt.Sprintf("visit %d of URL %d ends, and it is at visit %d, pending: %t", e.Visit, e.Seq, visit, pending))
	}
	c.done.Set(e.Seq)
	if e.Status != 0 {
		c.counted.Statuses[int(e.Status)]++
	}
	c.record++
	if e.Record != c.record {
		c.wrong(position, fmt.Sprintf("it has record %d, want %d", e.Record, c.record))
	}
	return c.compare(e)
}

// assumed returns what an event takes for given, where events before it are missing.
func (c *visitCheck) assumed(e store.DoneEntry) (visit uint16, pending bool) {
	visit = max(e.Visit, 1)
	if e.Event == store.EventDone {
		c.record = e.Record - 1
		return visit, true
	}
	if e.Attempt == 0 {
		return visit - 1, false
	}
	return visit, true
}

// again takes an event after which a number is pending: another attempt, or another visit.
func (c *visitCheck) again(position uint64, e store.DoneEntry, visit uint16, pending bool) error {
	switch another := e.Attempt == 0; {
	case another && !pending && e.Visit == visit+1:
		c.visits[e.Seq] = e.Visit
		c.done.Clear(e.Seq)
	case !another && pending && max(e.Visit, 1) == visit:
		c.counted.Retries++
	default:
		c.wrong(position, fmt.Sprintf("attempt %d of visit %d of URL %d is to come, and it is at visit %d, pending: %t",
			e.Attempt, e.Visit, e.Seq, visit, pending))
		c.done.Clear(e.Seq)
	}
	return nil
}

func (c *visitCheck) wrong(position uint64, what string) {
	c.found(partDone, filepath.Join(c.dir, "done"), -1, fmt.Sprintf("event %d: %s", position, what))
}

// compare finds the record of a visit's end. One that is missing is told already.
func (c *visitCheck) compare(e store.DoneEntry) error {
	for c.more && (c.page == nil || c.page.Record < e.Record) {
		if err := c.read(); err != nil {
			return err
		}
	}
	p := c.page
	if p == nil || p.Record != e.Record {
		return nil
	}
	if p.Seq != e.Seq || p.Visit != int(max(e.Visit, 1)) || p.Outcome != e.Outcome || p.Status != int(e.Status) {
		c.found(partPages, filepath.Join(c.dir, "pages"), -1,
			fmt.Sprintf("record %d is of visit %d of URL %d (%s, %d), the done log has visit %d of URL %d (%s, %d) there",
				p.Record, p.Visit, p.Seq, p.Outcome, p.Status, e.Visit, e.Seq, e.Outcome, e.Status))
	}
	return nil
}

// read takes the next record.
func (c *visitCheck) read() error {
	p, err, more := c.next()
	if c.more = more; !more {
		return nil
	}
	if err != nil {
		return c.note(err)
	}
	c.page = p
	c.counted.BodyBytes += uint64(p.BodyBytes)
	c.counted.DecodedBytes += uint64(p.DecodedBytes)
	return nil
}

// rest reads the records that no event asked for.
func (c *visitCheck) rest() error {
	for c.more {
		if err := c.read(); err != nil {
			return err
		}
	}
	return nil
}

// checkOutcomes counts the outcomes of last visits: from the end of the log, where each number's last event comes first.
func (v *verifier) checkOutcomes(ctx context.Context) error {
	if v.report.has(partDone) {
		v.skip("outcomes: the done log is damaged")
		return nil
	}
	met, n := &store.Bits{}, uint64(0)
	_, err := v.inspection.EachEventBackward(ctx, func(e store.DoneEntry) error {
		if n++; n%progressEvery == 0 {
			v.options.Progress("outcomes", n, v.cut.Done.Entries)
		}
		if e.Seq > v.report.Admitted || met.Test(e.Seq) {
			return nil
		}
		met.Set(e.Seq)
		if e.Event == store.EventDone {
			v.counted.Outcomes[e.Outcome]++
		}
		return nil
	})
	return err
}

package crawler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"crawl/canon"
	"crawl/frontier"
	"crawl/seen"
	"crawl/store"
)

// simLedger is all that a crawl's directory says, read back from the disk.
type simLedger struct {
	number  uint64            // of its checkpoint
	at      time.Time         // likewise
	urls    []string          // by sequence number - 1
	hashes  []uint64          // likewise
	seqs    map[string]uint64 // by key
	events  []store.DoneEntry
	last    map[uint64]store.DoneEntry // by sequence number
	pages   []*store.Page
	givenUp map[string]bool // hosts
	books   Snapshot
	clean   *seen.Scalable // the filter as the admission log alone makes it
	skipped int            // URLs that it takes for seen, and that are not in the log
}

// simErrors keeps a list of faults readable.
type simErrors struct {
	errs []error
	more int
}

func (e *simErrors) add(format string, args ...any) {
	if len(e.errs) < 12 {
		e.errs = append(e.errs, fmt.Errorf(format, args...))
	} else {
		e.more++
	}
}

func (e *simErrors) err() error {
	if e.more > 0 {
		return errors.Join(append(slices.Clip(e.errs), fmt.Errorf("and %d more", e.more))...)
	}
	return errors.Join(e.errs...)
}

// readSimLedger reads the directory of a crawl that nobody has open.
func readSimLedger(dir string) (*simLedger, error) {
	st, err := store.Open(dir, store.Config{FS: simFS()})
	if err != nil {
		return nil, err
	}
	l, err := ledgerOf(st)
	if err := errors.Join(err, st.Close()); err != nil {
		return nil, err
	}
	r, err := store.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	if l.books, err = ReadSnapshot(r.Cut()); err != nil {
		return nil, err
	}
	for page, err := range r.Pages(context.Background(), store.Query{}) {
		if err != nil {
			return nil, err
		}
		l.pages = append(l.pages, page)
	}
	return l, r.Close()
}

// ledgerOf reads what is in the logs and the rows.
func ledgerOf(st *store.Store) (*simLedger, error) {
	l := &simLedger{number: st.Last().Number, at: st.Last().At, seqs: make(map[string]uint64), last: make(map[uint64]store.DoneEntry), givenUp: make(map[string]bool)}
	b, err := readBooks(st.Last())
	if err != nil {
		return nil, err
	}
	cfg, err := b.config()
	if err != nil {
		return nil, err
	}
	if l.clean, err = seen.NewScalable(cfg.Seen); err != nil {
		return nil, err
	}
	err = st.Admissions.Each(1, func(seq uint64, a store.Admission) error {
		u, err := canon.Parse(a.URL)
		if err != nil {
			return err
		}
		if first := l.seqs[u.Key()]; first != 0 {
			return fmt.Errorf("%s is admitted as number %d and %d", u, first, seq)
		}
		if a.Hash != l.clean.HashString(u.Key()) {
			return fmt.Errorf("number %d, %s, has another hash", seq, u)
		}
		if a.From >= seq {
			return fmt.Errorf("number %d, %s, comes from number %d", seq, u, a.From)
		}
		l.seqs[u.Key()] = seq
		l.urls = append(l.urls, u.String())
		l.hashes = append(l.hashes, a.Hash)
		return nil
	})
	l.clean.Add(l.hashes)
	err = errors.Join(err, st.Done.Each(0, func(e store.DoneEntry) error {
		l.events = append(l.events, e)
		l.last[e.Seq] = e
		return nil
	}))
	return l, errors.Join(err, st.Rows(hostPrefix, func(_ string, value []byte) error {
		var state frontier.HostState
		err := json.Unmarshal(value, &state)
		if state.GivenUp != "" {
			l.givenUp[state.Host] = true
		}
		return err
	}))
}

// check compares a directory with the web. ended: the crawl is over, so nothing that may be fetched is left.
func (l *simLedger) check(w *simWeb, ended bool) error {
	var e simErrors
	l.checkRecords(&e)
	l.checkOutcomes(w, &e)
	l.checkClosure(w, &e)
	l.checkSums(&e)
	if ended {
		l.checkEnd(w, &e)
	}
	return e.err()
}

// checkRecords: each visit that ended has one record and one event, and they say the same.
func (l *simLedger) checkRecords(e *simErrors) {
	ends := make(map[uint64]store.DoneEntry) // by record
	for _, event := range l.events {
		if event.Seq == 0 || event.Seq > uint64(len(l.urls)) {
			e.add("the done log names number %d of %d", event.Seq, len(l.urls))
		}
		if event.Event != store.EventDone {
			continue
		}
		if _, twice := ends[event.Record]; twice || event.Record == 0 || event.Record > uint64(len(l.pages)) {
			e.add("number %d is done with record %d of %d, one other is: %t", event.Seq, event.Record, len(l.pages), twice)
		}
		ends[event.Record] = event
	}
	type visit struct {
		seq   uint64
		visit int
	}
	met := make(map[visit]uint64)
	for i, p := range l.pages {
		if p.Record != uint64(i)+1 {
			e.add("record %d stands in place %d", p.Record, i+1)
		}
		if first := met[visit{p.Seq, p.Visit}]; first != 0 {
			e.add("records %d and %d are of number %d, visit %d: %s", first, p.Record, p.Seq, p.Visit, p.URL)
		}
		met[visit{p.Seq, p.Visit}] = p.Record
		end := ends[p.Record]
		if end.Seq != p.Seq || int(max(end.Visit, 1)) != p.Visit || end.Outcome != p.Outcome || int(end.Status) != p.Status {
			e.add("record %d says %d/%d %s %d, the done log %d/%d %s %d", p.Record,
				p.Seq, p.Visit, p.Outcome, p.Status, end.Seq, end.Visit, end.Outcome, end.Status)
		}
	}
}

// checkOutcomes: each record says of its URL what the web would.
func (l *simLedger) checkOutcomes(w *simWeb, e *simErrors) {
	for _, p := range l.pages {
		u, err := canon.Parse(p.URL)
		if err != nil {
			e.add("record %d: %v", p.Record, err)
			continue
		}
		if seq := l.seqs[u.Key()]; seq != p.Seq {
			e.add("record %d, %s, has number %d, it was admitted as %d", p.Record, p.URL, p.Seq, seq)
		}
		f := w.fate(w.understand(u))
		if !slices.Contains(f.outcomes, p.Outcome) {
			e.add("%s ended as %s, want one of %v", p.URL, p.Outcome, f.outcomes)
		}
		if p.Title != f.title && p.Outcome != store.OutcomeFailed {
			e.add("%s has the title %q, want %q", p.URL, p.Title, f.title)
		}
	}
}

// checkClosure: what is admitted is the seeds and what the records link to; no more, and no less, but for what the filter
// would take for seen on the word of the log alone.
func (l *simLedger) checkClosure(w *simWeb, e *simErrors) {
	linked := make(map[string]bool)
	want := func(link, from string) {
		u, err := canon.Parse(link)
		if err != nil || linked[u.Key()] {
			return
		}
		linked[u.Key()] = true
		if l.seqs[u.Key()] != 0 {
			return
		}
		if taken, err := l.clean.Has(l.clean.HashString(u.Key())); taken && err == nil {
			l.skipped++
			return
		}
		e.add("%s, linked from %s, is lost", u, from)
	}
	for _, p := range l.pages {
		if u, err := canon.Parse(p.URL); err == nil {
			for _, link := range w.fate(w.understand(u)).leadsTo(p) {
				want(link, p.URL)
			}
		}
	}
	seeds := w.seedURLs()
	for i, url := range l.urls {
		u, _ := canon.Parse(url) // it was parsed before
		if !linked[u.Key()] && !slices.Contains(seeds, u) {
			e.add("number %d, %s, is admitted, and no page that was fetched links to it", i+1, url)
		}
	}
}

// checkSums: the books count what is there.
func (l *simLedger) checkSums(e *simErrors) {
	var retries uint64
	outcomes, statuses := make(map[string]uint64), make(map[int]uint64)
	for _, last := range l.last {
		if last.Event == store.EventDone {
			outcomes[last.Outcome.String()]++
		}
	}
	for _, event := range l.events {
		if event.Event == store.EventAgain && event.Outcome != 0 {
			retries++
		}
	}
	for _, p := range l.pages {
		if p.Status != 0 {
			statuses[p.Status]++
		}
	}
	var done, found uint64
	for _, n := range outcomes {
		done += n
	}
	for _, n := range l.books.ByReason {
		found += n
	}
	admitted := uint64(len(l.urls))
	for _, c := range []struct {
		what       string
		have, want uint64
	}{
		{"pages", l.books.Pages, uint64(len(l.pages))}, {"retries", l.books.Retries, retries}, {"done", l.books.Done, done},
		{"admitted", l.books.Admitted, admitted}, {"queued", l.books.Queued + l.books.InFlight, admitted - done},
		{"discovered", l.books.Discovered, found},
	} {
		if c.have != c.want {
			e.add("the books count %d %s, there are %d", c.have, c.what, c.want)
		}
	}
	if fmt.Sprint(l.books.ByOutcome) != fmt.Sprint(outcomes) || fmt.Sprint(l.books.ByStatus) != fmt.Sprint(statuses) {
		e.add("the books count %v and %v, there are %v and %v", l.books.ByOutcome, l.books.ByStatus, outcomes, statuses)
	}
}

// checkEnd: all is done but what is on hosts that were given up, and may be.
func (l *simLedger) checkEnd(w *simWeb, e *simErrors) {
	for _, u := range w.seedURLs() {
		if l.seqs[u.Key()] == 0 {
			e.add("seed %s is lost", u)
		}
	}
	stranded := 0
	for i, url := range l.urls {
		if l.last[uint64(i)+1].Event == store.EventDone {
			continue
		}
		u, _ := canon.Parse(url) // it was parsed before
		if !l.givenUp[u.Host()] || !w.fate(w.understand(u)).stranded {
			e.add("number %d, %s, is left; its host was given up: %t", i+1, url, l.givenUp[u.Host()])
		}
		stranded++
	}
	want := Complete
	if stranded > 0 {
		want = Partial
	}
	if l.books.State != want {
		e.add("the crawl is %s with %d URLs left, want %s", l.books.State, stranded, want)
	}
}

// extends reports how an earlier state of the same crawl is not the beginning of this one.
func (l *simLedger) extends(earlier *simLedger) error {
	if n := len(earlier.urls); n > len(l.urls) || !slices.Equal(earlier.urls, l.urls[:n]) {
		return errors.New("the admission log is not the beginning of what was written")
	}
	same := func(a, b store.DoneEntry) bool { return a == b }
	if n := len(earlier.events); n > len(l.events) || !slices.EqualFunc(earlier.events, l.events[:n], same) {
		return errors.New("the done log is not the beginning of what was written")
	}
	return nil
}

// recordsAre compares records with those that were committed, in their order.
func (l *simLedger) recordsAre(committed []simRecord) error {
	if len(l.pages) > len(committed) {
		return fmt.Errorf("%d records, %d were committed", len(l.pages), len(committed))
	}
	for i, p := range l.pages {
		if c := committed[i]; c.seq != p.Seq || c.visit != p.Visit || c.outcome != p.Outcome {
			return fmt.Errorf("record %d is of number %d and %s, committed was one of number %d and %s", p.Record, p.Seq, p.Outcome, c.seq, c.outcome)
		}
	}
	return nil
}

// seedURLs are the seeds as they are requested.
func (w *simWeb) seedURLs() (urls []canon.URL) {
	for _, text := range w.seeds() {
		if u, _, err := (Seed{URL: text}).parse(); err == nil {
			urls = append(urls, u)
		}
	}
	return urls
}

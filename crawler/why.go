package crawler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"crawl/canon"
	"crawl/frontier"
	"crawl/seen"
	"crawl/store"
)

// Why tells what became of a URL, and why: at this moment, but for its page record, which is there once a checkpoint holds
// it. It looks into each run of the log and scans nothing that grows with the crawl; commits wait meanwhile. Of a URL that was
// not met it reads the seeds that were not read yet.
func (c *Crawler) Why(_ context.Context, u canon.URL) (Story, error) {
	s := newStory(u, c.names)
	s.Live, s.AsOf = true, time.Now().UTC().Truncate(time.Millisecond)
	mark := c.committer.seedMark() // first: a seed that is read meanwhile is met
	task, queue, err := c.committer.tell(&s, u, hashesOf(c.hasher, s.Key))
	if err != nil {
		return s, err
	}
	s.RulesNow = withSights(c.rulings(task, &queue), s.sights)
	if err := s.findSeed(c.seeds, mark); err != nil {
		return s, err
	}
	s.decide()
	return s, s.readPage(c.Dir())
}

// tell fills in all that is known between two commits.
func (k *committer) tell(s *Story, u canon.URL, hashes nameHashes) (frontier.Task, frontier.Story, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed != nil {
		return frontier.Task{}, frontier.Story{}, k.failed
	}
	if s.State = k.books.State; !k.running { // what a process that was killed has left says that it runs
		s.State = stateOnDisk(s.State)
	}
	task, err := s.lookUp(openLedger{k.store}, u, hashes)
	if err != nil {
		return task, frontier.Story{}, err
	}
	queue := k.frontier.Story(task)
	if !s.Met() {
		return task, queue, errors.Join(s.askMet(k.met, hashes.page), s.askSights(k.sights, hashes.page))
	}
	s.Admission.Seed = k.labels.text(task.Seed)
	if s.Fate == FateDone {
		return task, queue, nil
	}
	s.Queue = queueStory(&queue)
	if queue.Wait == frontier.WaitPaused && k.books.PausedFor != PausedForUser {
		s.Queue.Detail = k.books.PausedFor
	}
	switch {
	case queue.Standing == frontier.Leased:
		s.Fate = FateInFlight
	case !queue.InMemory && k.frontier.GivenUp(s.Host) != "": // it comes into memory for nothing
		s.Queue.giveUp(k.frontier.GivenUp(s.Host))
	case (!k.running || k.ending) && queue.Host.GivenUp == "":
		s.Queue.wait(WaitsForResume)
	}
	return task, queue, nil
}

// giveUp says that the URL's host is given up.
func (q *QueueStory) giveUp(why frontier.Reason) {
	q.wait(string(frontier.WaitGivenUp))
	if why == frontier.BudgetUsed {
		q.wait(string(frontier.WaitBudget))
	}
	q.Detail = string(why)
}

// openLedger is the ledger of an open crawl, for whoever holds the committer's lock.
type openLedger struct{ *store.Store }

func (l openLedger) Admission(seq uint64) (store.Admission, error) { return l.Admissions.Get(seq) }

// askMet asks what a link to the URL would be told.
func (s *Story) askMet(m *met, hash uint64) error {
	if s.Filter == nil {
		s.Filter = &FilterStory{}
	}
	was, err := m.has(hash)
	s.Filter.Rate, s.Filter.Says = m.rate(), FilterNew
	if was {
		s.Filter.Says = FilterSeen
	}
	return err
}

// queueStory turns what the frontier knows of a task into what people read.
func queueStory(q *frontier.Story) *QueueStory {
	t := &q.Task
	story := &QueueStory{
		Visit: max(t.Visit, 1), Attempts: t.Attempt, Class: t.Class.String(), LeasedAt: utc(q.LeasedAt), Ahead: q.Ahead,
		AtLeast: q.Backlog || q.Standing == frontier.Elsewhere, Due: utc(q.Due), WaitsFor: string(q.Wait), Until: utc(q.Until),
		Where: standings[q.Standing], Detail: string(q.Host.GivenUp),
		HostDelayS: q.Host.Delay.Seconds(), HostDelayFrom: delayFrom(q.Host), HostFailures: q.Host.Failures, HostInFlight: q.Host.InFlight,
	}
	if t.Reroutes > 0 {
		story.AskedAs = t.URL.String()
	}
	return story
}

var standings = map[frontier.Standing]string{
	frontier.Elsewhere: "disk", frontier.Queued: "memory", frontier.Aside: "aside", frontier.Leased: "flight",
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Millisecond)
}

// wait replaces what the URL waits for by something that comes first, and lasts nobody knows how long.
func (q *QueueStory) wait(what string) {
	q.WaitsFor, q.Until, q.Due, q.Detail = what, time.Time{}, time.Time{}, ""
}

// decide says which fate it is, of a URL that is not in the log.
func (s *Story) decide() {
	if s.Met() || s.Fate == FateUnreadSeed {
		return
	}
	for _, r := range s.RulesNow {
		if r.Verdict == Refuses {
			s.Fate, s.RefusedBy = FateRefused, r.By
			return
		}
	}
	s.Fate = FateNeverMet
	if s.Filter.Says == FilterSeen {
		s.Fate = FateTakenForSeen
	}
}

// findSeed looks for a URL that was not met among the seeds that were not read yet.
func (s *Story) findSeed(in seedFile, mark seedMark) error {
	if s.Met() || mark.Done {
		return nil
	}
	for seed, err := range in.from(mark.Offset) {
		switch {
		case errors.Is(err, fs.ErrNotExist): // the ruling of the scope says so
			return nil
		case err != nil:
			return err
		case s.names.Key(seed.url) == s.Key:
			s.unreadSeed()
			return nil
		}
	}
	return nil
}

// unreadSeed says that the URL is a seed. The rules for links do not bind it.
func (s *Story) unreadSeed() {
	s.Fate = FateUnreadSeed
	for i, r := range s.RulesNow {
		if r.By == ByScope || r.By == ByMaxDepth {
			s.RulesNow[i] = Ruling{r.By, Allows, seedsExempt}
		}
	}
}

// readPage reads the record of the last visit that ended, if the last checkpoint holds it.
func (s *Story) readPage(dir string) error {
	if s.Fate != FateDone {
		return nil
	}
	reader, err := store.OpenReader(dir)
	if err != nil {
		return err
	}
	defer reader.Close() // of files that were only read
	return s.pageFrom(reader)
}

func (s *Story) pageFrom(reader *store.Reader) error {
	if s.Last == nil || s.Last.Record == 0 || s.Last.Record > reader.Cut().Pages.Records { // no checkpoint holds it yet
		return nil
	}
	var err error
	s.Page, err = reader.Record(s.Last.Record)
	return err
}

// ReadStory tells what became of a URL from a crawl's directory, as its last checkpoint holds it. It takes no lock, so it
// works beside a crawl that runs. What is in the memory of that crawl alone it cannot tell: whether the filter takes the
// URL for seen, the place in a queue, what a site's robots.txt says, and which hosts joined the scope later.
func ReadStory(_ context.Context, dir string, u canon.URL) (Story, error) {
	s := newStory(u, nil)
	reader, err := store.OpenReader(dir)
	if err != nil {
		return s, err
	}
	defer reader.Close() // of files that were only read
	kept, err := readBooks(reader.Cut())
	if err != nil {
		return s, err
	}
	cfg, err := kept.config()
	if err != nil {
		return s, err
	}
	names, err := canon.NewRules(cfg.Canon...)
	if err != nil {
		return s, err
	}
	if kept.CanonRules != names.Version() {
		return s, fmt.Errorf("the crawl's URLs were named by rules %q, this program has %q: use the program that began it",
			kept.CanonRules, names.Version())
	}
	s = newStory(u, names)
	hashes, err := hashesUnder(cfg.Seen.Seed, s.Key)
	if err != nil {
		return s, err
	}
	task, err := s.lookUp(reader, u, hashes)
	if err != nil {
		return s, err
	}
	s.AsOf = reader.Cut().At // of the checkpoint that was looked into: a newer one may have been, meanwhile
	s.State = stateOnDisk(kept.State)
	if s.RulesNow, err = storedRulings(dir, cfg, names, task, kept.Alike); err != nil {
		return s, err
	}
	s.tellStored(task, &kept)
	if cfg.AdmitAfter.on() && !s.Met() {
		s.RulesNow = withSights(s.RulesNow, Ruling{BySights, Unknown, "first sights are in the memory of a crawl that runs"})
	}
	if err := s.findSeed(seedsIn(dir), kept.Seeds); err != nil {
		return s, err
	}
	s.decide()
	return s, s.pageFrom(reader)
}

// stateOnDisk is the state of a crawl that does not answer: without its process it is stopped.
func stateOnDisk(s State) State {
	if s == Running || s == Stopping || s == Paused {
		return Stopped
	}
	return s
}

// tellStored fills in what a checkpoint knows of the filter and the queue.
func (s *Story) tellStored(t frontier.Task, kept *books) {
	switch {
	case !s.Met() && s.Filter == nil && kept.Filter.Kind == string(seen.KindExact): // what is not in the log is new
		s.Filter = &FilterStory{Says: FilterNew, Rate: kept.Filter.Rate}
	case !s.Met() && s.Filter == nil:
		s.Filter = &FilterStory{Says: FilterNotAsked, Rate: kept.Filter.Rate}
	case !s.Met():
		s.Filter.Says, s.Filter.Rate = FilterSeen, kept.Filter.Rate
	case s.Fate == FatePending:
		s.Queue = &QueueStory{
			Where: "unknown", Visit: t.Visit, Attempts: t.Attempt, Class: t.Class.String(), AtLeast: true, WaitsFor: WaitsForResume,
		}
		if kept.State == Partial { // nothing was left but on such hosts
			s.Queue.giveUp(kept.Queue.onlyReason())
		}
	}
}

// hashesUnder returns the hashes that a filter with that seed has for a key.
func hashesUnder(seed uint64, key string) (nameHashes, error) {
	if seed == 0 {
		return nameHashes{}, &store.DamageError{File: "the settings in the checkpoint", Offset: -1, Err: errors.New("the filter's seed is gone")}
	}
	const least = 1000 // the filter itself is not wanted
	f, err := seen.NewScalable(seen.Config{Seed: seed, ExpectedItems: least})
	if err != nil {
		return nameHashes{}, err
	}
	return hashesOf(f, key), nil
}

// Package store owns a crawl's directory: the two logs, the runs made from them, the page records, the checkpoints and the
// saved filter.
//
// Two logs are the truth. The admission log holds every URL that was admitted, the done log what became of it; both are
// only ever appended to. A checkpoint is a cut through them and through the outputs at the end of one commit: the
// lengths of all files, written to bbolt in one transaction after the files are on disk. Opening a directory cuts every
// file back to its length in the last checkpoint, so what is read again is exactly the state after some commit: no page
// is lost, and none is twice in the output. The price is that the work since the last checkpoint is done again.
//
// Runs are what makes the logs quick to ask: sorted files of what waits, of hashes and of last events, written and merged
// beside the committer by Work. They hold nothing that is not in the logs, so a damaged one is remade; the price is that
// each entry is written two or three times more.
//
// A write or sync error is final for the process: no later checkpoint is tried, and the last one stands.
package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"crawl/internal/vfs"
)

// Config says how files are laid out. The zero Config has sane sizes.
type Config struct {
	PagesBytes int64 // a file of page records is closed at this size; 0: 1 GiB
	LogBytes   int64 // a log segment is closed at this size; 0: 256 MiB

	QueueEntries int // so many entries of the queue are gathered in memory, twice, before they become a run; 0: 262,144

	RunBlocks int // full blocks of a log from which a run of hashes or of last events is made; 0: 64

	// No merge of runs starts that would leave less free space on the disk; 0: merges may fill it.
	MinFreeBytes int64

	FS vfs.FS `json:"-"` // holds all files but the lock and bbolt's; nil: vfs.OS
}

func (c Config) withDefaults() Config {
	if c.PagesBytes == 0 {
		c.PagesBytes = 1 << 30
	}
	if c.LogBytes == 0 {
		c.LogBytes = 256 << 20
	}
	if c.QueueEntries == 0 {
		c.QueueEntries = 1 << 18
	}
	if c.RunBlocks == 0 {
		c.RunBlocks = 64
	}
	if c.FS == nil {
		c.FS = vfs.OS{}
	}
	return c
}

// Store is an open crawl directory with its lock held. All methods belong to one goroutine, the committer, but for
// Checkpoint.Commit, Work and Wake, which may be called beside it, one at a time each.
type Store struct {
	Admissions *AdmissionLog
	Done       *DoneLog
	Pages      *PageLog
	Refused    *RefusedLog
	Queue      *Queue
	URLs       *URLs // for any goroutine

	dir     directory
	crawlID string
	codec   *codec
	lock    *lock
	state   *state
	runs    *runSet
	minFree atomic.Int64  // Config.MinFreeBytes
	wake    chan struct{} // holds a value when work is due
	working sync.Mutex    // held by Work
	pairs   [2][]pair     // memory to sort in, Work's
	last    Cut           // of the newest checkpoint that was prepared
	healed  []error       // not written after opening

	refusedLost error // why Refused was begun anew; not written after opening

	mu     sync.Mutex // guards all below
	failed error      // the first write or sync error; final
}

// Create makes dir a crawl's directory with empty logs and the rows and books that fill returns. fill runs while the
// directory is held, and may put further files there. Until state.db appears, which is the last step, dir holds no
// crawl. Create fails with ErrExists when dir holds one, with ErrForeign when a file that no crawl made is in the place
// of one of a crawl's, with a *LockedError when a process has it open, and with a *DamageError when it holds one without
// its state.db.
func Create(dir string, cfg Config, fill func() (rows []Row, books any, err error)) (*Store, error) {
	cfg = cfg.withDefaults()
	d := directory{root: dir, fs: cfg.FS}
	held, err := d.claim()
	if err != nil {
		return nil, err
	}
	s := &Store{dir: d, lock: held, state: newState(d), wake: make(chan struct{}, 1)}
	if err := s.create(cfg, fill); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) create(cfg Config, fill func() ([]Row, any, error)) error {
	switch err := s.dir.check(); {
	case err == nil:
		_, err := s.dir.readFormat()
		if _, other := errors.AsType[*VersionError](err); other {
			return err // this program cannot go on with it
		}
		return fmt.Errorf("%w: %s", ErrExists, s.dir)
	case !errors.Is(err, ErrNotCrawl):
		return err
	}
	if err := s.dir.foreign(); err != nil {
		return err
	}
	// A run that was killed before state.db appeared may have left files behind: they belong to no checkpoint.
	if err := s.dir.clear(); err != nil {
		return err
	}
	if err := s.dir.settle(); err != nil {
		return err
	}
	format, err := s.dir.writeFormat()
	if err != nil {
		return err
	}
	s.crawlID = format.CrawlID
	rows, books, err := fill()
	if err != nil {
		return err
	}
	if err := s.openFiles(cfg, point{}); err != nil {
		return err
	}
	return s.appear(rows, books)
}

// appear makes state.db, with a checkpoint of what is there.
func (s *Store) appear(rows []Row, books any) error {
	if err := s.state.begin(); err != nil {
		return err
	}
	first, err := s.Prepare(rows, books)
	if err != nil {
		return err
	}
	if err := first.Commit(); err != nil {
		return err
	}
	return s.state.appear()
}

// Open goes on with the crawl in dir from its last checkpoint: files are cut back to the lengths it names, and files of
// a later date are removed. It fails with ErrNotCrawl, a *LockedError, a *VersionError or a *DamageError.
func Open(dir string, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	d := directory{root: dir, fs: cfg.FS}
	format, err := d.existing()
	if err != nil {
		return nil, err
	}
	held, err := d.claim()
	if err != nil {
		return nil, err
	}
	s := &Store{dir: d, crawlID: format.CrawlID, lock: held, state: newState(d), wake: make(chan struct{}, 1)}
	if err := s.open(cfg); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(cfg Config) error {
	p, err := s.state.open()
	if err != nil {
		return err
	}
	twin, err := s.newestIs(p)
	if err != nil {
		return err
	}
	if err := s.openFiles(cfg, p); err != nil {
		return err
	}
	s.last = p.Cut
	if twin {
		return nil
	}
	encoded, err := p.encode()
	if err != nil {
		return err
	}
	return writeWhole(s.dir.fs, s.dir.twin(), encoded, 0o600)
}

// newestIs makes sure that p, which state.db holds, is this crawl's newest checkpoint, before anything is cut back to
// it. A bbolt file whose newest page of meta data is damaged goes back to the transaction before without a word; its
// twin, which is written after it, then knows a later checkpoint. It returns whether the twin holds p too: a process
// that was killed between the two writes, or damage, leaves one that does not.
func (s *Store) newestIs(p point) (twin bool, err error) {
	if p.crawlID != s.crawlID {
		return false, &DamageError{File: s.dir.format(), Offset: -1,
			Err: fmt.Errorf("it names crawl %q, the last checkpoint is of crawl %q", s.crawlID, p.crawlID)}
	}
	other, err := s.dir.readTwin()
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		return false, nil // all that it held is in p
	}
	if err != nil {
		return false, err
	}
	if other.crawlID == p.crawlID && other.Number > p.Number {
		return false, &DamageError{File: s.dir.stateDB(), Offset: -1,
			Err: fmt.Errorf("it holds checkpoint %d, but %d was written", p.Number, other.Number)}
	}
	return other.crawlID == p.crawlID && other.Number == p.Number, nil
}

// openFiles opens both logs and the page records as p left them.
func (s *Store) openFiles(cfg Config, p point) (err error) {
	if s.codec, err = newCodec(); err != nil {
		return err
	}
	var healed error
	if s.Admissions, healed, err = openAdmissionLog(s.dir, s.codec, cfg.LogBytes, p.Admissions); err != nil {
		return err
	}
	s.heal(healed)
	s.URLs = newURLs(s.Admissions)
	if s.Done, healed, err = openDoneLog(s.dir, s.codec, cfg.LogBytes, p.Done); err != nil {
		return err
	}
	s.heal(healed)
	if s.Pages, err = openPageLog(s.dir.fs, s.dir.pages(), cfg.PagesBytes, p.Pages); err != nil {
		return err
	}
	if s.Refused, s.refusedLost, err = openRefusedLog(s.dir.fs, s.dir.refused(), p.Refused); err != nil {
		return err
	}
	s.minFree.Store(cfg.MinFreeBytes)
	s.Admissions.blocks.added, s.Done.blocks.added = s.noticeWork, s.noticeWork
	if s.runs, err = openRuns(s.dir.fs, s.dir.runs(), p.Runs); err != nil {
		return err
	}
	s.runs.sizes = s.runs.sizes.of(cfg.RunBlocks)
	s.openQueue(cfg, p)
	return nil
}

func (s *Store) heal(damage error) {
	if damage != nil {
		s.healed = append(s.healed, damage)
	}
}

// Healed returns the damage to the logs that was made good when they were opened, *DamageErrors each.
func (s *Store) Healed() []error { return s.healed }

// Configure sets all that cfg says but for its FS, from the next file and the next run on. It is called before Work, and
// before anything is added to the Queue.
func (s *Store) Configure(cfg Config) {
	cfg = cfg.withDefaults()
	s.KeepFree(cfg.MinFreeBytes)
	s.Pages.maxBytes = cfg.PagesBytes
	s.Admissions.blocks.segBytes, s.Done.blocks.segBytes = cfg.LogBytes, cfg.LogBytes
	s.runs.sizes = defaultRunSizes().of(cfg.RunBlocks)
	s.Queue.cfg.entries = cfg.QueueEntries
}

// KeepFree sets another Config.MinFreeBytes. It may be called from any goroutine.
func (s *Store) KeepFree(bytes int64) { s.minFree.Store(bytes) }

// Dir returns the directory's path.
func (s *Store) Dir() string { return s.dir.root }

// Rows calls fn for every row of the last checkpoint whose key starts with prefix, in no particular order. The value is
// the caller's. An error that is not fn's is a *DamageError.
func (s *Store) Rows(prefix string, fn func(key string, value []byte) error) error {
	return s.state.each(prefix, fn)
}

// Last returns the cut of the newest checkpoint: the one that was opened, or the one that was prepared last.
func (s *Store) Last() Cut { return s.last }

// Close gives the directory free, once Work and Commit have returned. What was appended since the last checkpoint is forgotten.
func (s *Store) Close() error {
	var errs []error
	if s.Admissions != nil {
		errs = append(errs, s.Admissions.close())
	}
	if s.URLs != nil {
		errs = append(errs, s.URLs.close())
	}
	if s.Done != nil {
		errs = append(errs, s.Done.close())
	}
	if s.Pages != nil {
		errs = append(errs, s.Pages.close())
	}
	if s.Refused != nil {
		errs = append(errs, s.Refused.close())
	}
	if s.runs != nil {
		errs = append(errs, s.runs.close())
	}
	if s.codec != nil {
		s.codec.close()
	}
	return errors.Join(append(errs, s.state.close(), s.lock.release())...)
}

// fail keeps the first error of a write: after it the files' ends are unknown.
func (s *Store) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
	return s.failed
}

func (s *Store) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

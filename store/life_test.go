package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"crawl/internal/vfs"
	"crawl/internal/vfs/vfstest"
)

// A life is what a crawl's directory goes through: Create, appends that fill blocks of both logs and roll all files, runs
// that are made and merged, checkpoints, a Close that loses appends, and a second session. What each checkpoint has to hold
// is known before. A lived life can be looked at between any two calls.
type life struct {
	models []*model // of checkpoint 1, 2, 3…
	rows   [][]Row  // that change with each

	store     *Store // nil: not open
	committed int    // checkpoints whose Commit has returned
}

// lifeCheckpoints are made in a life: by Create, two in the first session and one in the second.
const lifeCheckpoints = 4

func newLife(t testing.TB) *life {
	t.Helper()
	rng := rand.New(rand.NewPCG(77, 1))
	m := newModel()
	m.rows["born"] = "yes"
	l := &life{models: []*model{m.clone()}, rows: [][]Row{{{"born", []byte("yes")}}}}
	for len(l.models) < lifeCheckpoints {
		for range BlockEntries - 100 {
			m.admissions = append(m.admissions, randomAdmission(rng, uint64(len(m.admissions))+1))
			e := DoneEntry{Seq: 1 + rng.Uint64N(uint64(len(m.admissions))), Event: EventDone, Outcome: 1, Visit: 1}
			e.At = randomDone(rng).At
			m.done = append(m.done, e)
		}
		for range 8 {
			p := randomPage(rng)
			p.Record = uint64(len(m.pages)) + 1
			m.pages = append(m.pages, p)
		}
		l.rows = append(l.rows, m.change(rng, 20))
		m.books++
		l.models = append(l.models, m.clone())
	}
	return l
}

// memoryDir returns a folder in memory where the system has one: these tests make and sync files by the thousand, and what
// a disk makes of that is not their matter.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "crawl-store-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// unsynced is the real file system, which is never asked to sync.
func unsynced() vfs.FS { return vfstest.Ignore(vfs.OS{}, func(vfstest.Op) bool { return true }) }

// again is the same life, not yet lived.
func (l *life) again() *life { return &life{models: l.models, rows: l.rows} }

// lifeConfig rolls a log segment at each block, and the page records a few times between two checkpoints.
func lifeConfig(fsys vfs.FS) Config { return Config{PagesBytes: 4 << 10, LogBytes: 64 << 10, FS: fsys} }

// live goes through all of it in dir, or to the first error.
func (l *life) live(dir string, fsys vfs.FS) error {
	s, err := l.create(dir, fsys)
	if err != nil {
		return err
	}
	if err := l.session(s, 2, 3); err != nil {
		return err
	}
	if s, err = Open(dir, lifeConfig(fsys)); err != nil {
		return err
	}
	return l.session(s, 4, 4)
}

func (l *life) create(dir string, fsys vfs.FS) (*Store, error) {
	s, err := createOf(dir, lifeConfig(fsys), l.rows[0], 0)
	if err == nil {
		l.committed = 1
	}
	return s, err
}

// session makes checkpoints from one number to another, appends what belongs to none, and closes the store.
func (l *life) session(s *Store, from, to int) error {
	l.store = s
	s.runs.sizes.blocks, s.runs.sizes.fanIn, s.runs.sizes.bitsEvents = 1, 2, BlockEntries
	for number := from; number <= to; number++ {
		if err := l.checkpoint(s, number); err != nil {
			return err
		}
		l.committed = number
	}
	if to < lifeCheckpoints {
		if err := appendLost(s); err != nil {
			return err
		}
	}
	l.store = nil
	return s.Close()
}

func (l *life) checkpoint(s *Store, number int) error {
	if err := l.append(s, number); err != nil {
		return err
	}
	cp, err := s.Prepare(l.rows[number-1], l.models[number-1].books)
	if err != nil {
		return err
	}
	return cp.Commit()
}

// append brings the store to what a checkpoint has to hold, and makes what runs are due.
func (l *life) append(s *Store, number int) error {
	want := l.models[number-1]
	for _, a := range want.admissions[s.Admissions.Len():] {
		if _, err := s.Admissions.Append(a); err != nil {
			return err
		}
	}
	for _, e := range want.done[s.Done.Len():] {
		if err := s.Done.Append(e); err != nil {
			return err
		}
	}
	for _, p := range want.pages[s.Pages.Records():] {
		encoded, err := EncodePage(&p)
		if err == nil {
			_, err = s.Pages.Append(encoded)
		}
		if err != nil {
			return err
		}
	}
	return workOff(s)
}

// appendLost appends what no checkpoint will hold, and what the next session will not append either.
func appendLost(s *Store) error {
	for range BlockEntries {
		if _, err := s.Admissions.Append(Admission{URL: "https://lost.example/"}); err != nil {
			return err
		}
		if err := s.Done.Append(DoneEntry{Seq: 1, Event: EventDone, Outcome: 1}); err != nil {
			return err
		}
	}
	encoded, err := EncodePage(&Page{URL: "https://lost.example/", Title: strings.Repeat("lost", 900)})
	for range 5 {
		if err == nil {
			_, err = s.Pages.Append(encoded)
		}
	}
	return errors.Join(err, workOff(s))
}

// workOff does what background work is due.
func workOff(s *Store) error {
	for {
		if did, err := s.Work(context.Background()); err != nil || !did {
			return err
		}
	}
}

// lost says what a directory lacks of what it has to hold: it is one of the checkpoints exactly, and none older than the
// last whose Commit had returned. Before the first it may hold no crawl, and then a new one can begin there.
func (l *life) lost(dir string, committed int) (number int, err error) {
	quick := unsynced()
	r, err := OpenReader(dir)
	if errors.Is(err, ErrNotCrawl) && committed == 0 {
		s, err := createOf(dir, lifeConfig(quick), nil, 0)
		if err != nil {
			return 0, fmt.Errorf("after a Create that was cut short: %w", err)
		}
		return 0, errors.Join(newModel().differs(s), s.Close())
	}
	if err != nil {
		return 0, fmt.Errorf("a reader: %w", err)
	}
	if err := l.readerLacks(r, committed); err != nil {
		return 0, err
	}
	s, err := Open(dir, lifeConfig(quick))
	if err != nil {
		return 0, err
	}
	number = int(s.Last().Number)
	return number, errors.Join(l.lacks(s, committed), s.Close())
}

func (l *life) readerLacks(r *Reader, committed int) error {
	number := int(r.Cut().Number)
	if number < committed || number > len(l.models) {
		return fmt.Errorf("a reader sees checkpoint %d, the last was %d", number, committed)
	}
	pages, err := readPages(r, 0)
	if err == nil && !reflect.DeepEqual(pages, l.models[number-1].pages) {
		err = fmt.Errorf("a reader sees %d other pages", len(pages))
	}
	return err
}

func (l *life) lacks(s *Store, committed int) error {
	number := int(s.Last().Number)
	if number < committed || number > len(l.models) {
		return fmt.Errorf("it holds checkpoint %d, the last was %d", number, committed)
	}
	if err := cmp.Or(s.runs.harm...); err != nil {
		return fmt.Errorf("a run is lost: %w", err)
	}
	if healed := s.Healed(); len(healed) > 0 {
		return fmt.Errorf("a tail is lost, but for luck: %w", errors.Join(healed...))
	}
	errs := append(s.VerifyRuns(context.Background()), l.models[number-1].differs(s), leftOver(s))
	return errors.Join(errs...)
}

// leftOver names a file of a later date than the checkpoint that a store was opened at.
func leftOver(s *Store) error {
	cut := s.Last()
	for _, series := range []struct {
		dir, ext string
		last     uint64
	}{
		{s.dir.log(), logExt, cut.Admissions.File},
		{s.dir.log(), tailExt, cut.Admissions.block()},
		{s.dir.done(), logExt, cut.Done.File},
		{s.dir.done(), tailExt, cut.Done.block()},
		{s.dir.pages(), pageExt, max(cut.Pages.File, 1)},
	} {
		numbers, err := numbered(s.dir.fs, series.dir, series.ext)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			if n > series.last {
				return fmt.Errorf("%s is of a later date", numberedName(series.dir, n, series.ext))
			}
		}
	}
	return nil
}

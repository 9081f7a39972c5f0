package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// small makes every file roll within a test.
var small = Config{PagesBytes: 4 << 10, LogBytes: 260 << 10}

// model is what a store should hold.
type model struct {
	admissions []Admission
	done       []DoneEntry
	pages      []Page
	rows       map[string]string
	books      int
}

func newModel() *model { return &model{rows: make(map[string]string)} }

// clone is the model as of now: what follows is only appended, and rows are copied.
func (m *model) clone() *model {
	c := *m
	c.admissions, c.done, c.pages = slices.Clip(m.admissions), slices.Clip(m.done), slices.Clip(m.pages)
	c.rows = maps.Clone(m.rows)
	return &c
}

// grow appends up to n random entries to each log and a few page records, to the store and to the model.
func (m *model) grow(t testing.TB, rng *rand.Rand, s *Store, n int) {
	t.Helper()
	for range rng.IntN(n + 1) {
		a := randomAdmission(rng, uint64(len(m.admissions))+1)
		seq, err := s.Admissions.Append(a)
		if err != nil || seq != uint64(len(m.admissions))+1 {
			t.Fatalf("append of admission %d: number %d, %v", len(m.admissions)+1, seq, err)
		}
		m.admissions = append(m.admissions, a)
	}
	for range rng.IntN(n + 1) {
		e := randomDone(rng)
		if err := s.Done.Append(e); err != nil {
			t.Fatal(err)
		}
		m.done = append(m.done, e)
	}
	for range rng.IntN(12) {
		m.addPage(t, rng, s)
	}
}

func (m *model) addPage(t testing.TB, rng *rand.Rand, s *Store) {
	t.Helper()
	p := randomPage(rng)
	encoded, err := EncodePage(&p)
	if err != nil {
		t.Fatal(err)
	}
	p.Record = uint64(len(m.pages)) + 1
	record, err := s.Pages.Append(encoded)
	if err != nil || record != p.Record {
		t.Fatalf("append of page %d: record %d, %v", p.Record, record, err)
	}
	m.pages = append(m.pages, p)
}

// change changes and removes some rows of the model, and returns them.
func (m *model) change(rng *rand.Rand, n int) []Row {
	var rows []Row
	for range rng.IntN(n + 1) {
		key := fmt.Sprintf("host/%d.example", rng.IntN(4*n))
		if rng.IntN(3) == 0 {
			delete(m.rows, key)
			rows = append(rows, Row{Key: key})
			continue
		}
		value := strings.Repeat("v", rng.IntN(40))
		m.rows[key] = value
		rows = append(rows, Row{Key: key, Value: []byte(value)})
	}
	return rows
}

// commit makes a checkpoint of all that the model holds.
func (m *model) commit(t testing.TB, s *Store, rows []Row) Cut {
	t.Helper()
	m.books++
	cp, err := s.Prepare(rows, m.books)
	if err == nil {
		err = cp.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cp.Cut()
}

// check compares all of a store that was just opened, and what a reader sees, with the model.
func (m *model) check(t testing.TB, s *Store) {
	t.Helper()
	if err := m.differs(s); err != nil {
		t.Fatal(err)
	}
}

func (m *model) differs(s *Store) error {
	var admissions []Admission
	err := s.Admissions.Each(1, func(seq uint64, a Admission) error {
		admissions = append(admissions, a)
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.Equal(admissions, m.admissions) || s.Admissions.Len() != uint64(len(m.admissions)) {
		return fmt.Errorf("the admission log holds %d other entries, want %d", len(admissions), len(m.admissions))
	}
	var done []DoneEntry
	if err := s.Done.Each(0, func(e DoneEntry) error { done = append(done, e); return nil }); err != nil {
		return err
	}
	if !slices.Equal(done, m.done) || s.Done.Len() != uint64(len(m.done)) {
		return fmt.Errorf("the done log holds %d other entries, want %d", len(done), len(m.done))
	}
	rows := make(map[string]string)
	err = s.Rows("", func(key string, value []byte) error { rows[key] = string(value); return nil })
	if err != nil {
		return err
	}
	if !maps.Equal(rows, m.rows) {
		return fmt.Errorf("%d other rows, want %d", len(rows), len(m.rows))
	}
	if got, want := string(s.Last().Books), fmt.Sprint(m.books); got != want {
		return fmt.Errorf("the books say %s, want %s", got, want)
	}
	if s.Pages.Records() != uint64(len(m.pages)) {
		return fmt.Errorf("%d page records, want %d", s.Pages.Records(), len(m.pages))
	}
	r, err := OpenReader(s.Dir())
	if err != nil {
		return err
	}
	pages, err := readPages(r, 0)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(pages, m.pages) {
		return fmt.Errorf("a reader sees %d other pages, want %d", len(pages), len(m.pages))
	}
	return nil
}

func readPages(r *Reader, after uint64) (pages []Page, err error) {
	for p, err := range r.Pages(context.Background(), Query{After: after}) {
		if err != nil {
			return pages, err
		}
		pages = append(pages, *p)
	}
	return pages, nil
}

func randomAdmission(rng *rand.Rand, seq uint64) Admission {
	a := Admission{URL: randomURL(rng), Hash: rng.Uint64(), Depth: rng.Uint32() >> rng.IntN(32)}
	a.Class, a.Hop, a.Seed = uint8(rng.Uint32()), uint8(rng.Uint32()), rng.Uint32()>>rng.IntN(32)
	if rng.IntN(4) > 0 {
		a.From = rng.Uint64N(seq)
	}
	return a
}

func randomURL(rng *rand.Rand) string {
	return fmt.Sprintf("https://host%d.example/%d/%x", rng.IntN(100), rng.IntN(1000), rng.Uint64()>>rng.IntN(64))
}

func randomDone(rng *rand.Rand) DoneEntry {
	e := DoneEntry{
		Seq: 1 + rng.Uint64()>>(1+rng.IntN(63)), Event: EventDone, Outcome: Outcome(1 + rng.IntN(len(outcomeNames)-1)),
		Status: uint16(rng.Uint32()), Attempt: uint8(rng.Uint32()), Visit: uint16(rng.Uint32()),
		At: time.UnixMilli(rng.Int64N(1 << 42)).UTC(), Record: rng.Uint64() >> (1 + rng.IntN(63)),
	}
	if rng.IntN(3) == 0 {
		e.Event, e.Outcome, e.Named = EventAgain, Outcome(rng.IntN(len(outcomeNames))), rng.IntN(2) == 0
		e.Due = e.At.Add(time.Duration(rng.IntN(1e6)-1000) * time.Millisecond)
	}
	return e
}

func randomPage(rng *rand.Rand) Page {
	return Page{
		Seq: rng.Uint64(), Visit: 1 + rng.IntN(3), URL: randomURL(rng), Outcome: Outcome(1 + rng.IntN(len(outcomeNames)-1)),
		Status: 200 + rng.IntN(300), FetchedAt: time.UnixMilli(rng.Int64N(1 << 42)).UTC(),
		Title: strings.Repeat("<é\n> ", rng.IntN(40)), BodyBytes: rng.Int64(),
	}
}

// createOf is Create with a state that is there already.
func createOf(dir string, cfg Config, rows []Row, books any) (*Store, error) {
	return Create(dir, cfg, func() ([]Row, any, error) { return rows, books, nil })
}

func create(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := createOf(filepath.Join(t.TempDir(), "a", "b.crawl"), cfg, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it earlier, or break it
	return s
}

func open(t testing.TB, dir string, cfg Config) *Store {
	t.Helper()
	s, err := Open(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// copyDir copies a directory as a kill at this moment would leave it.
func copyDir(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// wantDamage fails the test unless err is a *DamageError that names file, and offset unless that is negative.
func wantDamage(t testing.TB, err error, file string, offset int64) {
	t.Helper()
	damage, ok := errors.AsType[*DamageError](err)
	if !ok || damage.File != file || (offset >= 0 && damage.Offset != offset) {
		t.Errorf("got error %v, want damage of %s at byte %d", err, file, offset)
	}
}

package store

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"
)

// After a write that fails, wherever it is, no checkpoint is made any more, each attempt says why, and the last one
// still opens.
func TestWriteErrorIsFinal(t *testing.T) {
	for _, tt := range []struct {
		name string
		harm func(t *testing.T, s *Store)   // before the entries of the next checkpoint
		late func(t *testing.T, s *Store)   // between Prepare and Commit
		file func(directory, *model) string // that the error names
	}{
		{name: "block of the admission log",
			harm: func(t *testing.T, s *Store) { shut(t, s.Admissions.blocks.series) },
			file: func(d directory, _ *model) string { return numberedName(d.log(), 0, logExt) }},
		{name: "block of the done log",
			harm: func(t *testing.T, s *Store) { shut(t, s.Done.blocks.series) },
			file: func(d directory, _ *model) string { return numberedName(d.done(), 0, logExt) }},
		{name: "page record",
			harm: func(t *testing.T, s *Store) { shut(t, s.Pages.series) },
			file: func(d directory, _ *model) string { return numberedName(d.pages(), 1, pageExt) }},
		{name: "new file",
			harm: func(t *testing.T, s *Store) {
				s.Pages.maxBytes = 1
				move(t, s.dir.pages())
			},
			file: func(d directory, m *model) string {
				return numberedName(d.pages(), uint64(len(m.pages))+1, pageExt)
			}},
		{name: "sync of the admission log",
			late: func(t *testing.T, s *Store) { shut(t, s.Admissions.blocks.series) },
			file: func(d directory, _ *model) string { return numberedName(d.log(), 0, logExt) }},
		{name: "sync of a directory",
			late: func(t *testing.T, s *Store) { move(t, s.dir.done()) },
			file: func(d directory, _ *model) string { return d.done() }},
		{name: "state.db",
			late: func(t *testing.T, s *Store) {
				if err := s.state.db.Close(); err != nil {
					t.Fatal(err)
				}
			},
			file: func(d directory, _ *model) string { return d.stateDB() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(12, 12))
			s, m := create(t, Config{}), newModel()
			fill(t, rng, s, m, BlockEntries+100)
			m.commit(t, s, m.change(rng, 10))
			s.Done.blocks.series.newNames = true // as after a new file
			dir := copyDir(t, s.Dir())

			if tt.harm != nil {
				tt.harm(t, s)
			}
			err := appendAll(rng, s)
			cp, prepareErr := s.Prepare(nil, "never seen")
			if tt.harm == nil {
				if err != nil || prepareErr != nil {
					t.Fatal(err, prepareErr)
				}
				tt.late(t, s)
				prepareErr = cp.Commit()
			}
			want, ok := errors.AsType[*WriteError](prepareErr)
			if !ok || want.File != tt.file(s.dir, m) {
				t.Fatalf("the checkpoint fails with %v, want a *WriteError that names %s", prepareErr, tt.file(s.dir, m))
			}
			for range 2 {
				if _, err := s.Prepare(nil, 0); !errors.Is(err, want) {
					t.Errorf("the next checkpoint fails with %v, want the first error again", err)
				}
			}
			if tt.harm != nil && appendAll(rng, s) == nil {
				t.Error("appends go on after a write error")
			}
			_ = s.Close() // says what it could not close
			m.check(t, open(t, dir, Config{}))
		})
	}
}

// A twin that cannot be written ends the checkpoints too. The last one that reached state.db stands: this one.
func TestTwinThatCannotBeWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	s, m := create(t, small), newModel()
	if err := os.Mkdir(s.dir.twin()+".new", 0o755); err != nil {
		t.Fatal(err)
	}
	m.grow(t, rng, s, 100)
	m.books++
	cp, err := s.Prepare(nil, m.books)
	if err != nil {
		t.Fatal(err)
	}
	err = cp.Commit()
	if w, ok := errors.AsType[*WriteError](err); !ok || w.File != s.dir.twin() {
		t.Errorf("Commit says %v, want a *WriteError that names %s", err, s.dir.twin())
	}
	if again := cp.Commit(); !errors.Is(again, err) {
		t.Errorf("Commit after a failure says %v", again)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(s.dir.twin() + ".new") // WriteWhole has removed it already
	m.check(t, open(t, s.Dir(), small))
}

// fill brings both logs over n entries.
func fill(t *testing.T, rng *rand.Rand, s *Store, m *model, n int) {
	t.Helper()
	for len(m.admissions) < n || len(m.done) < n {
		m.grow(t, rng, s, 1500)
	}
}

// appendAll fills at least a block of each log, and returns the first error.
func appendAll(rng *rand.Rand, s *Store) error {
	for range BlockEntries {
		if _, err := s.Admissions.Append(Admission{URL: randomURL(rng)}); err != nil {
			return err
		}
		if err := s.Done.Append(randomDone(rng)); err != nil {
			return err
		}
	}
	p := randomPage(rng)
	encoded, err := EncodePage(&p)
	if err != nil {
		return err
	}
	for range 5 {
		if _, err := s.Pages.Append(encoded); err != nil {
			return err
		}
	}
	return nil
}

// shut closes the open file of a series under it.
func shut(t *testing.T, s *series) {
	t.Helper()
	if err := s.file.Close(); err != nil {
		t.Fatal(err)
	}
}

// move takes a directory away, so that files in it can neither be made nor synced.
func move(t *testing.T, dir string) {
	t.Helper()
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Fatal(err)
	}
}

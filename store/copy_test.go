package store

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// A copy of a running crawl whose file `checkpoint` was taken first, and without state.db, is that checkpoint: what it names is
// still there, under another name at most, however long the rest took.
func TestCopyBesideTheCrawl(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	for range 12 {
		s, m := create(t, small), newModel()
		m.grow(t, rng, s, 6000)
		m.commit(t, s, nil)
		to := t.TempDir()
		copyFile(t, filepath.Join(s.Dir(), "checkpoint"), filepath.Join(to, "checkpoint"))
		saved := m.clone()
		names := []string{"format.json", "log", "done", "pages", "runs"}
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			for range rng.IntN(3) {
				m.grow(t, rng, s, 6000)
				m.commit(t, s, nil)
			}
			copyTree(t, filepath.Join(s.Dir(), name), filepath.Join(to, name))
		}
		fill := func(*Store) ([]Row, any, error) { return nil, saved.books, nil }
		if err := Recover(to, small, fill); err != nil {
			t.Fatal(err)
		}
		again := open(t, to, small)
		saved.check(t, again)
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		copyFile(t, path, filepath.Join(to, rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

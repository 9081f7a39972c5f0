package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"crawl/internal/vfs"
)

// A kill at any instant leaves the state after the last committed checkpoint, whatever the ends of the files beyond it
// look like; and the crawl goes on from there as if it had never been further.
func TestKill(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, seed))
			s, m := create(t, small), newModel()
			s.state.foldBytes = 1000
			last, saved := s.Last(), m.clone()
			for range 7 {
				m.grow(t, rng, s, 1500)
				rows := m.change(rng, 20)
				m.books++
				before, cutBefore := saved, last
				stop := rng.IntN(len(steps))
				prepared := m.clone()
				for i, step := range commitSteps(t, s, rows, m.books) {
					step()
					if i == wroteState {
						saved, last = prepared, s.Last()
					}
					if i == stop || rng.IntN(12) == 0 {
						t.Logf("killed in checkpoint %d, %s", s.Last().Number, steps[i])
						killed(t, rng, s.Dir(), saved, last)
					}
					if i == wroteState && rng.IntN(4) == 0 {
						tornState(t, s.Dir(), before, cutBefore)
					}
					if rng.IntN(3) == 0 {
						m.grow(t, rng, s, 300) // the committer goes on meanwhile
					}
				}
			}
		})
	}
}

// steps are the instants of a commit between which a kill may come.
var steps = [...]string{
	"prepared", "admissions synced", "done synced", "pages synced", "admission tail written", "done tail written",
	"state.db written", "half a twin", "twin", "outdated files removed",
}

const wroteState = 6

// commitSteps returns what Prepare and Commit do, a step at a time.
func commitSteps(t *testing.T, s *Store, rows []Row, books int) []func() {
	var cp *Checkpoint
	var encoded []byte
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sync := func(i int) func() { return func() { must(cp.syncs[i].run()) } }
	tail := func(i int) func() { return func() { _, err := cp.tails[i].write(); must(err) } }
	return []func(){
		func() {
			var err error
			cp, err = s.Prepare(rows, books)
			must(err)
		},
		sync(0), sync(1), sync(2), tail(0), tail(1),
		func() {
			cp.syncs = nil
			var err error
			encoded, err = cp.write()
			must(err)
		},
		func() { must(os.WriteFile(s.dir.twin()+".new", encoded[:len(encoded)/2], 0o600)) },
		func() { must(cp.publish(encoded)) },
		func() { must(cp.clean()) },
	}
}

// killed opens a copy of the directory whose files have any end beyond the checkpoint, and goes on with it.
func killed(t *testing.T, rng *rand.Rand, dir string, want *model, cut Cut) {
	t.Helper()
	dir = copyDir(t, dir)
	tear(t, rng, filepath.Join(dir, "log"), logExt, cut.Admissions.Position)
	tear(t, rng, filepath.Join(dir, "done"), logExt, cut.Done.Position)
	tear(t, rng, filepath.Join(dir, "pages"), pageExt, cut.Pages.Position)
	tear(t, rng, filepath.Join(dir, "log"), tailExt, tailEnd(t, dir, admissionBlock, cut.Admissions))
	tear(t, rng, filepath.Join(dir, "done"), tailExt, tailEnd(t, dir, doneBlock, cut.Done))
	s, err := Open(dir, small)
	if err != nil {
		t.Fatal(err)
	}
	want.check(t, s)
	if got := s.Last(); got.Number != cut.Number || !got.At.Equal(cut.At) {
		t.Fatalf("opened checkpoint %d of %s, want %d of %s", got.Number, got.At, cut.Number, cut.At)
	}
	m := want.clone()
	m.grow(t, rng, s, 1500)
	m.commit(t, s, m.change(rng, 20))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, small)
	m.check(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// tailEnd is where the open tail that an end of a log names ends in its file.
func tailEnd(t *testing.T, dir string, kind blockKind, end LogMark) Position {
	t.Helper()
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	folder := onDisk(dir).log()
	if kind == doneBlock {
		folder = onDisk(dir).done()
	}
	_, length, err := newBlockLog(vfs.OS{}, folder, kind, c).readTail(end)
	if err != nil {
		t.Fatal(err)
	}
	return Position{File: end.block(), Offset: length}
}

// tear gives the files of a series any end past the checkpoint's: cut, overwritten, or longer.
func tear(t *testing.T, rng *rand.Rand, dir, ext string, end Position) {
	t.Helper()
	numbers, err := numbered(vfs.OS{}, dir, ext)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range append(numbers, end.File+7) {
		name := numberedName(dir, n, ext)
		data, _ := os.ReadFile(name) // the last one is not there yet
		var kept int64
		if n < end.File {
			continue
		} else if n == end.File {
			kept = end.Offset
		}
		tail := data[kept:]
		switch rng.IntN(4) {
		case 0:
			tail = tail[:rng.IntN(len(tail)+1)]
		case 1:
			clear(tail)
		case 2:
			for range rng.IntN(3000) {
				tail = append(tail, byte(rng.Uint32()))
			}
		}
		if err := os.WriteFile(name, append(data[:kept:kept], tail...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tornState: a kill within bbolt's commit leaves the page of meta data before it, or a torn one after it.
func tornState(t *testing.T, dir string, want *model, cut Cut) {
	t.Helper()
	dir = copyDir(t, dir)
	loseNewestMeta(t, onDisk(dir).stateDB())
	s := open(t, dir, small)
	want.check(t, s)
	if s.Last().Number != cut.Number {
		t.Fatalf("opened checkpoint %d, want %d", s.Last().Number, cut.Number)
	}
}

func loseNewestMeta(t testing.TB, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := boltCheck{file: f}
	first, ok := c.metaAt(0, 0)
	second, ok2 := c.metaAt(int64(first.pageSize), 1)
	if !ok || !ok2 {
		t.Fatal("state.db has no two pages of meta data")
	}
	at := int64(0)
	if second.tx > first.tx {
		at = int64(first.pageSize)
	}
	if _, err := f.WriteAt(make([]byte, 20), at+boltPageHead+40); err != nil {
		t.Fatal(err)
	}
}

// A state.db that went back to the checkpoint before is noticed, before anything is cut back to it.
func TestStateThatWentBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	s, m := create(t, small), newModel()
	for range 3 {
		m.grow(t, rng, s, 3000)
		m.commit(t, s, m.change(rng, 20))
	}
	dir := copyDir(t, s.Dir())
	loseNewestMeta(t, onDisk(dir).stateDB())
	_, err := Open(dir, small)
	wantDamage(t, err, onDisk(dir).stateDB(), -1)
	for _, sub := range []string{"log", "done", "pages"} {
		if got, want := sizes(t, filepath.Join(dir, sub)), sizes(t, filepath.Join(s.Dir(), sub)); got != want {
			t.Errorf("%s has sizes %s after the refusal, want %s", sub, got, want)
		}
	}
}

func sizes(t testing.TB, dir string) (text string) {
	t.Helper()
	for _, e := range filesIn(t, dir) {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s %d ", e.Name(), info.Size())
	}
	return text
}

// Open makes the readers' twin of the checkpoint again when a kill or damage has left it behind.
func TestOpenMakesTheTwinAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	s, m := create(t, small), newModel()
	older, err := os.ReadFile(s.dir.twin())
	if err != nil {
		t.Fatal(err)
	}
	m.grow(t, rng, s, 100)
	m.commit(t, s, nil)
	for name, twin := range map[string][]byte{"older": older, "damaged": older[:50], "missing": nil} {
		dir := onDisk(copyDir(t, s.Dir()))
		if err := os.WriteFile(dir.twin(), twin, 0o600); err != nil {
			t.Fatal(err)
		}
		if twin == nil {
			if err := os.Remove(dir.twin()); err != nil {
				t.Fatal(err)
			}
		}
		again, err := Open(dir.root, small)
		if err != nil {
			t.Errorf("with a twin that is %s: %v", name, err)
			continue
		}
		m.check(t, again) // through a reader too
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Commit may run while the committer appends. The race detector watches.
func TestCommitBesideAppends(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	s, m := create(t, small), newModel()
	s.state.foldBytes = 100
	saved := m
	for range 10 {
		m.grow(t, rng, s, 800)
		rows := m.change(rng, 10)
		m.books++
		cp, err := s.Prepare(rows, m.books)
		if err != nil {
			t.Fatal(err)
		}
		saved = m.clone()
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := cp.Commit(); err != nil {
				t.Error(err)
			}
		})
		m.grow(t, rng, s, 5000)
		if _, err := s.Admissions.Get(1 + rng.Uint64N(s.Admissions.Len())); err != nil {
			t.Error(err)
		}
		if err := s.Rows("", func(string, []byte) error { return nil }); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if cp.Bytes() == 0 || cp.Duration() <= 0 || cp.Cut().Number != s.Last().Number {
			t.Errorf("checkpoint %d took %d bytes and %s", cp.Cut().Number, cp.Bytes(), cp.Duration())
		}
	}
	saved.check(t, open(t, copyDir(t, s.Dir()), small))
}

// Files roll at their size, and a record or block lies in one file.
func TestFilesRoll(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	s, m := create(t, Config{PagesBytes: 1, LogBytes: 1}), newModel()
	for len(m.admissions) < 3*BlockEntries || len(m.done) < 3*BlockEntries || len(m.pages) < 20 {
		m.grow(t, rng, s, 3000)
	}
	m.commit(t, s, nil)
	for sub, want := range map[string]int{
		"log": len(m.admissions)/BlockEntries + 1, "done": len(m.done)/BlockEntries + 1, "pages": len(m.pages), // each log its tail
	} {
		if files := filesIn(t, filepath.Join(s.Dir(), sub)); len(files) != want {
			t.Errorf("%s holds %d files, want %d", sub, len(files), want)
		}
	}
	again := open(t, copyDir(t, s.Dir()), Config{})
	m.check(t, again)
	before := len(filesIn(t, again.dir.pages()))
	m.addPage(t, rng, again)
	again.Configure(Config{PagesBytes: 1, LogBytes: 1}) // within a run too
	m.addPage(t, rng, again)
	m.addPage(t, rng, again)
	m.commit(t, again, nil)
	m.check(t, again)
	if after := len(filesIn(t, again.dir.pages())); after != before+2 {
		t.Errorf("%d files of page records became %d, want 2 more", before, after)
	}
}

func filesIn(t testing.TB, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// Rows and books that cannot be kept are refused, and the next checkpoint is none the worse.
func TestPrepareRefusals(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	s, m := create(t, small), newModel()
	m.grow(t, rng, s, 100)
	for _, rows := range [][]Row{{{Key: ""}}, {{Key: string(make([]byte, 1<<15+1)), Value: []byte("x")}}} {
		if _, err := s.Prepare(rows, 0); err == nil {
			t.Errorf("a row with a key of %d bytes is taken", len(rows[0].Key))
		}
	}
	if _, err := s.Prepare(nil, func() {}); err == nil {
		t.Error("books that have no JSON form are taken")
	}
	if cut := m.commit(t, s, m.change(rng, 10)); cut.Number != 2 {
		t.Errorf("the checkpoint after the first has number %d", cut.Number)
	}
	m.check(t, open(t, copyDir(t, s.Dir()), small))
}

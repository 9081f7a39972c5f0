package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"crawl/sortedrun"
)

// Whatever was written when, and wherever the process is killed: what the runs and the logs say together is what
// happened up to the last checkpoint.
func TestRunsAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	s, m := createRuns(t), newRunModel()
	saved := m.clone()
	for round := range 20 {
		m.admit(t, rng, s, 1+rng.IntN(2*BlockEntries))
		m.finish(t, rng, s, rng.IntN(2*BlockEntries))
		for range rng.IntN(6) {
			if _, err := s.Work(t.Context()); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(4) == 0 {
				checkpoint(t, s)
				saved = m.clone()
			}
		}
		if err := m.differs(rng, s); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if round%4 != 3 {
			continue
		}
		again := openWithRuns(t, asKilled(t, s))
		if err := saved.differs(rng, again); err != nil {
			t.Fatalf("round %d, killed: %v", round, err)
		}
		verified(t, again)
		workAll(t, again)
		verified(t, again)
		if err := errors.Join(saved.differs(rng, again), again.Close()); err != nil {
			t.Fatalf("round %d, killed and worked on: %v", round, err)
		}
	}
	workAll(t, s)
	verified(t, s)
	for _, kind := range []RunKind{HashRun, DoneRun} {
		infos := s.runs.infos(kind)
		if n := len(infos); n > 5 {
			t.Errorf("%d %s runs are left: %+v", n, kind, infos)
		}
	}
}

// A directory of before there were runs says nothing of them: all are made from the logs.
func TestRunsOfAnOldDirectory(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 2))
	s, m := createRuns(t), newRunModel()
	m.admit(t, rng, s, 5*BlockEntries+7)
	m.finish(t, rng, s, 5*BlockEntries+7)
	checkpoint(t, s)
	if err := errors.Join(s.Close(), os.RemoveAll(s.dir.runs())); err != nil {
		t.Fatal(err)
	}
	s = openWithRuns(t, s.Dir())
	if err := m.differs(rng, s); err != nil {
		t.Fatal(err)
	}
	if n := workAll(t, s); n != 7 { // twice two runs and a merge, and the bitmap
		t.Errorf("%d pieces of work, want 7", n)
	}
	verified(t, s)
	if err := m.differs(rng, s); err != nil {
		t.Fatal(err)
	}
}

// The files of runs that others took the place of go with the next checkpoint but one that names them, and not before.
func TestReplacedRunsStayForTheLastCheckpoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 3))
	s, m := createRuns(t), newRunModel()
	m.admit(t, rng, s, 2*BlockEntries)
	workAll(t, s)
	checkpoint(t, s)
	first := runFiles(t, s.Dir())
	m.admit(t, rng, s, 2*BlockEntries)
	cp, err := s.Prepare(nil, 0) // names the first run
	if err != nil {
		t.Fatal(err)
	}
	workAll(t, s)
	reader := s.runs.newest(HashRun)
	if err := cp.Commit(); err != nil {
		t.Fatal(err)
	}
	if files := runFiles(t, s.Dir()); len(files) != 3 || files[0] != first[0] {
		t.Errorf("files %v, want %v and two more", files, first)
	}
	checkpoint(t, s)
	if files := runFiles(t, s.Dir()); len(files) != 1 {
		t.Errorf("files %v, want the merged run alone", files)
	}
	s.runs.release(reader)
	if err := m.differs(rng, s); err != nil {
		t.Error(err)
	}
}

// Whoever reads a run reads on when another takes its place; its file goes when he has done.
func TestReadersOfReplacedRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 4))
	s, m := createRuns(t), newRunModel()
	m.admit(t, rng, s, 2*BlockEntries)
	workAll(t, s)
	reading := s.runs.newest(HashRun)
	cursor := reading[0].Seek(nil)
	m.admit(t, rng, s, 2*BlockEntries)
	workAll(t, s)
	checkpoint(t, s)
	n := 0
	for cursor.Next() {
		n++
	}
	if err := cursor.Err(); err != nil || uint64(n) != reading[0].Entries {
		t.Errorf("%d entries, %v, want %d", n, err, reading[0].Entries)
	}
	if files := runFiles(t, s.Dir()); len(files) != 2 {
		t.Errorf("files %v, want the merged run and the one that is read", files)
	}
	s.runs.release(reading)
	checkpoint(t, s)
	if files := runFiles(t, s.Dir()); len(files) != 1 {
		t.Errorf("files %v, want the merged run", files)
	}
}

// Run numbers are never used again, also when the process is killed before a checkpoint names them.
func TestRunNumbersAreNotUsedAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 5))
	s, m := createRuns(t), newRunModel()
	checkpoint(t, s)
	m.admit(t, rng, s, 4*BlockEntries)
	workAll(t, s)
	used := s.runs.next
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(s.dir.runs(), "note.txt")
	if err := os.WriteFile(foreign, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s = openWithRuns(t, s.Dir())
	if files := runFiles(t, s.Dir()); !slices.Equal(files, []string{foreign}) {
		t.Errorf("files %v, want only what is not ours", files)
	}
	if s.runs.next != used {
		t.Errorf("the next number is %d, want %d", s.runs.next, used)
	}
}

// A run that is damaged, wherever, is remade from the logs, and nothing wrong is ever said.
func TestDamagedRunsAreRemade(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 6))
	harms := map[string]func(data []byte) []byte{
		"gone":      func([]byte) []byte { return nil },
		"cut":       func(data []byte) []byte { return data[:rng.IntN(len(data))] },
		"longer":    func(data []byte) []byte { return append(data, 0) },
		"flipped":   func(data []byte) []byte { data[rng.IntN(len(data))] ^= 1 << rng.IntN(8); return data },
		"last byte": func(data []byte) []byte { data[len(data)-1] ^= 1; return data },
		"zeroed":    func(data []byte) []byte { clear(data); return data },
	}
	for _, tt := range []struct{ blocks, files int }{
		{3, 3}, // a hash run, a done run and the bitmap
		{7, 5}, // two of the former, so that a gap is before a run
	} {
		s, m := createRuns(t), newRunModel()
		m.admit(t, rng, s, tt.blocks*BlockEntries)
		m.finish(t, rng, s, tt.blocks*BlockEntries)
		workAll(t, s)
		checkpoint(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if files := runFiles(t, s.Dir()); len(files) != tt.files {
			t.Fatalf("files %v, want %d", files, tt.files)
		}
		for name, harm := range harms {
			for i := range tt.files {
				t.Run(fmt.Sprintf("%d/%s/%d", tt.blocks, name, i), func(t *testing.T) {
					dir := asKilled(t, s)
					file := runFiles(t, dir)[i]
					harmFile(t, file, harm)
					checkRemade(t, rng, m, dir, file)
				})
			}
			if tt.files > 3 {
				break
			}
		}
	}
}

// harmFile puts what harm makes of a file's bytes in its place; nil removes it.
func harmFile(t testing.TB, file string, harm func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if data = harm(data); data == nil {
		err = os.Remove(file)
	} else {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func checkRemade(t *testing.T, rng *rand.Rand, m *runModel, dir, file string) {
	s := openWithRuns(t, dir)
	found := s.VerifyRuns(t.Context())
	if len(found) == 0 {
		t.Error("VerifyRuns finds nothing")
	}
	named := func(err error) bool {
		damage, ok := errors.AsType[*DamageError](err)
		return ok && damage.File == file
	}
	for _, err := range found {
		if damage, ok := errors.AsType[*DamageError](err); !ok || filepath.Dir(damage.File) != filepath.Dir(file) {
			t.Errorf("VerifyRuns: %v", err)
		}
	}
	if !slices.ContainsFunc(found, named) {
		t.Errorf("VerifyRuns finds %v, not %s", found, file)
	}
	for range 2 { // what is met takes the run out of use
		err := m.differs(rng, s)
		if err != nil && !named(err) {
			t.Fatal(err)
		}
	}
	for range 2 { // a merge may meet it
		for did := true; did; {
			var err error
			if did, err = s.Work(t.Context()); err != nil && !named(err) {
				t.Fatal(err)
			}
		}
	}
	checkpoint(t, s)
	if err := errors.Join(m.differs(rng, s), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// Work goes on beside appends, checkpoints and look-ups, and says when it is due.
func TestWorkBesideTheCommitter(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 7))
	s, m := createRuns(t), newRunModel()
	ctx, cancel := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	worker.Go(func() {
		for {
			did, err := s.Work(ctx)
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			if did {
				continue
			}
			select {
			case <-ctx.Done():
				return
			case <-s.Wake():
			}
		}
	})
	for range 16 {
		m.admit(t, rng, s, rng.IntN(BlockEntries))
		m.finish(t, rng, s, rng.IntN(BlockEntries))
		checkpoint(t, s)
		if err := m.differs(rng, s); err != nil {
			t.Error(err)
		}
	}
	cancel()
	worker.Wait()
	workAll(t, s)
	verified(t, s)
}

// What is in runs is not looked up in the log: only its end is read.
func TestFindDoesNotReadWhatRunsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 11))
	s, m := createRuns(t), newRunModel()
	m.admit(t, rng, s, 7*BlockEntries)
	m.finish(t, rng, s, 7*BlockEntries)
	workAll(t, s)
	for _, log := range []*blockLog{s.Admissions.blocks, s.Done.blocks} {
		for _, at := range log.blocks[:6] {
			flip(t, log.name(at.segment), at.offset)
		}
	}
	if err := m.findsOthers(rng, s); err != nil {
		t.Error(err)
	}
	if _, err := s.DoneBits(); err != nil {
		t.Error(err)
	}
	gone := uint64(len(m.hashes)) + 1
	if _, found, err := s.LastDone(gone); found || err != nil {
		t.Errorf("LastDone of a number that was never given: %v, %v", found, err)
	}
}

// Wake holds a value once appends made work due, and not before.
func TestWakeSaysThatWorkIsDue(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 12))
	s, m := createRuns(t), newRunModel()
	awake := func() bool {
		select {
		case <-s.Wake():
			return true
		default:
			return false
		}
	}
	if workAll(t, s); awake() {
		t.Error("work is due in an empty crawl")
	}
	m.admit(t, rng, s, 2*BlockEntries-1)
	if awake() {
		t.Error("work is due before two blocks are full")
	}
	if m.admit(t, rng, s, 1); !awake() || workAll(t, s) != 1 {
		t.Error("no work is due with two full blocks")
	}
	m.finish(t, rng, s, 2*BlockEntries-1)
	if awake() {
		t.Error("work is due before two blocks are full")
	}
	if m.finish(t, rng, s, 1); !awake() || workAll(t, s) != 1 {
		t.Error("no work is due with two full blocks")
	}
}

// A reader looks things up beside the crawl, as of the checkpoint that it reads, while runs are replaced under it. Files
// that are gone before it opened them make it read a newer one.
func TestReaderBesideWork(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 10))
	s, m := createRuns(t), newRunModel()
	m.admit(t, rng, s, 2*BlockEntries+10)
	m.finish(t, rng, s, 2*BlockEntries+10)
	workAll(t, s)
	checkpoint(t, s)
	used, late := openReader(t, s), openReader(t, s)
	then := m.clone()
	if err := then.readerDiffers(rng, used); err != nil {
		t.Fatal(err)
	}
	m.admit(t, rng, s, 2*BlockEntries)
	m.finish(t, rng, s, 2*BlockEntries)
	workAll(t, s)
	checkpoint(t, s)
	if err := then.readerDiffers(rng, used); err != nil {
		t.Errorf("a reader that had all open: %v", err)
	}
	if err := m.readerDiffers(rng, late); err != nil {
		t.Errorf("a reader whose files are gone: %v", err)
	}
	if err := used.Refresh(); err != nil {
		t.Fatal(err)
	}
	if err := m.readerDiffers(rng, used); err != nil {
		t.Errorf("a reader that was refreshed: %v", err)
	}
	harmFile(t, runFiles(t, s.Dir())[0], func([]byte) []byte { return nil })
	if err := m.readerDiffers(rng, openReader(t, s)); err != nil {
		t.Errorf("a reader without a damaged run: %v", err)
	}
}

func openReader(t testing.TB, s *Store) *Reader {
	t.Helper()
	r, err := OpenReader(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// readerDiffers compares what a reader finds with the model, for some hashes and numbers.
func (m *runModel) readerDiffers(rng *rand.Rand, r *Reader) error {
	for range 20 {
		h := m.hashes[rng.IntN(len(m.hashes))]
		found, err := r.Find([]uint64{h, rng.Uint64()})
		if err != nil || len(found) != 1 || found[h] != m.first[h] {
			return fmt.Errorf("hash %x: %v, %v, want %d", h, found, err, m.first[h])
		}
		seq := 1 + rng.Uint64N(uint64(len(m.hashes)))
		if a, err := r.Admission(seq); err != nil || a.Hash != m.hashes[seq-1] {
			return fmt.Errorf("admission %d: hash %x, %v, want %x", seq, a.Hash, err, m.hashes[seq-1])
		}
		want, ok := m.last[seq]
		if e, found, err := r.LastDone(seq); err != nil || found != ok || e != want {
			return fmt.Errorf("number %d: %+v (%v), %v, want %+v (%v)", seq, e, found, err, want, ok)
		}
	}
	if _, err := r.Admission(uint64(len(m.hashes)) + 1); err == nil {
		return errors.New("an admission past the checkpoint")
	}
	return nil
}

// A merge that is not wanted any more leaves nothing, and one that the disk has no room for does not start.
func TestMergesEndEarlyOrDoNotStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 8))
	s, m := createRuns(t), newRunModel()
	m.admit(t, rng, s, 4*BlockEntries)
	for range 2 {
		if did, err := s.Work(t.Context()); !did || err != nil {
			t.Fatal(did, err)
		}
	}
	files := runFiles(t, s.Dir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if did, err := s.Work(ctx); did || !errors.Is(err, context.Canceled) {
		t.Errorf("Work after its context ended: %v, %v", did, err)
	}
	if got := runFiles(t, s.Dir()); !slices.Equal(got, files) {
		t.Errorf("files %v, want %v", got, files)
	}
	s.KeepFree(1 << 62)
	if did, err := s.Work(t.Context()); did || err != nil {
		t.Errorf("Work on a full disk: %v, %v", did, err)
	}
	s.KeepFree(1)
	if did, err := s.Work(t.Context()); !did || err != nil {
		t.Errorf("Work with room again: %v, %v", did, err)
	}
}

// What comes from a run that agrees with its checksums but not with its log is noticed.
func TestVerifyRunsComparesWithTheLogs(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 9))
	s, m := createRuns(t), newRunModel()
	m.admit(t, rng, s, 4*BlockEntries)
	m.finish(t, rng, s, 4*BlockEntries)
	workAll(t, s)
	verified(t, s)
	for _, kind := range []RunKind{HashRun, DoneRun} {
		old := s.runs.newest(kind)
		made, err := s.runs.build(old[0].RunInfo, sortedrun.Options{}, func(w *sortedrun.Writer) error {
			return addPairs(w, []pair{{m.hashes[0], 1}, {1, 1}}, make([]pair, 2))
		})
		if err != nil {
			t.Fatal(err)
		}
		s.runs.replace(made, old)
		s.runs.release(old)
		if found := s.VerifyRuns(t.Context()); len(found) != 1 {
			t.Errorf("a wrong %s run: %v", kind, found)
		} else {
			wantDamage(t, found[0], made.file.Name(), -1)
		}
		s.runs.replace(nil, []*run{made})
		if found := s.VerifyRuns(t.Context()); len(found) != 0 {
			t.Errorf("without a %s run: %v", kind, found)
		}
		workAll(t, s)
	}
	verified(t, s)
}

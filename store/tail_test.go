package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"crawl/internal/vfs"
	"crawl/internal/vfs/vfstest"
)

// A checkpoint costs what was added since the last one, however much waits for its block to fill.
func TestTailsAreWrittenOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	s, m := create(t, Config{}), newModel()
	for range BlockEntries - 700 {
		appendOne(t, rng, s, m)
	}
	whole := tailBytes(t, s, m)
	written := whole
	for range 20 {
		for range 10 {
			appendOne(t, rng, s, m)
		}
		written += tailBytes(t, s, m)
	}
	if again := tailBytes(t, s, m); again != 0 {
		t.Errorf("a checkpoint without anything new appends %d bytes", again)
	}
	if written > whole+whole/4 {
		t.Errorf("%d entries took %d bytes, %d further ones %d", BlockEntries-700, whole, 2*200, written-whole)
	}
	if on := sizeOf(t, s.dir.log(), tailExt) + sizeOf(t, s.dir.done(), tailExt); on != int64(written) {
		t.Errorf("the files have %d bytes, %d were written", on, written)
	}
	m.check(t, open(t, copyDir(t, s.Dir()), Config{}))
}

func appendOne(t *testing.T, rng *rand.Rand, s *Store, m *model) {
	t.Helper()
	a, e := randomAdmission(rng, uint64(len(m.admissions))+1), randomDone(rng)
	_, err := s.Admissions.Append(a)
	if err := errors.Join(err, s.Done.Append(e)); err != nil {
		t.Fatal(err)
	}
	m.admissions, m.done = append(m.admissions, a), append(m.done, e)
}

// tailBytes makes a checkpoint and returns what it appended to the open tails.
func tailBytes(t *testing.T, s *Store, m *model) int {
	t.Helper()
	m.books++
	cp, err := s.Prepare(nil, m.books)
	if err == nil {
		err = cp.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	if cp.Bytes() <= cp.TailBytes() {
		t.Errorf("the checkpoint wrote %d bytes, %d of them tails", cp.Bytes(), cp.TailBytes())
	}
	return cp.TailBytes()
}

// sizeOf adds up a folder's files of an extension.
func sizeOf(t *testing.T, dir, ext string) (bytes int64) {
	t.Helper()
	numbers, err := numbered(vfs.OS{}, dir, ext)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		info, err := os.Stat(numberedName(dir, n, ext))
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	return bytes
}

// The file of a tail that became a block goes with the first checkpoint after which nobody needs it.
func TestTailsOfFullBlocksGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(62, 1))
	s, m := create(t, Config{}), newModel()
	for range 4 {
		fill(t, rng, s, m, len(m.admissions)+BlockEntries)
		m.commit(t, s, nil)
		for _, log := range []struct {
			dir     string
			entries int
		}{{s.dir.log(), len(m.admissions)}, {s.dir.done(), len(m.done)}} {
			numbers, err := numbered(vfs.OS{}, log.dir, tailExt)
			if want := uint64(log.entries / BlockEntries); err != nil || len(numbers) != 1 || numbers[0] != want {
				t.Errorf("%s has tails %v, %v, want %d", log.dir, numbers, err, want)
			}
		}
	}
}

// A log that ends with a full block has no tail, and leaves none of a later date.
func TestNoTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 1))
	s, m := create(t, Config{}), newModel()
	for range BlockEntries {
		appendOne(t, rng, s, m)
	}
	m.commit(t, s, nil)
	saved := m.clone()
	dir := copyDir(t, s.Dir())
	appendOne(t, rng, s, m)
	m.commit(t, s, nil)
	for _, folder := range []string{"log", "done"} { // of a checkpoint that did not come about
		from, to := numberedName(filepath.Join(s.Dir(), folder), 1, tailExt), numberedName(filepath.Join(dir, folder), 1, tailExt)
		if data, err := os.ReadFile(from); err != nil || os.WriteFile(to, data, 0o644) != nil {
			t.Fatal(err)
		}
	}
	again := open(t, dir, Config{})
	saved.check(t, again)
	if got := sizeOf(t, again.dir.log(), tailExt) + sizeOf(t, again.dir.done(), tailExt); got != 0 {
		t.Errorf("tails of a later date have %d bytes", got)
	}
	for range 10 {
		appendOne(t, rng, again, saved)
	}
	saved.commit(t, again, nil)
	saved.check(t, open(t, copyDir(t, dir), Config{}))
}

// Each byte of a tail is under a checksum. Damage is named with the entries that are lost, an inspection reads those before
// it, and a reader refuses what it cannot have.
func TestDamagedTails(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 1))
	s, m := create(t, Config{}), newModel()
	ends := map[string][]int{"log": nil, "done": nil} // entries of each chunk's end
	for range 5 {
		for range 1 + rng.IntN(200) {
			appendOne(t, rng, s, m)
		}
		m.commit(t, s, nil)
		for folder := range ends {
			ends[folder] = append(ends[folder], len(m.done))
		}
	}
	d := s.dir
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for folder := range ends {
		name := numberedName(d.path(folder), 0, tailExt)
		check := func(t *testing.T) {
			err := openAndRead(d, m)
			damage, ok := errors.AsType[*DamageError](err)
			if !ok || damage.File != name {
				t.Fatalf("Open says %v, want damage of %s", err, name)
			}
			_, err = readerOf(t, d.root).Admission(1)
			wantDamage(t, err, name, damage.Offset)
			got := inspect(t, d.root)
			have := len(got.events)
			if folder == "log" {
				have = len(got.admissions)
			}
			kind := map[string]string{"log": "URLs", "done": "events"}[folder]
			if errors.Is(damage, ErrElsewhere) {
				t.Errorf("%v, and there is no such block", damage)
			}
			wantOneDamage(t, got.damage, name, damage.Offset, fmt.Sprintf("%s %d to %d: ", kind, have+1, len(m.done)))
			if have > 0 != (damage.Offset > 0) || have > 0 && !slices.Contains(ends[folder], have) {
				t.Errorf("%d entries come before byte %d", have, damage.Offset)
			}
		}
		damaged(t, rng, name, 6, check)
		t.Run(folder+" in another order", func(t *testing.T) {
			whole, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			chunks := chunksOf(t, whole, map[string]blockKind{"log": admissionBlock, "done": doneBlock}[folder])
			for _, order := range [][]int{{1, 0, 2, 3, 4}, {0, 0, 1, 2, 3, 4}, {0, 2, 1, 3, 4}, {0, 1, 3, 2, 4}, {0, 1, 2, 4}} {
				var data []byte
				for _, i := range order {
					data = append(data, chunks[i]...)
				}
				if err := os.WriteFile(name, data, 0o644); err != nil {
					t.Fatal(err)
				}
				check(t)
			}
			if err := os.WriteFile(name, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		})
		t.Run(folder+" gone", func(t *testing.T) {
			whole, err := os.ReadFile(name)
			if err != nil || os.Remove(name) != nil {
				t.Fatal(err)
			}
			check(t)
			if err := os.WriteFile(name, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := openAndRead(d, m); err != nil {
		t.Error(err)
	}
}

// chunksOf takes a tail's file apart.
func chunksOf(t *testing.T, data []byte, kind blockKind) (chunks [][]byte) {
	t.Helper()
	for len(data) > 0 {
		head, err := parseHead(data, kind)
		if err != nil {
			t.Fatal(err)
		}
		chunks, data = append(chunks, data[:head.length()]), data[head.length():]
	}
	return chunks
}

func readerOf(t *testing.T, dir string) *Reader {
	t.Helper()
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// grownCrawl is a crawl that was killed after the tails of its last checkpoint had become blocks: m is what that checkpoint
// holds.
func grownCrawl(t *testing.T, rng *rand.Rand) (directory, *model) {
	t.Helper()
	s, m := create(t, Config{}), newModel()
	fill(t, rng, s, m, BlockEntries+500)
	m.commit(t, s, m.change(rng, 10))
	saved := m.clone()
	fill(t, rng, s, m, 3*BlockEntries)
	if len(saved.admissions) >= 2*BlockEntries || len(saved.done) >= 2*BlockEntries {
		t.Fatal("the tails of the checkpoint are of later blocks")
	}
	return onDisk(copyDir(t, s.Dir())), saved
}

// A tail that is gone or damaged is in the block that it became, if the crawl went on: an older reader finds it there, an
// inspection too, and Open makes the file again before it cuts the block off, wherever that is interrupted.
func TestTailsAreMadeAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(65, 1))
	d, m := grownCrawl(t, rng)
	for name, harm := range map[string]func(string) error{
		"gone":    os.Remove,
		"empty":   func(name string) error { return os.Truncate(name, 0) },
		"cut":     func(name string) error { return os.Truncate(name, 500) },
		"rubbish": func(name string) error { return os.WriteFile(name, []byte(strings.Repeat("rubbish ", 999)), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				dir := onDisk(copyDir(t, d.root))
				files := []string{numberedName(dir.log(), uint64(len(m.admissions)/BlockEntries), tailExt),
					numberedName(dir.done(), uint64(len(m.done)/BlockEntries), tailExt)}
				if err := errors.Join(harm(files[0]), harm(files[1])); err != nil {
					t.Fatal(err)
				}
				if n == 1 {
					wantTailsElsewhere(t, dir, m, files)
				}
				killed := vfstest.NewFail(unsynced(), vfstest.Failure{N: n, Err: syscall.EIO, Forever: true, Part: 0.5})
				s, err := Open(dir.root, Config{FS: killed})
				if err == nil && len(s.Healed()) != 2 {
					t.Errorf("made good: %v", s.Healed())
				}
				if s != nil {
					_ = s.Close()
				}
				again := open(t, dir.root, Config{FS: unsynced()})
				m.check(t, again)
				_ = again.Close()
				if _, failed := killed.Failed(); !failed {
					break
				}
			}
		})
	}
}

// wantTailsElsewhere: what only reads finds the entries, and an inspection says which files are damaged.
func wantTailsElsewhere(t *testing.T, d directory, m *model, files []string) {
	t.Helper()
	r := readerOf(t, d.root)
	defer r.Close()
	last := uint64(len(m.admissions))
	if a, err := r.Admission(last); err != nil || a != m.admissions[last-1] {
		t.Errorf("a reader finds %+v, %v, want %+v", a, err, m.admissions[last-1])
	}
	e := m.done[len(m.done)-1]
	if got, found, err := r.LastDone(e.Seq); err != nil || !found || got != e {
		t.Errorf("a reader finds %+v, %v, want %+v", got, err, e)
	}
	got := inspect(t, d.root)
	if len(got.admissions) != len(m.admissions) || len(got.events) != len(m.done) || len(got.damage) != 2 {
		t.Errorf("an inspection reads %d admissions of %d and %d events of %d: %v",
			len(got.admissions), len(m.admissions), len(got.events), len(m.done), got.damage)
	}
	for i, damage := range got.damage {
		if d, ok := errors.AsType[*DamageError](damage); !ok || d.File != files[i] || !errors.Is(d, ErrElsewhere) {
			t.Errorf("the damage is %v, want %s", damage, files[i])
		}
	}
}

// A reader that is older than the tail's file needs nothing but the log.
func TestReaderOfAnOlderCheckpoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(66, 1))
	s, m := create(t, Config{}), newModel()
	fill(t, rng, s, m, 500)
	m.commit(t, s, nil)
	old, saved := readerOf(t, s.Dir()), m.clone()
	defer old.Close()
	fill(t, rng, s, m, 2*BlockEntries)
	m.commit(t, s, nil)
	if numbers, err := numbered(vfs.OS{}, s.dir.log(), tailExt); err != nil || numbers[0] == 0 {
		t.Fatalf("tails %v, %v", numbers, err)
	}
	for seq := range uint64(len(saved.admissions)) {
		if a, err := old.Admission(seq + 1); err != nil || a != saved.admissions[seq] {
			t.Fatalf("number %d is %+v, %v", seq+1, a, err)
		}
	}
	if _, err := old.Admission(uint64(len(saved.admissions)) + 1); err == nil || old.Cut().Number != 2 {
		t.Errorf("at checkpoint %d it knows what came later, %v", old.Cut().Number, err)
	}
}

// Whatever a tail's file holds, reading it gives the named entries or an error that names it.
func FuzzTail(f *testing.F) {
	rng := rand.New(rand.NewPCG(67, 1))
	c, err := newCodec()
	if err != nil {
		f.Fatal(err)
	}
	defer c.close()
	var a admissions
	for seq := range uint64(9) {
		a.append(randomAdmission(rng, seq+1))
	}
	whole := a.encode(c, nil, 0, 0)
	f.Add(whole, uint64(9))
	f.Add(append(whole[:len(whole):len(whole)], a.encode(c, nil, 0, 5)...), uint64(4))
	f.Add([]byte(blockMagic), uint64(1))
	dir := onDisk(memoryDir(f))
	if err := os.Mkdir(dir.log(), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, entries uint64) {
		end := LogMark{Entries: entries % BlockEntries}
		if err := os.WriteFile(tailName(dir.log(), end), data, 0o644); err != nil {
			t.Fatal(err)
		}
		l := readAdmissionLog(dir, c)
		length, err := l.restoreTail(end)
		if d, ok := errors.AsType[*DamageError](err); err != nil && (!ok || d.File != tailName(dir.log(), end)) {
			t.Fatal(err)
		}
		if err == nil && (l.tailLen() != end.tailEntries() || length > int64(len(data))) || l.tailLen() > end.tailEntries() {
			t.Errorf("%d of %d entries in %d bytes of %d, %v", l.tailLen(), end.tailEntries(), length, len(data), err)
		}
	})
}

// What a checkpoint has taken of an open tail stays as it was while the block and those after it are filled. What none has
// taken is written over.
func TestTakenTailStays(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 9))
	s, m := create(t, Config{}), newModel()
	fill := func(n int) {
		for range n {
			appendOne(t, rng, s, m)
		}
	}
	memory := func() (places [2]*byte) {
		return [...]*byte{&s.Admissions.tail.hashes[0], &s.Done.tail.steps[0]}
	}
	fill(BlockEntries + 300) // the second block has all the memory that it needs from the start
	m.books++
	cp, err := s.Prepare(nil, m.books)
	if err != nil {
		t.Fatal(err)
	}
	taken, before := m.clone(), memory()
	fill(2 * BlockEntries)
	if err := cp.Commit(); err != nil {
		t.Fatal(err)
	}
	taken.check(t, open(t, copyDir(t, s.Dir()), Config{}))
	after := memory()
	if before[0] == after[0] || before[1] == after[1] {
		t.Error("a tail lies where the one lies that was taken")
	}
	fill(BlockEntries)
	if memory() != after {
		t.Error("a tail that nobody has taken is left to the collector")
	}
}

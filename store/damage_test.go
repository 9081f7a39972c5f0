package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"crawl/internal/vfs"
)

// harm is one way to damage a file. It returns false when there is nothing to harm.
type harm struct {
	name string
	do   func(rng *rand.Rand, data []byte) []byte
}

var harms = []harm{
	{"a flipped bit", func(rng *rand.Rand, data []byte) []byte {
		data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
		return data
	}},
	{"a byte of ones", func(rng *rand.Rand, data []byte) []byte {
		data[rng.IntN(len(data))] = 0xff
		return data
	}},
	{"a few zeros", func(rng *rand.Rand, data []byte) []byte {
		at := rng.IntN(len(data))
		clear(data[at:min(at+1+rng.IntN(16), len(data))])
		return data
	}},
	{"a zeroed sector", func(rng *rand.Rand, data []byte) []byte {
		at := rng.IntN(len(data)) &^ 511
		clear(data[at:min(at+512, len(data))])
		return data
	}},
	{"a lost end", func(rng *rand.Rand, data []byte) []byte { return data[:rng.IntN(len(data))] }},
	{"all zeros", func(_ *rand.Rand, data []byte) []byte { clear(data); return data }},
	{"no content", func(*rand.Rand, []byte) []byte { return nil }},
}

// damaged calls fn for each of n harms of each kind to a file, and mends it.
func damaged(t *testing.T, rng *rand.Rand, file string, n int, fn func(t *testing.T)) {
	t.Helper()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n * len(harms) {
		h := harms[i%len(harms)]
		data := h.do(rng, append([]byte(nil), whole...))
		if string(data) == string(whole) {
			continue
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fn(t)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s with %s takes %d bytes of memory", filepath.Base(file), h.name, took)
		}
		if t.Failed() {
			t.Fatalf("%s with %s, harm %d", file, h.name, i)
		}
	}
	if err := os.WriteFile(file, whole, 0o644); err != nil {
		t.Fatal(err)
	}
}

// damageCrawl is a crawl with at least n entries in each log, several files of page records, and a tree of rows with
// deltas over it, in a directory that is closed.
func damageCrawl(t *testing.T, rng *rand.Rand, n int) (directory, *model, Cut) {
	t.Helper()
	s, m := create(t, small), newModel()
	s.state.foldBytes = 20 << 10
	fill(t, rng, s, m, n)
	for i := 0; i < 6 || deltaBytes(t, s) == 0; i++ {
		m.grow(t, rng, s, 50)
		m.commit(t, s, m.change(rng, 1500>>i))
	}
	cut := s.Last()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s.dir, m, cut
}

// Each byte of the logs is under a checksum: whatever is damaged below the checkpoint's lengths is found, at the latest
// where it is read, and named by file and block.
func TestDamagedLogs(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	d, m, _ := damageCrawl(t, rng, 5*BlockEntries+100)
	s := open(t, d.root, small)
	blocks := append(s.Admissions.blocks.blocks[:0:0], s.Admissions.blocks.blocks...)
	doneBlocks := append(s.Done.blocks.blocks[:0:0], s.Done.blocks.blocks...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, log := range []struct {
		dir    string
		blocks []blockAt
	}{{d.log(), blocks}, {d.done(), doneBlocks}} {
		numbers, err := numbered(vfs.OS{}, log.dir, logExt)
		if err != nil || len(numbers) < 2 {
			t.Fatalf("%s has segments %v, %v", log.dir, numbers, err)
		}
		for _, n := range numbers {
			name := numberedName(log.dir, n, logExt)
			whole, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			damaged(t, rng, name, 4, func(t *testing.T) {
				err := openAndRead(d, m)
				damage, ok := errors.AsType[*DamageError](err)
				if !ok || damage.File != name {
					t.Fatalf("got %v, want damage of %s", err, name)
				}
				wantBlock(t, damage, n, log.blocks, whole)
			})
		}
	}
}

// wantBlock: the damage starts where a block does that has changed, or where the file ends now.
func wantBlock(t *testing.T, damage *DamageError, segment uint64, blocks []blockAt, whole []byte) {
	t.Helper()
	data, err := os.ReadFile(damage.File)
	if err != nil {
		t.Fatal(err)
	}
	if damage.Offset == int64(len(data)) {
		return
	}
	for _, b := range blocks {
		if b.segment != segment || b.offset != damage.Offset {
			continue
		}
		if end := b.offset + b.length; int64(len(data)) < end || !bytes.Equal(data[b.offset:end], whole[b.offset:end]) {
			return
		}
	}
	t.Errorf("no block that has changed starts at byte %d: %v", damage.Offset, damage)
}

// openAndRead opens a crawl and compares all of it with the model.
func openAndRead(d directory, m *model) error {
	s, err := Open(d.root, small)
	if err != nil {
		return err
	}
	return errors.Join(m.differs(s), s.Close())
}

// A state.db with anything wrong in it is refused, or the damage is where nothing is kept: then what is written later is
// whole too.
func TestDamagedState(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 15))
	d, m, _ := damageCrawl(t, rng, 100)
	refused, whole := 0, 0
	damaged(t, rng, d.stateDB(), 40, func(t *testing.T) {
		if err := openAndRead(d, m); err != nil {
			refused++
			wantDamage(t, err, d.stateDB(), -1)
			return
		}
		if whole++; whole%4 == 0 {
			goOn(t, rng, copyDir(t, d.root), m.clone())
		}
	})
	if refused < 100 {
		t.Errorf("%d refusals, %d crawls that are whole: the file has too much room that is unused", refused, whole)
	}
}

// A leaf that says that it has fewer rows than it has is a leaf like any other: only the ledger knows.
func TestLostRows(t *testing.T) {
	s, m := create(t, small), newModel()
	s.state.foldBytes = 1
	var rows []Row
	for i := range 20 {
		key := fmt.Sprintf("host/%d.example", i)
		rows = append(rows, Row{Key: key, Value: make([]byte, 100)})
		m.rows[key] = string(make([]byte, 100))
	}
	m.commit(t, s, rows)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(s.dir.stateDB())
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []uint16{0, 1, 19} {
		changed := 0
		data := bytes.Clone(whole)
		for at := 0; at < len(data); at += os.Getpagesize() {
			if head := data[at+8:]; binary.NativeEndian.Uint32(head) == boltLeaf|20<<16 {
				binary.NativeEndian.PutUint16(head[2:], count)
				changed++
			}
		}
		if changed == 0 {
			t.Fatal("no leaf holds the 20 rows")
		}
		if err := os.WriteFile(s.dir.stateDB(), data, 0o600); err != nil {
			t.Fatal(err)
		}
		err := openAndRead(s.dir, m)
		wantDamage(t, err, s.dir.stateDB(), -1)
		if want := fmt.Sprintf("its rows are %d entries", count); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want that %s", err, want)
		}
	}
}

// goOn makes some checkpoints that fold, and compares all after a restart.
func goOn(t *testing.T, rng *rand.Rand, dir string, m *model) {
	t.Helper()
	s := open(t, dir, small)
	s.state.foldBytes = 1
	for range 2 {
		m.grow(t, rng, s, 50)
		m.commit(t, s, m.change(rng, 300))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openAndRead(onDisk(dir), m); err != nil {
		t.Fatal(err)
	}
}

// The readers' twin is refused by readers, and made again by Open.
func TestDamagedTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 16))
	d, m, _ := damageCrawl(t, rng, 100)
	damaged(t, rng, d.twin(), 5, func(t *testing.T) {
		_, err := OpenReader(d.root)
		wantDamage(t, err, d.twin(), -1)
		if err := openAndRead(d, m); err != nil {
			t.Error(err)
		}
	})
}

// format.json has no checksum: it is refused with a typed error, or says the same.
func TestDamagedFormat(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 17))
	d, m, _ := damageCrawl(t, rng, 100)
	damaged(t, rng, d.format(), 20, func(t *testing.T) {
		err := openAndRead(d, m)
		if _, ok := errors.AsType[*VersionError](err); !ok && err != nil {
			wantDamage(t, err, d.format(), -1)
		}
	})
}

// Page records are plain JSON, without checksums. Lost or broken lines are found where they are read; records are never
// fewer in silence.
func TestDamagedPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 18))
	d, m, cut := damageCrawl(t, rng, 100)
	numbers, err := numbered(vfs.OS{}, d.pages(), pageExt)
	if err != nil || len(numbers) < 3 {
		t.Fatalf("files of page records: %v, %v", numbers, err)
	}
	for _, n := range []uint64{numbers[0], numbers[len(numbers)/2], cut.Pages.File} {
		name := numberedName(d.pages(), n, pageExt)
		damaged(t, rng, name, 6, func(t *testing.T) {
			r, err := OpenReader(d.root)
			if err != nil {
				t.Fatal(err)
			}
			pages, err := readPages(r, 0)
			if err != nil {
				wantDamage(t, err, name, -1)
			} else if len(pages) != len(m.pages) {
				t.Errorf("%d records, want %d", len(pages), len(m.pages))
			}
		})
	}
}

// A file that is cut between two entries has nothing in it that is wrong but its length.
func TestCutBetweenEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 19))
	d, m, cut := damageCrawl(t, rng, 5*BlockEntries+100)
	s := open(t, d.root, small)
	second := s.Admissions.blocks.blocks[1]
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if second.segment != 0 {
		t.Fatal("the first segment has one block only")
	}
	line := lineEnd(t, numberedName(d.pages(), 1, pageExt), 2)
	for _, tt := range []struct {
		name   string
		file   string
		keep   int64
		offset int64
		atOpen bool // it is found before anything is read
	}{
		{"block", numberedName(d.log(), 0, logExt), second.offset, second.offset, true},
		{"within a block", numberedName(d.log(), 0, logExt), second.offset + 1000, second.offset, true},
		{"record", numberedName(d.pages(), 1, pageExt), line, line, false},
		{"all records", numberedName(d.pages(), cut.Pages.File, pageExt), 0, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := copyDir(t, d.root)
			rel, err := filepath.Rel(d.root, tt.file)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, rel)
			if err := os.Truncate(file, tt.keep); err != nil {
				t.Fatal(err)
			}
			wantDamage(t, openAndRead(onDisk(dir), m), file, tt.offset)
			if s, err := Open(dir, small); tt.atOpen != (err != nil) {
				t.Errorf("Open says %v", err)
			} else if err == nil {
				_ = s.Close()
			}
		})
	}
}

// lineEnd is where line n of a file ends.
func lineEnd(t *testing.T, file string, n int) int64 {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range data {
		if c == '\n' {
			if n--; n == 0 {
				return int64(i) + 1
			}
		}
	}
	t.Fatalf("%s has too few lines", file)
	return 0
}

// Blocks that stand in each other's place are whole, but not the log.
func TestExchangedSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 33))
	s, m := create(t, Config{LogBytes: 1}), newModel()
	fill(t, rng, s, m, 3*BlockEntries)
	m.commit(t, s, nil)
	for _, dir := range []string{"log", "done"} {
		to := copyDir(t, s.Dir())
		first, second := numberedName(filepath.Join(to, dir), 0, logExt), numberedName(filepath.Join(to, dir), 1, logExt)
		err := errors.Join(os.Rename(first, first+".x"), os.Rename(second, first), os.Rename(first+".x", second))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(to, Config{})
		wantDamage(t, err, first, 0)
	}
}

// A file that is gone is named.
func TestMissingFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 20))
	d, m, cut := damageCrawl(t, rng, 5*BlockEntries+100)
	for _, file := range []string{
		numberedName("log", 0, logExt), numberedName("log", cut.Admissions.File, logExt),
		numberedName("done", cut.Done.File, logExt), numberedName("pages", 1, pageExt),
		numberedName("pages", cut.Pages.File, pageExt),
	} {
		dir := copyDir(t, d.root)
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		wantDamage(t, openAndRead(onDisk(dir), m), filepath.Join(dir, file), -1)
	}
}

package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var smallExact = Config{FalsePositiveRate: 0.01, ExpectedItems: 5000, Seed: 11}

// openSmall opens a set that makes a run of every few hundred hashes.
func openSmall(t testing.TB, dir string, before func(step, file string) error) *Exact {
	t.Helper()
	e, err := openExact(dir, smallExact, before)
	if err != nil {
		t.Fatal(err)
	}
	e.own.limit = 700
	return e
}

// memoryFolder is a folder in memory where the system has one: what a test writes there costs no disk's time.
func memoryFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "seen")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func mustAdd(t testing.TB, e *Exact, hashes ...uint64) {
	t.Helper()
	if err := e.TestAndAddBatch(hashes, make([]bool, len(hashes))); err != nil {
		t.Fatal(err)
	}
}

// model is an exact set beside a map.
type model struct {
	t     *testing.T
	set   *Exact
	known map[uint64]bool
	r     *rand.Rand
	was   []bool
}

// draw returns hashes of which most are known after a while.
func (m *model) draw(n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = numbered(min(m.r.IntN(200_000), m.r.IntN(200_000)))
	}
	m.was = slices.Grow(m.was[:0], n)[:n]
	return hashes
}

func (m *model) compare(what string, hashes []uint64, err error, adds bool) {
	m.t.Helper()
	if err != nil {
		m.t.Fatalf("%s: %v", what, err)
	}
	for i, h := range hashes {
		if m.was[i] != m.known[h] {
			m.t.Fatalf("%s of %d: hash %d: %v, want %v", what, len(hashes), i, m.was[i], m.known[h])
		}
		if adds {
			m.known[h] = true
		}
	}
}

// Against a map, over a million operations, with many runs, merges, and the folder opened again in between.
func TestExactModel(t *testing.T) {
	most := 1_000_000
	if testing.Short() {
		most = 200_000
	}
	dir := memoryFolder(t)
	open := func() *Exact {
		e := openSmall(t, dir, nil)
		e.own.limit = 9000
		return e
	}
	m := model{t: t, set: open(), known: map[uint64]bool{0: true}, r: rand.New(rand.NewPCG(5, 6))}
	mustAdd(t, m.set, 0)
	for ops := 0; ops < most; {
		hashes := m.draw(1 + m.r.IntN(300))
		switch m.r.IntN(100) {
		case 0, 1:
			hashes = hashes[:1]
			var err error
			m.was[0], err = m.set.TestAndAdd(hashes[0])
			m.compare("TestAndAdd", hashes, err, true)
		case 2, 3:
			hashes = hashes[:1]
			var err error
			m.was[0], err = m.set.Has(hashes[0])
			m.compare("Has", hashes, err, false)
		case 4, 5, 6, 7:
			m.compare("HasBatch", hashes, m.set.HasBatch(hashes, m.was), false)
		case 8:
			if m.r.IntN(2) > 0 {
				break
			}
			if err := m.set.Sync(); err != nil {
				t.Fatal(err)
			}
		case 9:
			if m.r.IntN(6) > 0 {
				break
			}
			if err := m.set.Close(); err != nil {
				t.Fatal(err)
			}
			m.set = open()
		default:
			m.compare("TestAndAddBatch", hashes, m.set.TestAndAddBatch(hashes, m.was), true)
		}
		ops += len(hashes)
		if m.set.Len() != uint64(len(m.known)) {
			t.Fatalf("%d hashes, want %d", m.set.Len(), len(m.known))
		}
	}
	st := m.set.LookupStats()
	if st.Runs > maxRuns+1 || st.Unsynced > 9000 {
		t.Errorf("%+v", st)
	}
	if err := m.set.Close(); err != nil {
		t.Fatal(err)
	}
	if perKey := float64(diskBytes(t, dir)) / float64(len(m.known)); perKey > 12 {
		t.Errorf("%.1f bytes a key at rest", perKey)
	}
}

func diskBytes(t *testing.T, dir string) (sum int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

// steps stops before each step that the disk takes: it keeps a copy of the folder as a kill would leave it, or fails the
// step. A merge takes steps too, in its own goroutine.
type steps struct {
	mu     sync.Mutex
	dir    string
	copies []string // folders; nil to: none are kept
	to     string
	fail   int // step that fails, counted from 1; 0: none
	taken  []string
}

var errStep = errors.New("the disk fails")

func (s *steps) before(step, file string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = append(s.taken, strings.TrimSpace(step+" "+file))
	if s.to != "" {
		name := filepath.Join(s.to, fmt.Sprint(len(s.copies)))
		if err := copyFolder(name, s.dir); err != nil {
			return err
		}
		s.copies = append(s.copies, name)
	}
	if len(s.taken) == s.fail {
		return errStep
	}
	return nil
}

// copyFolder copies what os.CopyFS would, but for files that vanish meanwhile.
func copyFolder(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := errors.Join(err, os.WriteFile(filepath.Join(to, e.Name()), data, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// wantKilled opens a folder as a kill left it: all that was synced is there, and nothing that was never added.
func wantKilled(t *testing.T, dir string, synced, added []uint64) {
	t.Helper()
	e := openSmall(t, dir, nil)
	defer e.Close()
	has := make([]bool, len(added))
	if err := e.HasBatch(synced, has[:len(synced)]); err != nil || slices.Contains(has[:len(synced)], false) {
		t.Fatalf("a synced hash is gone (%v)", err)
	}
	if err := e.HasBatch(added, has); err != nil {
		t.Fatal(err)
	}
	var there uint64
	for _, yes := range has {
		if yes {
			there++
		}
	}
	if e.Len() != there {
		t.Fatalf("%d hashes are there, %d of those that were added", e.Len(), there)
	}
	others := randomHashes(999, 500)
	has = make([]bool, len(others))
	if err := e.HasBatch(others, has); err != nil || slices.Contains(has, true) {
		t.Fatalf("a hash is there that was never added (%v)", err)
	}
}

// A kill before any step of Sync, of a merge or of Close loses nothing that was synced.
func TestExactKill(t *testing.T) {
	s := &steps{dir: memoryFolder(t), to: memoryFolder(t)}
	hashes := randomHashes(1, 3000)
	e := openSmall(t, s.dir, s.before)
	checked := 0
	check := func(synced, added int) {
		t.Helper()
		s.mu.Lock()
		copies := s.copies[checked:]
		checked = len(s.copies)
		s.mu.Unlock()
		for _, dir := range copies[min(len(copies), 1-min(1, synced)):] { // before the first step there is no folder to open
			wantKilled(t, dir, hashes[:synced], hashes[:added])
		}
	}
	synced := 0
	for n := 250; n <= len(hashes); n += 250 {
		mustAdd(t, e, hashes[n-250:n]...)
		if n%750 > 0 {
			continue
		}
		if err := e.Sync(); err != nil {
			t.Fatal(err)
		}
		check(synced, n)
		synced = n
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	check(synced, len(hashes))
	wantKilled(t, s.dir, hashes, hashes)
	if checked < 40 {
		t.Errorf("%d steps", checked)
	}
}

// Whatever step fails, the error is passed on, what failed was not added, and going on afterwards loses nothing.
func TestExactDiskFails(t *testing.T) {
	hashes := randomHashes(1, 750)
	for fail := 7; ; fail++ { // the first ones are those of opening
		s := &steps{dir: memoryFolder(t), fail: fail}
		e := openSmall(t, s.dir, s.before)
		failed := false
		for batch := range slices.Chunk(hashes, 250) {
			before := e.Len()
			err := e.TestAndAddBatch(batch, make([]bool, len(batch)))
			if err != nil {
				failed = true
				if !errors.Is(err, errStep) || e.Len() != before {
					t.Fatalf("step %d: %v, %d hashes after %d", fail, err, e.Len(), before)
				}
				mustAdd(t, e, batch...)
			}
			if err := e.Sync(); err != nil {
				failed = true
				if !errors.Is(err, errStep) {
					t.Fatalf("step %d: %v", fail, err)
				}
			}
		}
		if err := e.Close(); err != nil && !errors.Is(err, errStep) {
			t.Fatalf("step %d: %v", fail, err)
		} else if err == nil {
			wantKilled(t, s.dir, hashes, hashes)
		}
		if !failed && len(s.taken) < fail {
			return // all steps had their turn
		}
	}
}

// A run is durable, and its name, before the manifest names it; the manifest is before its name is.
func TestExactSyncOrder(t *testing.T) {
	s := &steps{dir: t.TempDir()}
	e := openSmall(t, s.dir, s.before)
	defer e.Close()
	mustAdd(t, e, 1, 2, 3)
	s.taken = nil
	if err := e.Sync(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"create 00000001.run", "write 00000001.run", "write 00000001.run", "sync 00000001.run", "sync folder",
		"remove manifest.tmp", "create manifest.tmp", "write manifest.tmp", "sync manifest.tmp", "rename manifest", "sync folder",
	}
	if !slices.Equal(s.taken, want) {
		t.Errorf("steps %q, want %q", s.taken, want)
	}
	s.taken = nil
	if err := e.Sync(); err != nil || len(s.taken) > 0 {
		t.Errorf("with nothing new: %v, steps %q", err, s.taken)
	}
}

// The seed is the folder's; a folder has one owner; after Close there is nothing to ask.
func TestExactOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	e, err := OpenExact(dir, Config{})
	if err != nil {
		t.Fatal(err)
	}
	h := e.HashString("https://a.example/")
	mustAdd(t, e, h)
	if _, err := OpenExact(dir, Config{}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second one: %v", err)
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.TestAndAdd(h + 1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("TestAndAdd after Close: %v", err)
	}
	if err := e.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Sync after Close: %v", err)
	}
	for _, tt := range []struct {
		c    Config
		want error
	}{
		{Config{Seed: 5}, ErrMismatch},
		{Config{FalsePositiveRate: 0.2, ExpectedItems: 70_000}, nil}, // the front is made anew
		{Config{}, nil},
	} {
		e, err := OpenExact(dir, tt.c)
		if !errors.Is(err, tt.want) {
			t.Fatalf("%+v: %v", tt.c, err)
		}
		if err != nil {
			continue
		}
		if was, err := e.TestAndAdd(e.HashString("https://a.example/")); !was || err != nil {
			t.Errorf("%+v: %v, %v", tt.c, was, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := OpenExact(dir, Config{FalsePositiveRate: 2}); err == nil {
		t.Error("an impossible error is taken")
	}
}

// Abandon forgets what was not synced.
func TestExactAbandon(t *testing.T) {
	dir := t.TempDir()
	e := openSmall(t, dir, nil)
	mustAdd(t, e, 1, 2)
	if err := e.Sync(); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, e, 3)
	if err := errors.Join(e.Abandon(), e.Abandon(), e.Close()); err != nil {
		t.Fatal(err)
	}
	wantKilled(t, dir, []uint64{1, 2}, []uint64{1, 2})
}

// Files left over by a kill go; what is nobody's stays.
func TestExactSweeps(t *testing.T) {
	dir := t.TempDir()
	e := openSmall(t, dir, nil)
	mustAdd(t, e, 1)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00000099.run", "notes.run", "manifest.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e = openSmall(t, dir, nil)
	mustAdd(t, e, 2)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if want := []string{"00000001.run", "00000002.run", "lock", "manifest", "notes.run"}; !slices.Equal(names, want) {
		t.Errorf("left %q, want %q", names, want)
	}
}

// What is damaged says so, with its name: at opening, which reads all, or when it is read later.
func TestExactDamage(t *testing.T) {
	whole := t.TempDir()
	e := openSmall(t, whole, nil)
	hashes := randomHashes(1, 5000)
	for batch := range slices.Chunk(hashes, 500) {
		mustAdd(t, e, batch...)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	run := runName(e.own.runs[0].number)
	for _, tt := range []struct {
		name, file string
		change     func(data []byte) []byte // nil: removed
		want       error
		text       string
	}{
		{"flipped page", run, func(b []byte) []byte { b[pageBytes+100] ^= 4; return b }, ErrDamaged, "byte 4096"},
		{"cut off", run, func(b []byte) []byte { return b[:len(b)-9] }, ErrDamaged, "byte "},
		{"empty", run, func([]byte) []byte { return nil }, ErrDamaged, "byte 0"},
		{"missing", run, nil, ErrDamaged, "missing"},
		{"another run", run, func([]byte) []byte { return writeRun(t, counted(1, 2, 30)) }, ErrDamaged, "30 hashes"},
		{"flipped manifest", manifestName, func(b []byte) []byte { b[40] ^= 4; return b }, ErrDamaged, ""},
		{"cut manifest", manifestName, func(b []byte) []byte { return b[:30] }, ErrDamaged, ""},
		{"no manifest", manifestName, nil, ErrDamaged, "missing"},
		{"text", manifestName, func([]byte) []byte { return []byte("hello") }, ErrFormat, ""},
		{"a filter's head", manifestName, func([]byte) []byte {
			b, _ := mustScalable(t, smallExact).Header().MarshalBinary()
			return b
		}, ErrFormat, ""},
		{"newer", manifestName, func(b []byte) []byte { return newerHead(b) }, ErrNewer, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			if err := copyFolder(dir, whole); err != nil {
				t.Fatal(err)
			}
			changeFile(t, filepath.Join(dir, tt.file), tt.change)
			_, err := OpenExact(dir, smallExact)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), filepath.Join(dir, tt.file)) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v", err)
			}
		})
	}
	e = openSmall(t, whole, nil)
	defer e.Close()
	changeFile(t, filepath.Join(whole, run), func(b []byte) []byte { b[2*pageBytes+5] ^= 1; return b })
	err := e.HasBatch(hashes, make([]bool, len(hashes)))
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), run+": byte 8192") {
		t.Errorf("damaged while open: %v", err)
	}
	if err := e.TestAndAddBatch(append(hashes, 42), make([]bool, len(hashes)+1)); !errors.Is(err, ErrDamaged) || e.Len() != 5000 {
		t.Errorf("%v, %d hashes", err, e.Len())
	}
}

func changeFile(t *testing.T, name string, change func([]byte) []byte) {
	t.Helper()
	if change == nil {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	data = change(data)
	if _, err := f.WriteAt(data, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		t.Fatal(err)
	}
}

// newerHead returns a head as the next version would write it.
func newerHead(head []byte) []byte {
	head[len(magic)] = version + 1
	body := head[:len(head)-sumBytes]
	return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
}

package sortedrun

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomKey returns a key that often shares a long prefix with others: words of a small alphabet, some cut short, bytes
// 0x00 and 0xff among them.
func randomKey(rng *rand.Rand) []byte {
	words := []string{"", "\x00", "\xff", strings.Repeat("\xff", 8), "host.example", "host.example/a/very/long/common/path/", "x"}
	var key []byte
	for range rng.IntN(5) {
		key = append(key, words[rng.IntN(len(words))]...)
	}
	for range rng.IntN(4) {
		key = append(key, byte(rng.IntN(256)))
	}
	return key
}

// randomValue is empty often, longer than a block at times.
func randomValue(rng *rand.Rand) []byte {
	size := 0
	switch rng.IntN(100) {
	case 0:
		size = rng.IntN(64 << 10)
	case 1, 2, 3, 4, 5:
		size = 100 + rng.IntN(200)
	default:
		size = max(0, rng.IntN(40)-10)
	}
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(rng.IntN(1 + size%256))
	}
	return value
}

// randomEntries returns at most n entries, in order.
func randomEntries(rng *rand.Rand, n int) []entry {
	entries := make([]entry, 0, n)
	for range n {
		entries = append(entries, entry{randomKey(rng), randomValue(rng), randomKey(rng)})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	return slices.CompactFunc(entries, func(a, b entry) bool { return bytes.Equal(a.key, b.key) })
}

func testOptions() []Options {
	var all []Options
	for _, size := range []int{0, 1, 100, 4096, 1 << 30} {
		all = append(all, Options{BlockBytes: size}, Options{BlockBytes: size, Compress: true})
	}
	return all
}

// walker is what a Cursor and a Merged have in common.
type walker interface {
	Next() bool
	Key() []byte
	Note() []byte
	Value() []byte
	Err() error
	Seek(key []byte)
}

// checkWalk checks that w goes on with up to limit of the entries, and ends there if these are all.
func checkWalk(t *testing.T, w walker, want []entry, limit int) {
	t.Helper()
	for i, e := range want {
		if i == limit {
			return
		}
		if !w.Next() {
			t.Fatalf("the walk ends after %d of %d entries: %v", i, len(want), w.Err())
		}
		if !bytes.Equal(w.Key(), e.key) || !bytes.Equal(w.Value(), e.value) || !bytes.Equal(w.Note(), e.note) {
			t.Fatalf("entry %d is %x with %d bytes, want %x with %d", i, w.Key(), len(w.Value()), e.key, len(e.value))
		}
		_ = append(w.Value(), "what a caller appends stays its own"...)
	}
	for range 2 { // the end stays the end
		if w.Next() || w.Err() != nil {
			t.Fatalf("after the last entry: %x, %v", w.Key(), w.Err())
		}
	}
}

// from returns the entries from key on.
func from(entries []entry, key []byte) []entry {
	i, _ := slices.BinarySearchFunc(entries, key, func(e entry, k []byte) int { return bytes.Compare(e.key, k) })
	return entries[i:]
}

// A run holds what was added, in every way of reading it.
func TestModel(t *testing.T) {
	for i, o := range testOptions() {
		for _, n := range []int{0, 1, 2, 17, 3000} {
			t.Run(fmt.Sprintf("%+v/%d", o, n), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(n)))
				entries := randomEntries(rng, n)
				r := open(t, build(t, o, entries))
				if got := r.Info().Entries; got != uint64(len(entries)) {
					t.Errorf("Info says %d entries, want %d", got, len(entries))
				}
				if err := r.Verify(t.Context()); err != nil {
					t.Error(err)
				}
				checkWalk(t, r.Seek(nil), entries, n+1)
				checkSeeks(t, rng, r, entries)
				checkGets(t, rng, r, entries)
			})
		}
	}
}

// checkSeeks seeks on one cursor and on new ones: to keys that are there, near them, anywhere; forward and backward.
func checkSeeks(t *testing.T, rng *rand.Rand, r *Run, entries []entry) {
	t.Helper()
	c, at := r.Seek([]byte("m")), 0
	for range 500 {
		key := randomKey(rng)
		if len(entries) > 0 && rng.IntN(4) > 0 {
			if at += rng.IntN(12) - 1; rng.IntN(10) == 0 || at < 0 || at >= len(entries) {
				at = rng.IntN(len(entries))
			}
			key = slices.Clone(entries[at].key)
			if rng.IntN(3) == 0 {
				key = append(key, 0)
			} else if len(key) > 0 && rng.IntN(3) == 0 {
				key = key[:len(key)-1]
			}
		}
		if rng.IntN(10) == 0 {
			c = r.Seek(key)
		} else {
			c.Seek(key)
		}
		limit := rng.IntN(4)
		if rng.IntN(50) == 0 {
			limit = rng.IntN(len(entries) + 1)
		}
		checkWalk(t, c, from(entries, key), limit)
	}
}

func checkGets(t *testing.T, rng *rand.Rand, r *Run, entries []entry) {
	t.Helper()
	var kept [][]byte
	for _, e := range entries {
		value, found, err := r.Get(e.key)
		if err != nil || !found {
			t.Fatalf("Get(%x): %v, %v", e.key, found, err)
		}
		kept = append(kept, value)
	}
	for i, e := range entries {
		if !bytes.Equal(kept[i], e.value) { // a copy: later calls do not change it
			t.Fatalf("Get(%x): another value", e.key)
		}
	}
	for range 200 {
		key := randomKey(rng)
		rest := from(entries, key)
		want := len(rest) > 0 && bytes.Equal(rest[0].key, key)
		if _, found, err := r.Get(key); found != want || err != nil {
			t.Fatalf("Get(%x): %v, %v, want %v", key, found, err, want)
		}
	}
}

// An index of several blocks is walked and sought through like one.
func TestManyIndexBlocks(t *testing.T) {
	var entries []entry
	for i := range 20_000 {
		entries = append(entries, entry{key: fmt.Appendf(nil, "key %08d", 2*i), value: fmt.Appendf(nil, "%d", i)})
	}
	r := open(t, build(t, Options{BlockBytes: 100}, entries))
	if r.footer.indexBlocks < 5 || r.footer.blocks < 2000 {
		t.Fatalf("%d blocks, %d index blocks: too few to show anything", r.footer.blocks, r.footer.indexBlocks)
	}
	if err := r.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	checkWalk(t, r.Seek(nil), entries, len(entries)+1)
	forward, backward := r.Seek(nil), r.Seek(nil)
	for i := range len(entries) {
		forward.Seek(fmt.Appendf(nil, "key %08d", 2*i-1))
		checkWalk(t, forward, entries[i:], 1)
		last := len(entries) - 1 - i
		backward.Seek(fmt.Appendf(nil, "key %08d", 2*last-1))
		checkWalk(t, backward, entries[last:], 1)
	}
	for i := 0; i < len(entries); i += 997 {
		c := r.Seek(entries[i].key)
		checkWalk(t, c, entries[i:], len(entries))
	}
}

// The longest entries are kept, in blocks of any size.
func TestLongEntries(t *testing.T) {
	for _, o := range testOptions() {
		long := bytes.Repeat([]byte("k"), MaxEntryBytes)
		entries := []entry{
			{value: make([]byte, MaxEntryBytes)},
			{key: long[:MaxEntryBytes/2], value: bytes.Repeat([]byte("value"), MaxEntryBytes/10)},
			{key: long[:MaxEntryBytes-3], value: []byte{1}, note: []byte{2, 3}},
			{key: long[:MaxEntryBytes-1], note: []byte{4}},
			{key: long},
		}
		r := open(t, build(t, o, entries))
		if err := r.Verify(t.Context()); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
		checkWalk(t, r.Seek(nil), entries, 9)
		for i, e := range entries {
			checkWalk(t, r.Seek(e.key), entries[i:], 9)
		}
	}
}

// Get may be called by several goroutines at once.
func TestConcurrentGet(t *testing.T) {
	entries := randomEntries(rand.New(rand.NewPCG(1, 1)), 2000)
	r := open(t, build(t, Options{BlockBytes: 512, Compress: true}, entries))
	done := make(chan error)
	const readers = 4
	for i := range readers {
		go func() {
			for j := range 4000 {
				e := entries[(i*1000+j*7)%len(entries)]
				if value, found, err := r.Get(e.key); err != nil || !found || !bytes.Equal(value, e.value) {
					done <- fmt.Errorf("Get(%x): %v, %v", e.key, found, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range readers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"crawl/internal/vfs/vfstest"
)

// inspected reads all that an inspection can read.
type inspected struct {
	admissions []uint64
	events     []uint64 // positions
	backward   int
	pages      []uint64
	damage     []error
}

func inspect(t *testing.T, dir string) (got inspected) {
	t.Helper()
	i, damage, err := Inspect(dir, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	}()
	got.damage = damage
	if _, left := i.Cut(); !left {
		return got
	}
	collect := func(damage []error, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		got.damage = append(got.damage, damage...)
	}
	collect(i.EachAdmission(t.Context(), func(seq uint64, a Admission) error {
		got.admissions = append(got.admissions, seq)
		return nil
	}))
	collect(i.EachEvent(t.Context(), 0, func(position uint64, e DoneEntry) error {
		got.events = append(got.events, position)
		return nil
	}))
	_, err = i.EachEventBackward(t.Context(), func(DoneEntry) error { got.backward++; return nil })
	collect(nil, err)
	for p, err := range i.Pages(t.Context()) {
		if _, damaged := errors.AsType[*DamageError](err); err != nil && !damaged {
			t.Fatal(err)
		}
		if err != nil {
			got.damage = append(got.damage, err)
		} else {
			got.pages = append(got.pages, p.Record)
		}
	}
	return got
}

// lacking returns which of the numbers up to n are not in a list.
func lacking(list []uint64, n int) (gone []uint64) {
	for i := uint64(1); i <= uint64(n); i++ {
		if _, found := slices.BinarySearch(list, i); !found {
			gone = append(gone, i)
		}
	}
	return gone
}

// A block that is damaged, in its head or behind it, costs its own entries, and what is behind it is read: the damage says
// which entries those are.
func TestInspectReadsBehindDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 31))
	d, m, _ := damageCrawl(t, rng, 5*BlockEntries+100)
	s := open(t, d.root, small)
	blocks := slices.Clone(s.Admissions.blocks.blocks)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := inspect(t, d.root); len(got.damage) > 0 || len(got.admissions) != len(m.admissions) || len(got.events) != len(m.done) ||
		got.backward != len(m.done) || len(got.pages) != len(m.pages) {
		t.Fatalf("of a sound crawl: %d admissions, %d events, %d backward, %d pages, %v", len(got.admissions), len(got.events),
			got.backward, len(got.pages), got.damage)
	}
	for number := range blocks[:4] {
		for _, place := range []int64{2, 10, 60} { // magic, position, behind the head
			t.Run(fmt.Sprintf("block %d byte %d", number, place), func(t *testing.T) {
				at := blocks[number]
				name := numberedName(d.log(), at.segment, logExt)
				mend := flipByte(t, name, at.offset+place)
				defer mend()
				got := inspect(t, d.root)
				gone := lacking(got.admissions, len(m.admissions))
				first := uint64(number)*BlockEntries + 1
				if len(gone) != BlockEntries || gone[0] != first || gone[len(gone)-1] != first+BlockEntries-1 {
					t.Fatalf("%d admissions are gone, %v", len(gone), got.damage)
				}
				wantOneDamage(t, got.damage, name, at.offset, fmt.Sprintf("URLs %d to %d: ", first, first+BlockEntries-1))
				if len(got.events) != len(m.done) {
					t.Errorf("%d of %d events are read", len(got.events), len(m.done))
				}
			})
		}
	}
}

func flipByte(t *testing.T, name string, at int64) (mend func()) {
	t.Helper()
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Clone(whole)
	data[at] ^= 0x55
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.WriteFile(name, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func wantOneDamage(t *testing.T, damage []error, file string, offset int64, text string) {
	t.Helper()
	if len(damage) != 1 {
		t.Fatalf("%d damages, want 1: %v", len(damage), damage)
	}
	d, ok := errors.AsType[*DamageError](damage[0])
	if !ok || d.File != file || d.Offset != offset || !strings.Contains(d.Err.Error(), text) {
		t.Errorf("got %v, want %s at byte %d: %s", damage[0], file, offset, text)
	}
}

// A segment that is gone costs the blocks of its own.
func TestInspectLostSegment(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 32))
	d, m, _ := damageCrawl(t, rng, 5*BlockEntries+100)
	numbers, err := numbered(small.withDefaults().FS, d.log(), logExt)
	if err != nil || len(numbers) < 3 {
		t.Fatalf("segments %v, %v", numbers, err)
	}
	if err := os.Remove(numberedName(d.log(), numbers[1], logExt)); err != nil {
		t.Fatal(err)
	}
	got := inspect(t, d.root)
	if gone := lacking(got.admissions, len(m.admissions)); uint64(len(gone)) != (numbers[2]-numbers[1])*BlockEntries {
		t.Errorf("%d admissions are gone, want those of blocks %d to %d", len(gone), numbers[1], numbers[2]-1)
	}
	if len(got.damage) != 1 {
		t.Errorf("damage: %v", got.damage)
	}
}

// Page records have no checksums: a line is known by its number. What is gone is told, and what is behind it is read.
func TestInspectPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 33))
	s, m := create(t, Config{}), newModel()
	for len(m.pages) < 40 {
		m.addPage(t, rng, s)
	}
	m.commit(t, s, nil)
	dir := s.Dir()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	name := numberedName(onDisk(dir).pages(), 1, pageExt)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	edit := func(fn func(lines [][]byte) [][]byte) []byte {
		copied := make([][]byte, 0, len(lines))
		for _, line := range lines {
			copied = append(copied, bytes.Clone(line))
		}
		return bytes.Join(fn(copied), nil)
	}
	for _, tt := range []struct {
		name string
		data []byte
		gone []uint64
		says string
	}{
		{"rubbish for a line", edit(func(l [][]byte) [][]byte { clear(l[9]); l[9][len(l[9])-1] = '\n'; return l }), []uint64{10}, "page records 10 to 10: "},
		{"a wrong number", edit(func(l [][]byte) [][]byte { l[4] = bytes.Replace(l[4], []byte(":5,"), []byte(":25,"), 1); return l }), []uint64{5}, "page records 5 to 5: "},
		{"a lost line", edit(func(l [][]byte) [][]byte { return slices.Delete(l, 19, 20) }), []uint64{20}, "page records 20 to 20: "},
		{"lost lines", edit(func(l [][]byte) [][]byte { return slices.Delete(l, 19, 25) }), []uint64{20, 21, 22, 23, 24, 25}, "page records 20 to 25: "},
		// What does not belong there pushes the last one past the checkpoint's end.
		{"a line twice", edit(func(l [][]byte) [][]byte { return slices.Insert(l, 7, l[6]) }), []uint64{40}, "page record 7 stands here again"},
		{"two lines in one", edit(func(l [][]byte) [][]byte { l[2][len(l[2])-1] = ' '; return l }), []uint64{3, 4}, "page records 3 to 3: "},
		{"no end", whole[:len(whole)-5], []uint64{40}, "page records 40 to 40: "},
		{"nothing", nil, lacking(nil, 40), "page records 1 to 40: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := tt.data
			for len(data) < len(whole) && tt.name != "no end" && tt.name != "nothing" { // what is cut is another matter
				data = append(data, lines[len(lines)-2]...)
			}
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
			got := inspect(t, dir)
			if gone := lacking(got.pages, 40); !slices.Equal(gone, tt.gone) {
				t.Errorf("records %v are gone, want %v; %v", gone, tt.gone, got.damage)
			}
			if !strings.Contains(errors.Join(got.damage...).Error(), tt.says) {
				t.Errorf("the damage is %v, want %s", got.damage, tt.says)
			}
		})
	}
}

// Whichever call fails while state.db is made again: it is made at the next attempt, or was made already.
func TestRecoverThatFails(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 34))
	s, m := create(t, Config{}), newModel()
	m.grow(t, rng, s, 300)
	m.commit(t, s, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fill := func(s *Store) ([]Row, any, error) { return []Row{{"made", []byte("again")}}, m.books, nil }
	for n := 1; ; n++ {
		dir := copyDir(t, s.Dir())
		flipByte(t, filepath.Join(dir, "state.db"), 8192)
		failing := vfstest.NewFail(unsynced(), vfstest.Failure{N: n, Err: syscall.ENOSPC, Forever: true})
		err := Recover(dir, Config{FS: failing}, fill)
		if _, failed := failing.Failed(); !failed {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if err == nil {
			t.Errorf("call %d fails, and nothing is said", n)
		}
		if again, err := Open(dir, Config{FS: unsynced()}); err == nil {
			_ = again.Close()
		} else if err := Recover(dir, Config{FS: unsynced()}, fill); err != nil {
			t.Fatalf("call %d failed, and then: %v", n, err)
		}
		recovered := open(t, dir, Config{})
		m.rows = map[string]string{"made": "again"}
		m.check(t, recovered)
		_ = recovered.Close()
	}
}

func TestCountAfter(t *testing.T) {
	b, rng := &Bits{}, rand.New(rand.NewPCG(35, 35))
	set := make([]uint64, 0, 3000)
	for range 3000 {
		seq := 1 + rng.Uint64N(3*64*pieceWords)
		if !b.Test(seq) {
			set = append(set, seq)
		}
		b.Set(seq)
	}
	for _, after := range append([]uint64{0, 1, 63, 64, 65, 64 * pieceWords, 64*pieceWords - 1, b.Len(), b.Len() + 9, 1 << 60}, set[:200]...) {
		want := uint64(0)
		for _, seq := range set {
			if seq > after {
				want++
			}
		}
		if got := b.CountAfter(after); got != want {
			t.Fatalf("after %d there are %d, want %d", after, got, want)
		}
	}
}

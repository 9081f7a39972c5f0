package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"crawl/internal/vfs"
)

// A reader beside a writer sees what the last checkpoint holds, and no more, although more is in the files already.
func TestReaderBesideAWriter(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 22))
	s, m := create(t, Config{PagesBytes: 2000}), newModel()
	r, err := OpenReader(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for range 8 {
		for range 1 + rng.IntN(20) {
			m.addPage(t, rng, s)
		}
		if err := s.Pages.buffer.Flush(); err != nil {
			t.Fatal(err)
		}
		if pages, err := readPages(r, uint64(seen)); len(pages) != 0 || err != nil {
			t.Fatalf("before the checkpoint there are %d pages, %v", len(pages), err)
		}
		cut := m.commit(t, s, nil)
		m.addPage(t, rng, s)
		if err := r.Refresh(); err != nil {
			t.Fatal(err)
		}
		if r.Cut().Number != cut.Number || r.Cut().Pages.Records != uint64(len(m.pages)-1) {
			t.Fatalf("the reader is at checkpoint %d, want %d", r.Cut().Number, cut.Number)
		}
		pages, err := readPages(r, uint64(seen))
		if want := m.pages[seen : len(m.pages)-1]; err != nil || !reflect.DeepEqual(pages, want) {
			t.Fatalf("after %d: %d other pages, %v, want %d", seen, len(pages), err, len(want))
		}
		seen = len(m.pages) - 1
	}
}

// Any place to begin gives the rest, to a reader that is new and to one that was anywhere before.
func TestReaderAfter(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 23))
	s, m := create(t, Config{PagesBytes: 3000}), newModel()
	for range 60 {
		m.addPage(t, rng, s)
	}
	m.commit(t, s, nil)
	old, err := OpenReader(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		r, err := OpenReader(s.Dir())
		if err != nil {
			t.Fatal(err)
		}
		after, count := rng.IntN(len(m.pages)+3), 1+rng.IntN(len(m.pages))
		want := m.pages[min(after, len(m.pages)):min(after+count, len(m.pages))]
		for name, r := range map[string]*Reader{"new": r, "old": old} {
			got := make([]Page, 0, count)
			for p, err := range r.Pages(t.Context(), Query{After: uint64(after)}) {
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, *p); len(got) == count {
					break
				}
			}
			if len(got) != len(want) || (len(got) > 0 && !reflect.DeepEqual(got, want)) {
				t.Fatalf("%s reader, %d after %d: got %d other pages", name, count, after, len(got))
			}
		}
	}
}

// What lies before the place to begin is not read: not its file, when the file's name tells, and not its lines, when the
// reader has been there.
func TestReaderDoesNotReadAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 24))
	s, m := create(t, Config{PagesBytes: 3000}), newModel()
	for range 40 {
		m.addPage(t, rng, s)
	}
	m.commit(t, s, nil)
	r, err := OpenReader(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range r.Pages(t.Context(), Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Record == 39 {
			break
		}
	}
	numbers, err := numbered(vfs.OS{}, s.dir.pages(), pageExt)
	if err != nil || len(numbers) < 3 {
		t.Fatalf("files %v, %v", numbers, err)
	}
	last := numbers[len(numbers)-1]
	if last >= 39 {
		t.Fatalf("the last file begins with record %d", last)
	}
	for _, n := range numbers[:len(numbers)-1] {
		if err := os.Truncate(numberedName(s.dir.pages(), n, pageExt), 0); err != nil {
			t.Fatal(err)
		}
	}
	fresh, err := OpenReader(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if pages, err := readPages(fresh, last); err != nil || !reflect.DeepEqual(pages, m.pages[last:]) {
		t.Errorf("a new reader after %d: %d pages, %v", last, len(pages), err)
	}
	flip(t, numberedName(s.dir.pages(), last, pageExt), 0)
	if pages, err := readPages(r, 39); err != nil || !reflect.DeepEqual(pages, m.pages[39:]) {
		t.Errorf("a reader that was there, after 39: %d pages, %v", len(pages), err)
	}
}

func TestReaderRefusesATornLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 25))
	s, m := create(t, Config{}), newModel()
	for range 5 {
		m.addPage(t, rng, s)
	}
	m.commit(t, s, nil)
	file := numberedName(s.dir.pages(), 1, pageExt)
	fourth, end := lineEnd(t, file, 4), lineEnd(t, file, 5)
	for _, tt := range []struct {
		name string
		size int64
		text string
	}{
		{"without its end", end - 1, "record 5 is cut short"},
		{"without all but its start", fourth + 3, "record 5 is cut short"},
		{"gone", fourth, "the file ends before record 5, the last checkpoint has 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := onDisk(copyDir(t, s.Dir()))
			torn := numberedName(dir.pages(), 1, pageExt)
			if err := os.Truncate(torn, tt.size); err != nil {
				t.Fatal(err)
			}
			r, err := OpenReader(dir.root)
			if err != nil {
				t.Fatal(err)
			}
			pages, err := readPages(r, 0)
			wantDamage(t, err, torn, fourth)
			if len(pages) != 4 || !strings.HasSuffix(err.Error(), tt.text) {
				t.Errorf("%d pages, %v, want 4 and %q", len(pages), err, tt.text)
			}
		})
	}
}

// A line without an end is not read to the end of the file.
func TestReaderRefusesALongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 65 MiB")
	}
	rng := rand.New(rand.NewPCG(26, 26))
	s, m := create(t, Config{}), newModel()
	m.addPage(t, rng, s)
	m.commit(t, s, nil)
	file := numberedName(s.dir.pages(), 1, pageExt)
	if err := os.Truncate(file, 20); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, maxRecordBytes+1<<20); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	_, err = readPages(r, 0)
	wantDamage(t, err, file, 0)
	if err == nil || !strings.Contains(err.Error(), "goes on for more than") {
		t.Error(err)
	}
}

func TestReaderStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 27))
	s, m := create(t, Config{}), newModel()
	for range 5 {
		m.addPage(t, rng, s)
	}
	m.commit(t, s, nil)
	r, err := OpenReader(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for p, err := range r.Pages(ctx, Query{}) {
		if n++; n == 3 {
			cancel()
		}
		if (err != nil) != (n == 4) || (n == 4 && (p != nil || !errors.Is(err, context.Canceled))) {
			t.Errorf("page %d: %v, %v", n, p, err)
		}
	}
	if n != 4 {
		t.Errorf("%d steps, want three pages and an error", n)
	}
}

// After a refresh that fails the reader goes on with what it knows.
func TestReaderRefreshFails(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 28))
	s, m := create(t, Config{}), newModel()
	m.addPage(t, rng, s)
	m.commit(t, s, nil)
	r, err := OpenReader(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.dir.twin()); err != nil {
		t.Fatal(err)
	}
	wantDamage(t, r.Refresh(), s.dir.twin(), -1)
	if pages, err := readPages(r, 0); err != nil || len(pages) != 1 {
		t.Errorf("%d pages, %v, want the one that it knew", len(pages), err)
	}
}

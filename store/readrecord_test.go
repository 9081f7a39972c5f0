package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded makes a crawl of n page records, some of them long, in files of so many bytes.
func recorded(tb testing.TB, n int, pagesBytes int64, extra int) string {
	tb.Helper()
	dir := tb.TempDir()
	st, err := Create(dir, Config{PagesBytes: pagesBytes}, func() ([]Row, any, error) { return nil, struct{}{}, nil })
	if err != nil {
		tb.Fatal(err)
	}
	defer st.Close()
	for i := range n {
		title := strings.Repeat("x", extra)
		if i%97 == 3 {
			title = strings.Repeat("long ", 40_000)
		}
		record, err := EncodePage(&Page{Seq: uint64(i + 1), Visit: 1, URL: fmt.Sprintf("http://a.test/%d", i+1), Outcome: OutcomeOK, Title: title})
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := st.Pages.Append(record); err != nil {
			tb.Fatal(err)
		}
	}
	cp, err := st.Prepare(nil, struct{}{})
	if err == nil {
		err = cp.Commit()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

func TestReaderRecord(t *testing.T) {
	const n = 300
	for _, pagesBytes := range []int64{1, 300_000, 1 << 30} {
		t.Run(fmt.Sprint(pagesBytes), func(t *testing.T) {
			r, err := OpenReader(recorded(t, n, pagesBytes, 100))
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint64(n) {
				if p, err := r.Record(i + 1); err != nil || p.Record != i+1 || p.Seq != i+1 {
					t.Fatalf("record %d: %+v, %v", i+1, p, err)
				}
			}
			for _, none := range []uint64{0, n + 1} {
				if p, err := r.Record(none); err == nil {
					t.Errorf("record %d: %+v", none, p)
				}
			}
		})
	}
}

// A file in which some line is no record, or ends too early, is damaged where a record cannot be found for it.
func TestReaderRecordDamaged(t *testing.T) {
	const n = 400
	dir := recorded(t, n, 1<<30, 100)
	name := filepath.Join(dir, "pages", "0000000001.jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	half := len(whole) / 2
	cut := append([]byte(nil), whole[:half]...)
	zeroed := append([]byte(nil), whole...)
	clear(zeroed[half:])
	for what, data := range map[string][]byte{"cut": cut, "zeroed": zeroed, "empty": nil} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i := range uint64(n) {
			p, err := r.Record(i + 1)
			if _, damaged := errors.AsType[*DamageError](err); err != nil && !damaged || err == nil && p.Record != i+1 {
				t.Fatalf("%s: record %d: %+v, %v", what, i+1, p, err)
			}
			if err == nil {
				found++
			}
		}
		if found == n {
			t.Errorf("%s: every record was found", what)
		}
	}
}

// One gigabyte of records; reading it from its start would take the better part of a second.
func BenchmarkReaderRecord(b *testing.B) {
	const n = 700_000
	r, err := OpenReader(recorded(b, n, 2<<30, 1000))
	if err != nil {
		b.Fatal(err)
	}
	i := uint64(0)
	for b.Loop() {
		i = (i + 7_919_777) % n
		if _, err := r.Record(i + 1); err != nil {
			b.Fatal(err)
		}
	}
}

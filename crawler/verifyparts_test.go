package crawler

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"crawl/seen"
	"crawl/store"
)

// Parts that are whole each, by their checksums, but do not agree: verify tells which.
func TestPartsThatDisagree(t *testing.T) {
	web := newListWeb(60)
	whole := listCrawl(t, web, 30)
	at := time.Now()
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, st *store.Store, b *books) []store.Row
		part string
		mend bool
	}{
		{"a counter", func(_ *testing.T, _ *store.Store, b *books) []store.Row {
			b.Counters.Outcomes[store.OutcomeOK]++
			return nil
		}, partCounters, true},
		{"page records counted twice", func(_ *testing.T, _ *store.Store, b *books) []store.Row {
			b.Counters.Pages += 3
			b.Counters.Statuses[404]--
			return nil
		}, partCounters, true},
		{"a queue without runs", func(_ *testing.T, st *store.Store, _ *books) []store.Row {
			st.Forget(store.QueueRun)
			return nil
		}, partRuns, true},
		{"a visit that ends twice", func(t *testing.T, st *store.Store, b *books) []store.Row {
			logDone(t, st, b, store.DoneEntry{Seq: 1, Event: store.EventDone, Outcome: store.OutcomeOK, Status: 200, Visit: 1, At: at})
			return nil
		}, partDone, false},
		{"another attempt of what is done", func(t *testing.T, st *store.Store, _ *books) []store.Row {
			err := st.Done.Append(store.DoneEntry{Seq: 2, Event: store.EventAgain, Outcome: store.OutcomeFailed, Attempt: 1, Visit: 1, At: at})
			if err != nil {
				t.Fatal(err)
			}
			return nil
		}, partDone, false},
		{"an event of a URL that was never admitted", func(t *testing.T, st *store.Store, b *books) []store.Row {
			logDone(t, st, b, store.DoneEntry{Seq: 9999, Event: store.EventDone, Outcome: store.OutcomeOK, Visit: 1, At: at})
			return nil
		}, partDone, false},
		{"a page record of no visit", func(t *testing.T, st *store.Store, _ *books) []store.Row {
			appendPage(t, st, 5)
			return nil
		}, partPages, false},
		{"the hash of another URL", func(t *testing.T, st *store.Store, b *books) []store.Row {
			if _, err := st.Admissions.Append(store.Admission{URL: "http://a.test/x", Hash: 7}); err != nil {
				t.Fatal(err)
			}
			b.Counters.Reasons[Admitted]++
			b.Filter.Items++
			return nil
		}, partLog, false},
		{"a URL that is admitted again", func(t *testing.T, st *store.Store, b *books) []store.Row {
			for _, seq := range []uint64{3, 40, 3} {
				admitAgain(t, st, b, seq)
			}
			return nil
		}, partTwice, false},
		{"a filter of other URLs", func(t *testing.T, st *store.Store, b *books) []store.Row {
			saveFilter(t, st, b, st.Admissions.Len(), 1)
			return nil
		}, partFilter, true},
		{"a filter that is ahead of the log", func(t *testing.T, st *store.Store, b *books) []store.Row {
			saveFilter(t, st, b, st.Admissions.Len()+1, 0)
			return nil
		}, partFilter, true},
		{"a host's row", func(*testing.T, *store.Store, *books) []store.Row {
			return []store.Row{{Key: hostPrefix + "a.test", Value: []byte(`{"Host":"b.test"}`)}}
		}, partRows, false},
		{"the shadow sample", func(*testing.T, *store.Store, *books) []store.Row {
			return []store.Row{{Key: shadowPrefix + "x", Value: make([]byte, 8)}}
		}, partRows, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := copyCrawl(t, whole)
			changeRows(t, dir, func(st *store.Store, b *books) []store.Row { return tt.do(t, st, b) })
			report, err := Verify(t.Context(), dir, VerifyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if report.Sound || !report.has(tt.part) {
				t.Fatalf("want damage of %s, got %+v", tt.part, report)
			}
			for _, d := range report.Damage {
				if d.Part != tt.part {
					t.Errorf("damage of another part: %+v", d)
				}
			}
			repairs(t, dir, tt.mend)
			if tt.mend {
				goesOn(t, dir, web)
				sound(t, dir)
			}
		})
	}
}

// changeRows makes a checkpoint with other rows and books.
func changeRows(t *testing.T, dir string, change func(*store.Store, *books) []store.Row) {
	t.Helper()
	st, err := store.Open(dir, store.Config{FS: unsyncedFS()})
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBooks(st.Last())
	if err != nil {
		t.Fatal(err)
	}
	cp, err := st.Prepare(change(st, &b), b)
	if err == nil {
		err = cp.Commit()
	}
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
}

// admitAgain gives a URL another number.
func admitAgain(t *testing.T, st *store.Store, b *books, seq uint64) {
	t.Helper()
	a, err := st.Admissions.Get(seq)
	if err == nil {
		_, err = st.Admissions.Append(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.Counters.Reasons[Admitted]++
	b.Filter.Items++
}

// However the hashes are taken in turn, each URL that has two numbers is named once, with both.
func TestAdmittedTwice(t *testing.T) {
	dir := listCrawl(t, newListWeb(4600), 4200)
	changeRows(t, dir, func(st *store.Store, b *books) []store.Row {
		for seq := uint64(1); seq <= 40; seq++ {
			admitAgain(t, st, b, 100*seq)
		}
		return nil
	})
	for _, batch := range []uint64{1 << 20, 4000, 100, 7} {
		v, err := verify(t.Context(), dir, VerifyOptions{Progress: func(string, uint64, uint64) {}})
		if err != nil {
			t.Fatal(err)
		}
		v.report.Damage, v.named = nil, make(map[string]int)
		if err := v.twiceIn(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if n := len(v.report.Damage); n != 40 {
			t.Errorf("in batches of %d: %d are named, want 40", batch, n)
		}
		first := v.report.Admitted - 40
		for i, d := range v.report.Damage {
			if want := fmt.Sprintf("URL %d was admitted again, as number %d", 100*(i+1), first+uint64(i)+1); d.Problem != want {
				t.Errorf("in batches of %d: %q, want %q", batch, d.Problem, want)
			}
		}
		if _, err := v.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// logDone adds the end of a visit, with a record.
func logDone(t *testing.T, st *store.Store, b *books, e store.DoneEntry) {
	t.Helper()
	e.Record = appendPage(t, st, e.Seq)
	if err := st.Done.Append(e); err != nil {
		t.Fatal(err)
	}
	b.Counters.Pages++
	b.Counters.Outcomes[e.Outcome]++
}

func appendPage(t *testing.T, st *store.Store, seq uint64) (record uint64) {
	t.Helper()
	page, err := store.EncodePage(&store.Page{Seq: seq, Visit: 1, URL: "http://a.test/", Outcome: store.OutcomeOK, Status: 200})
	if err == nil {
		record, err = st.Pages.Append(page)
	}
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// saveFilter saves a filter of so many hashes, each of them off by so much.
func saveFilter(t *testing.T, st *store.Store, b *books, n, off uint64) {
	t.Helper()
	cfg, err := b.config()
	if err != nil {
		t.Fatal(err)
	}
	filter, err := seen.NewScalable(cfg.Seen)
	if err != nil {
		t.Fatal(err)
	}
	err = st.Admissions.EachHashes(1, func(_ uint64, hashes []uint64) error {
		for _, h := range hashes {
			filter.Add([]uint64{h + off<<40})
		}
		return nil
	})
	for err == nil && filter.Len() < n {
		filter.Add([]uint64{filter.Len()})
	}
	header, headerErr := filter.Header().MarshalBinary()
	if err := errors.Join(err, headerErr); err != nil {
		t.Fatal(err)
	}
	var chunks []store.FilterChunk
	for i := range filter.Chunks(0) {
		chunks = append(chunks, store.FilterChunk{Index: i, Data: filter.AppendChunk(nil, 0, i)})
	}
	if err := st.Filter().Write(chunks, header); err != nil {
		t.Fatal(err)
	}
}

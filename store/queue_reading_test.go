package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"crawl/sortedrun"
)

// queueOf returns the queue of a new crawl, with its sizes changed.
func queueOf(t testing.TB, change func(*queueConfig)) (*Store, *Queue) {
	t.Helper()
	s := create(t, Config{})
	change(&s.Queue.cfg)
	return s, s.Queue
}

// addHost adds n entries of a host, numbered from first on, and spills them.
func addHost(t testing.TB, q *Queue, host string, first, n int) {
	t.Helper()
	for i := range n {
		q.Add(&Pending{URL: fmt.Sprintf("https://%s/%d", host, i), Host: host, Seq: uint64(first + i)})
	}
	q.Committed(uint64(first+n-1), 0)
	if err := q.Spill(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func none(uint64) bool { return false }

func numbersOf(entries []Pending) (numbers []uint64) {
	for _, p := range entries {
		numbers = append(numbers, p.Seq)
	}
	return numbers
}

// wantHost fails unless a call of Host gives these numbers.
func wantHost(t *testing.T, q *Queue, host string, n int, more bool, want ...uint64) {
	t.Helper()
	entries, got, err := q.Host(nil, HostKey(host), n, none)
	if err != nil || !slices.Equal(numbersOf(entries), want) || got != more {
		t.Errorf("got %v, more %v, %v, want %v, %v", numbersOf(entries), got, err, want, more)
	}
}

func TestHostGoesOnWhereItEnded(t *testing.T) {
	_, q := queueOf(t, func(*queueConfig) {})
	addHost(t, q, "a", 10, 5)
	wantHost(t, q, "a", 2, true, 10, 11)
	wantHost(t, q, "b", 2, false)
	addHost(t, q, "a", 1, 3) // a later run with entries that come earlier
	wantHost(t, q, "a", 2, true, 1, 2)
	wantHost(t, q, "a", 3, true, 3, 12, 13)
	q.PutBack(HostKey("a"), 0, 0, 11)
	wantHost(t, q, "a", 2, true, 11, 12)
	q.Forget(HostKey("a"))
	wantHost(t, q, "a", 5, true, 1, 2, 3, 10, 11)
	wantHost(t, q, "a", 5, false, 12, 13, 14)
}

// Hosts of any size are served whole, and a sweep passes over what it does not want.
func TestHostsOfAnySize(t *testing.T) {
	sizes := map[string]int{"one": 1, "hundred": 100, "more": 100_000, "many": 2000, "as many": 2000}
	if testing.Short() {
		sizes["more"] = 10_000
	}
	s, q := queueOf(t, func(c *queueConfig) { c.entries = 7000; c.fanIn = 4 })
	q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{}, nil }
	seq := uint64(0)
	want := make(map[string][]uint64)
	for host, n := range sizes {
		for range n {
			seq++
			want[host] = append(want[host], seq)
			q.Add(&Pending{URL: "https://" + host + "/", Host: host, Seq: seq})
			q.Committed(seq, 0)
			for q.Full() {
				work(t, s)
			}
		}
	}
	if err := q.Spill(t.Context()); err != nil {
		t.Fatal(err)
	}
	for work(t, s) {
	}
	for host, numbers := range want {
		var got []Pending
		for more := true; more; {
			var err error
			if got, more, err = q.Host(got, HostKey(host), 999, none); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(numbersOf(got), numbers) {
			t.Errorf("host %s: %d entries, want %d", host, len(got), len(numbers))
		}
	}
	swept := 0
	_, ended, err := q.Sweep(0, turnOf(10), none, func(key uint64, entries []Pending, left int) bool {
		swept++
		all := want[entries[0].Host]
		if !slices.Equal(numbersOf(entries), all[:min(10, len(all))]) || left != min(len(all)-len(entries), ManyLeft) {
			t.Errorf("host %s: swept %v, left %d", entries[0].Host, numbersOf(entries), left)
		}
		return true
	})
	if err != nil || !ended || swept != len(sizes) {
		t.Errorf("swept %d hosts, ended %v, %v, want %d", swept, ended, err, len(sizes))
	}
}

// work does one job, and reports whether there was one.
func work(t testing.TB, s *Store) bool {
	t.Helper()
	did, err := s.Work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return did
}

// Two hosts of one key are served together, in one order.
func TestHostsOfOneKey(t *testing.T) {
	_, q := queueOf(t, func(*queueConfig) {})
	for i, host := range []string{"a", "b", "a", "b"} {
		p := Pending{URL: "https://" + host + "/", Host: host, Seq: uint64(i + 1)}
		q.active.add(&p)
		q.active.slots[i].host = lastHostKey
	}
	q.Committed(4, 0)
	if err := q.Spill(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, _, err := q.Host(nil, lastHostKey, 9, none)
	if err != nil || !slices.Equal(numbersOf(entries), []uint64{1, 2, 3, 4}) || entries[1].Host != "b" {
		t.Errorf("got %v, %v", entries, err)
	}
	for _, perHost := range []int{3, 9} { // the greatest key there is: no sweep goes past it
		next, ended, err := q.Sweep(5, turnOf(perHost), none, func(_ uint64, e []Pending, left int) bool {
			more := left > 0
			if len(e) != min(perHost, 4) || more != (perHost < 4) {
				t.Errorf("swept %v, more %v", e, more)
			}
			return false
		})
		if err != nil || !ended {
			t.Errorf("next %d, ended %v, %v", next, ended, err)
		}
	}
}

// A number that was added again is not served as it was before, though only a memtable knows the newer entry.
func TestOlderEntryIsPassedOver(t *testing.T) {
	_, q := queueOf(t, func(*queueConfig) {})
	addHost(t, q, "a", 1, 2)
	again := Pending{URL: "https://a/0", Host: "a", Seq: 1, Attempt: 1}
	sweep := func() (attempts []uint8) {
		_, _, err := q.Sweep(0, turnOf(9), none, func(_ uint64, entries []Pending, _ int) bool {
			for _, p := range entries {
				attempts = append(attempts, p.Attempt)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return attempts
	}
	q.Add(&again)
	if got := sweep(); !slices.Equal(got, []uint8{0}) {
		t.Errorf("before the spill a sweep gives attempts %v", got)
	}
	wantHost(t, q, "a", 9, false, 2)
	q.Committed(2, 1)
	if err := q.Spill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := sweep(); !slices.Equal(got, []uint8{1, 0}) {
		t.Errorf("after the spill a sweep gives attempts %v", got)
	}
	q.Forget(HostKey("a"))
	wantHost(t, q, "a", 9, false, 1, 2)
	if n := len(q.again.numbers); n != 0 {
		t.Errorf("%d numbers are remembered with nothing unwritten", n)
	}
}

// A sweep that began before an entry was added again does not serve the older one, also when a run holds the newer.
func TestOlderEntryInALongSweep(t *testing.T) {
	_, q := queueOf(t, func(*queueConfig) {})
	hosts := []string{"a", "b"}
	slices.SortFunc(hosts, func(a, b string) int {
		if HostKey(a) < HostKey(b) {
			return -1
		}
		return 1
	})
	addHost(t, q, hosts[0], 1, 1)
	addHost(t, q, hosts[1], 2, 1)
	seen := 0
	_, _, err := q.Sweep(0, turnOf(9), none, func(_ uint64, entries []Pending, _ int) bool {
		seen++
		q.Add(&Pending{URL: "https://" + hosts[1] + "/0", Host: hosts[1], Seq: 2, Attempt: 1})
		q.Committed(2, 1)
		if err := q.Spill(t.Context()); err != nil {
			t.Error(err)
		}
		return true
	})
	if err != nil || seen != 1 {
		t.Errorf("%d hosts swept, %v, want the first alone", seen, err)
	}
	entries, _, err := q.Host(nil, HostKey(hosts[1]), 9, none)
	if err != nil || len(entries) != 1 || entries[0].Attempt != 1 || len(q.again.numbers) != 0 {
		t.Errorf("got %v, %v, %d numbers remembered", entries, err, len(q.again.numbers))
	}
}

// Add, Work, Sweep and Host go on at the same time, and in the end all is found.
func TestQueueConcurrently(t *testing.T) {
	const n = 20_000
	s, q := queueOf(t, func(c *queueConfig) { c.entries = 500; c.fanIn = 3; c.hosts = 10 })
	q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{}, nil }
	taken := make([]atomic.Bool, n+1)
	isTaken := func(seq uint64) bool { return taken[seq].Load() }
	var wg sync.WaitGroup
	var ended atomic.Bool
	wg.Go(func() {
		defer ended.Store(true)
		for i := range n {
			host := fmt.Sprintf("%d.example", i%97)
			q.Add(&Pending{URL: "https://" + host + "/", Host: host, Seq: uint64(i + 1)})
			if i%7 == 0 {
				q.Committed(uint64(i+1), 0)
			}
			for q.Full() {
				if _, err := s.Work(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		}
		q.Committed(n, 0)
	})
	wg.Go(func() {
		for !ended.Load() {
			did, err := s.Work(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if !did {
				<-s.Wake()
			}
		}
	})
	take := func(_ uint64, entries []Pending, _ int) bool {
		for _, p := range entries {
			if taken[p.Seq].Swap(true) {
				t.Errorf("number %d came twice", p.Seq)
			}
		}
		return true
	}
	wg.Go(func() {
		for i := 0; !ended.Load(); i++ {
			if i%5 == 0 {
				if _, _, err := q.Sweep(0, turnOf(3), isTaken, take); err != nil {
					t.Error(err)
				}
			}
			key := HostKey(fmt.Sprintf("%d.example", i%97))
			entries, _, err := q.Host(nil, key, 20, isTaken)
			if err != nil {
				t.Error(err)
			}
			take(key, entries, 0)
			q.Marks(func(uint64) (uint8, uint32, uint64, bool) { return 0, 0, 0, false })
		}
		s.signal()
	})
	wg.Wait()
	if err := q.Spill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := q.Sweep(0, turnOf(n), isTaken, take); err != nil {
		t.Fatal(err)
	}
	for seq := 1; seq <= n; seq++ {
		if !taken[seq].Load() {
			t.Fatalf("number %d was never found", seq)
		}
	}
}

// A run that is lost lowers what is covered until what it held is in a run again.
func TestLostQueueRun(t *testing.T) {
	s, q := queueOf(t, func(*queueConfig) {})
	for i := range uint64(30) {
		if _, err := s.Admissions.Append(Admission{URL: "https://a/", Hash: i}); err != nil {
			t.Fatal(err)
		}
	}
	addHost(t, q, "a", 1, 10)
	addHost(t, q, "a", 11, 5)
	addHost(t, q, "a", 16, 5)
	q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{}, nil }
	if err := q.merge(t.Context(), q.runs.infos(QueueRun)[1:]); err != nil {
		t.Fatal(err)
	}
	addHost(t, q, "a", 21, 10)
	checkpoint(t, s)
	lost := q.runs.infos(QueueRun)[1]
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.runs.name(lost.Number)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // lost again when killed before it is remade
		s = open(t, s.Dir(), Config{})
		if got := s.Queue.Coverage(); got != (Coverage{Admissions: 10}) {
			t.Fatalf("covered are %v with the second run of three lost", got)
		}
		checkpoint(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, s.Dir(), Config{})
	addHost(t, s.Queue, "a", 11, 20)
	if got := s.Queue.Coverage(); got != (Coverage{Admissions: 30}) {
		t.Errorf("covered are %v in the end", got)
	}
	entries, _, err := s.Queue.Host(nil, HostKey("a"), 99, none)
	if err != nil || len(entries) != 30 {
		t.Errorf("%d entries, %v, want 30", len(entries), err)
	}
}

// A host that is put back while it is read is read again from where that was before.
func TestPutBackWhileReading(t *testing.T) {
	_, q := queueOf(t, func(*queueConfig) {})
	addHost(t, q, "a", 1, 10)
	wantHost(t, q, "a", 4, true, 1, 2, 3, 4)
	for _, tt := range []struct {
		name    string
		putBack func()
		want    []uint64
	}{
		{"one entry", func() { q.PutBack(HostKey("a"), 0, 0, 3) }, []uint64{3, 4}},
		{"all", func() { q.Forget(HostKey("a")) }, []uint64{1, 2}},
		{"of another host", func() { q.Forget(HostKey("b")) }, []uint64{5, 6}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q.Forget(HostKey("a"))
			wantHost(t, q, "a", 2, true, 1, 2)
			if _, _, err := q.Host(nil, HostKey("a"), 2, func(seq uint64) bool {
				if seq == 3 {
					tt.putBack()
				}
				return false
			}); err != nil {
				t.Fatal(err)
			}
			wantHost(t, q, "a", 2, true, tt.want...)
		})
	}
}

// A merge drops what is done for an entry's run, and nothing else.
func TestMergeDropsWhatIsDone(t *testing.T) {
	_, q := queueOf(t, func(*queueConfig) {})
	spill := func(done uint64, numbers ...uint64) {
		for _, seq := range numbers {
			q.Add(&Pending{URL: "https://a/", Host: "a", Seq: seq, Attempt: uint8(done)})
		}
		q.Committed(9, done)
		if err := q.Spill(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	spill(1, 1, 2, 3, 4)
	spill(5, 4, 5)
	spill(9, 3, 6)
	isDone := func(seq uint64) bool { return seq != 1 }
	for _, tt := range []struct {
		upto uint64
		want []uint64
	}{
		{0, []uint64{1, 2, 3, 4, 5, 6}},
		{4, []uint64{1, 3, 4, 5, 6}}, // only the first run's are judged: 3, 4, 5 and 6 may have turned pending later
		{5, []uint64{1, 3, 6}},
		{9, []uint64{1}},
	} {
		q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{isDone, tt.upto}, nil }
		s2, err := mergedNumbers(t, q)
		if err != nil || !slices.Equal(s2, tt.want) {
			t.Errorf("with what was done at event %d a merge leaves %v, %v, want %v", tt.upto, s2, err, tt.want)
		}
	}
	q.done = func(context.Context, uint64) (doneBits, error) {
		return doneBits{func(uint64) bool { return true }, 9}, nil
	}
	if err := q.merge(t.Context(), q.runs.infos(QueueRun)); err != nil {
		t.Fatal(err)
	}
	if n := len(q.runs.infos(QueueRun)); n != 0 || q.Coverage() != (Coverage{9, 9}) {
		t.Errorf("%d runs are left with all done, covered %v", n, q.Coverage())
	}
}

// mergedNumbers merges all runs into one that is not installed.
func mergedNumbers(t *testing.T, q *Queue) (numbers []uint64, err error) {
	t.Helper()
	runs := q.runs.newest(QueueRun)
	defer q.runs.release(runs)
	done, _ := q.done(t.Context(), 0)
	out, err := q.runs.build(RunInfo{Kind: QueueRun}, mergeOptions, func(w *sortedrun.Writer) error {
		return mergeInto(t.Context(), w, runs, done, nil)
	})
	if err != nil {
		return nil, err
	}
	for c := out.Seek(nil); c.Next(); {
		_, at, err := parseQueueKey(c.Key())
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, at.seq)
	}
	return numbers, q.runs.discard(out)
}

// A merge that is told to stop leaves nothing.
func TestMergeStops(t *testing.T) {
	_, q := queueOf(t, func(*queueConfig) {})
	addHost(t, q, "a", 1, 10)
	addHost(t, q, "b", 11, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := q.runs.infos(QueueRun)
	q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{}, nil }
	if err := q.merge(ctx, before); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if after := q.runs.infos(QueueRun); !reflect.DeepEqual(after, before) {
		t.Errorf("runs %v, want %v", after, before)
	}
	files, err := os.ReadDir(q.runs.dir)
	if err != nil || len(files) != 2 {
		t.Errorf("%d files, %v, want 2", len(files), err)
	}
}

func TestDueTier(t *testing.T) {
	const full = 100
	for _, tt := range []struct {
		name     string
		sizes    []uint64
		from, to int
	}{
		{"too few", []uint64{100, 100, 100}, 0, 0},
		{"one tier", []uint64{100, 60, 90, 100}, 0, 4},
		{"the oldest first", []uint64{100, 100, 100, 100, 100}, 0, 4},
		{"after a larger one", []uint64{900, 100, 100, 100, 100}, 1, 5},
		{"larger ones", []uint64{400, 300, 250, 400, 100}, 0, 4},
		{"spilled early", []uint64{100, 100, 10, 8, 9, 10}, 2, 6},
		{"no entries", []uint64{100, 0, 0, 0, 0}, 1, 5},
		{"smaller ones between", []uint64{100, 1, 100, 1, 100, 20, 1, 100, 1}, 0, 8},
		{"smaller ones before", []uint64{400, 20, 5, 100, 100, 100, 100}, 1, 7},
		{"a larger one between", []uint64{100, 100, 400, 100, 100}, 0, 0},
		{"too many of mixed tiers", slices.Repeat([]uint64{1600, 400, 100, 100, 400, 100, 100, 400, 100, 100}, 2), 2, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &Queue{cfg: queueConfig{entries: full, fanIn: 4}}
			var infos []RunInfo
			for _, n := range tt.sizes {
				infos = append(infos, RunInfo{Entries: n})
			}
			if from, to := q.dueTier(infos); from != tt.from || to != tt.to {
				t.Errorf("runs %d to %d are due, want %d to %d", from, to, tt.from, tt.to)
			}
		})
	}
}

// However runs are spilled, there are never many, and an entry is written about once a tier.
func TestTiersBoundRunsAndWork(t *testing.T) {
	for _, tt := range []struct {
		name string
		size func(i int) uint64
		most float64 // times that an entry is written
	}{
		{"full memtables", func(int) uint64 { return 1 << 18 }, 3},
		{"one is small", func(i int) uint64 { return 1<<18 - uint64(i%2)*(1<<18-50) }, 6},
		{"of any size", func(i int) uint64 { return 1 << (i * 7 % 19) }, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &Queue{cfg: newQueueConfig(Config{}.withDefaults())}
			var runs []RunInfo
			total, written, most := uint64(0), uint64(0), 0
			for i := range 2000 {
				runs = append(runs, RunInfo{Entries: tt.size(i)})
				total += tt.size(i)
				written += tt.size(i)
				for from, to := q.dueTier(runs); to > from; from, to = q.dueTier(runs) {
					n := entriesOf(runs[from:to])
					written += n
					runs = slices.Replace(runs, from, to, RunInfo{Entries: n})
				}
				most = max(most, len(runs))
			}
			if got := float64(written) / float64(total); got > tt.most || most > maxRuns*q.cfg.fanIn {
				t.Errorf("an entry is written %.1f times, there are up to %d runs", got, most)
			}
		})
	}
}

// A spill wakes Work for the merge that it makes due, whoever asked for it: no block of a log need ever be full.
func TestSpillWakesWork(t *testing.T) {
	s, q := queueOf(t, func(c *queueConfig) { c.fanIn = 4 })
	for i := range 4 * maxRuns * q.cfg.fanIn {
		addHost(t, q, "a", 1+2*i, 2)
		select {
		case <-s.Wake():
		default:
			t.Fatalf("spill %d wakes nobody", i)
		}
		for did := true; did; {
			var err error
			if did, err = s.Work(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(q.runs.infos(QueueRun)); n > maxRuns*q.cfg.fanIn {
			t.Fatalf("after %d spills there are %d runs", i+1, n)
		}
	}
}

// When most of what runs hold is done, they are merged, once.
func TestBloatedRunsAreMerged(t *testing.T) {
	_, q := queueOf(t, func(c *queueConfig) { c.entries = 5 })
	addHost(t, q, "a", 1, 30)
	q.SetPending(2)
	if q.mergeJob() != nil {
		t.Error("a merge is due with nothing done")
	}
	q.Committed(30, 28)
	q.done = func(context.Context, uint64) (doneBits, error) {
		return doneBits{func(seq uint64) bool { return seq > 2 }, 28}, nil
	}
	merge := q.mergeJob()
	if merge == nil {
		t.Fatal("no merge is due with 28 of 30 done")
	}
	if err := merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantHost(t, q, "a", 9, false, 1, 2)
	if q.mergeJob() != nil {
		t.Error("a merge is due again")
	}
	addHost(t, q, "b", 31, 30)
	q.Committed(60, 58)
	q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{}, nil }
	if merge = q.mergeJob(); merge == nil {
		t.Fatal("no merge is due with 28 more done")
	}
	if err := merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if q.mergeJob() != nil {
		t.Error("a merge that could drop nothing is due again at once")
	}
}

// After a restart a host is read from its mark, never past what was in memory.
func TestMarks(t *testing.T) {
	low := func(uint64) (uint8, uint32, uint64, bool) { return 0, 0, 23, true }
	s, q := queueOf(t, func(c *queueConfig) { c.mark = 10 })
	for i := range uint64(60) {
		if _, err := s.Admissions.Append(Admission{URL: "https://a/", Hash: i}); err != nil {
			t.Fatal(err)
		}
	}
	addHost(t, q, "a", 1, 60)
	read := func(n int) {
		t.Helper()
		if _, _, err := q.Host(nil, HostKey("a"), n, none); err != nil {
			t.Fatal(err)
		}
	}
	read(20)
	if rows := q.Marks(low); len(rows) != 1 || rows[0].Value != nil {
		t.Errorf("rows %v while the first entries are on their way to memory", rows)
	}
	read(20)
	rows := q.Marks(low)
	if len(rows) != 1 || len(rows[0].Value) == 0 || rows[0].Key != fmt.Sprintf("mark/%016x", HostKey("a")) {
		t.Fatalf("rows %v", rows)
	}
	if again := q.Marks(low); len(again) != 0 {
		t.Errorf("rows %v with nothing moved", again)
	}
	cp, err := s.Prepare(rows, 0)
	if err == nil {
		err = cp.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, s.Dir(), Config{})
	q = s.Queue
	if err := q.RestoreMarks(rows); err != nil {
		t.Fatal(err)
	}
	wantHost(t, q, "a", 2, true, 21, 22) // 20 was the last that was surely in memory; 23 was in it
	q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{}, nil }
	if err := q.merge(t.Context(), q.runs.infos(QueueRun)); err != nil {
		t.Fatal(err)
	}
	if rows := q.Marks(low); len(rows) != 1 {
		t.Errorf("rows %v when the marked run is gone", rows)
	}
	wantHost(t, q, "a", 2, true, 23, 24)
	q.Forget(HostKey("a"))
	wantHost(t, q, "a", 1, true, 1)
	for _, row := range []Row{{"host/a", nil}, {"mark/x", nil}, {"mark/0", []byte{1}}} {
		if q.RestoreMarks([]Row{row}) == nil {
			t.Errorf("row %v is taken for a mark", row)
		}
	}
}

// turnOf wants so many entries of every host.
func turnOf(n int) func(*Pending) int { return func(*Pending) int { return n } }

// What a run stands for is known: what a merged one is made of, and that one that is made while a crawl is opened may
// hold what any event of the done log made pending.
func TestSpansOfQueueRuns(t *testing.T) {
	s, q := queueOf(t, func(*queueConfig) {})
	q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{}, nil }
	for i := range uint64(9) {
		if _, err := s.Admissions.Append(Admission{URL: "https://a/", Hash: i}); err != nil {
			t.Fatal(err)
		}
		if err := s.Done.Append(DoneEntry{Seq: i + 1, Event: EventAgain}); err != nil {
			t.Fatal(err)
		}
	}
	spill := func(q *Queue, seq, done uint64) {
		t.Helper()
		q.Add(&Pending{URL: "https://a/", Host: "a", Seq: seq})
		q.Committed(seq, done)
		if err := q.Spill(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantLast := func(q *Queue, admissions, done Span) {
		t.Helper()
		infos := q.runs.infos(QueueRun)
		if last := infos[len(infos)-1]; last.Admissions != admissions || last.Done != done {
			t.Errorf("the run is made of %v and %v, want %v and %v", last.Admissions, last.Done, admissions, done)
		}
	}
	spill(q, 1, 1)
	spill(q, 3, 2)
	spill(q, 6, 5)
	wantLast(q, Span{3, 6}, Span{2, 5})
	if err := q.merge(t.Context(), q.runs.infos(QueueRun)[1:]); err != nil {
		t.Fatal(err)
	}
	wantLast(q, Span{1, 6}, Span{1, 5})
	checkpoint(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	q = open(t, s.Dir(), Config{}).Queue
	spill(q, 8, 5)
	wantLast(q, Span{6, 8}, Span{5, 9})
}

// Sweeps and merges say which numbers they are about to ask for.
func TestNumbersAreToldBeforeTheyAreAskedFor(t *testing.T) {
	_, q := queueOf(t, func(*queueConfig) {})
	told := make(map[uint64]bool)
	asked := 0
	isDone := func(seq uint64) bool {
		if asked++; !told[seq] {
			t.Errorf("%d is asked for untold", seq)
		}
		return false
	}
	addHost(t, q, "a", 1, 10)
	addHost(t, q, "b", 11, 10)
	addHost(t, q, "a", 21, 10)
	q.IsDone(isDone, func(seq uint64) { told[seq] = true })
	if _, ended, err := q.Sweep(0, turnOf(99), isDone, func(uint64, []Pending, int) bool { return true }); !ended || err != nil {
		t.Fatal(ended, err)
	}
	if asked < 30 {
		t.Errorf("a sweep asked for %d numbers", asked)
	}
	clear(told)
	asked = 0
	q.done = func(context.Context, uint64) (doneBits, error) { return doneBits{isDone, math.MaxUint64}, nil }
	if err := q.merge(t.Context(), q.runs.infos(QueueRun)); err != nil || asked != 30 {
		t.Errorf("a merge asked for %d numbers, %v", asked, err)
	}
}

package store

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// tinyQueue makes runs, merges and evictions happen within a test.
var tinyQueue = queueConfig{entries: 30, bytes: 8 << 20, lag: 40, again: 10, fanIn: 2, hosts: 3, mark: 5}

// queueModel is what a queue should hold, and a caller who keeps to its contract.
type queueModel struct {
	t   *testing.T
	rng *rand.Rand
	s   *Store
	cfg queueConfig

	all    []Pending // by number, from 1: as it was added last
	open   map[uint64]bool
	taken  map[uint64]bool
	events []DoneEntry
	rows   []Row // for the next checkpoint
}

func newQueueModel(t *testing.T, rng *rand.Rand, cfg queueConfig) *queueModel {
	m := &queueModel{t: t, rng: rng, cfg: cfg, open: make(map[uint64]bool), taken: make(map[uint64]bool)}
	m.use(create(t, Config{}))
	return m
}

func (m *queueModel) use(s *Store) {
	m.s = s
	s.Queue.cfg = m.cfg
	s.Queue.done = m.doneAsOf
}

// doneAsOf is a bitmap as of some event, at times an earlier one than was asked for.
func (m *queueModel) doneAsOf(_ context.Context, upto uint64) (doneBits, error) {
	events := uint64(len(m.events))
	at := min(upto, events) + m.rng.Uint64N(events-min(upto, events)+1)
	if m.rng.IntN(3) == 0 {
		at = m.rng.Uint64N(events + 1)
	}
	b := &Bits{}
	for _, e := range m.events[:at] {
		b.put(e.Seq, e.Event)
	}
	return doneBits{b.Test, at}, nil
}

func (m *queueModel) isTaken(seq uint64) bool { return !m.open[seq] || m.taken[seq] }

func (m *queueModel) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *queueModel) committed() {
	m.s.Queue.Committed(m.s.Admissions.Len(), m.s.Done.Len())
	m.s.Queue.SetPending(uint64(len(m.open)))
}

// admit adds a URL.
func (m *queueModel) admit() {
	seq := uint64(len(m.all)) + 1
	host := fmt.Sprintf("%d.example", int(math.Sqrt(float64(m.rng.IntN(modelHosts*modelHosts)))))
	p := Pending{
		URL: fmt.Sprintf("https://%s/%d", host, seq), Host: host, Seq: seq, Class: uint8(m.rng.IntN(3)),
		Depth: m.rng.Uint32N(4), Visit: 1,
	}
	a := Admission{URL: p.URL, Hash: seq, Class: p.Class, Depth: p.Depth}
	if m.rng.IntN(2) == 0 && seq > 1 {
		p.From = 1 + m.rng.Uint64N(seq-1)
		p.Referrer, a.From = m.all[p.From-1].URL, p.From
	}
	_, err := m.s.Admissions.Append(a)
	m.must(err)
	m.s.Queue.Add(&p)
	if p.From != 0 && m.all[p.From-1].Host != p.Host {
		p.Referrer = "" // the number tells it
	}
	m.all = append(m.all, p)
	m.open[seq] = true
}

// visit ends the visit of a number that is in memory: it is done, or pending again.
func (m *queueModel) visit(seq uint64) {
	p := &m.all[seq-1]
	e := DoneEntry{Seq: seq, Event: EventDone, Outcome: 1, Visit: p.Visit, At: time.UnixMilli(1)}
	if m.rng.IntN(3) == 0 {
		p.Attempt++
		p.Due = time.UnixMilli(m.rng.Int64N(1e9)).UTC()
		e = DoneEntry{Seq: seq, Event: EventAgain, Attempt: p.Attempt, Visit: p.Visit, At: e.At, Due: p.Due}
		m.s.Queue.Add(p)
	} else {
		delete(m.open, seq)
	}
	delete(m.taken, seq)
	m.must(m.s.Done.Append(e))
	m.events = append(m.events, e)
}

// revisit makes a number that is done pending again.
func (m *queueModel) revisit() {
	if len(m.all) == 0 {
		return
	}
	seq := 1 + m.rng.Uint64N(uint64(len(m.all)))
	if m.open[seq] {
		return
	}
	p := &m.all[seq-1]
	p.Visit++
	p.Attempt, p.Due = 0, time.Time{}
	e := DoneEntry{Seq: seq, Event: EventAgain, Visit: p.Visit, At: time.UnixMilli(1)}
	m.must(m.s.Done.Append(e))
	m.events = append(m.events, e)
	m.open[seq] = true
	m.s.Queue.Add(p)
}

const modelHosts = 5

func (m *queueModel) someHost() uint64 {
	return HostKey(fmt.Sprintf("%d.example", m.rng.IntN(modelHosts+1)))
}

// check fails unless entries of one host are pending, not taken, as they were added last, and in order.
func (m *queueModel) check(key uint64, entries []Pending) {
	m.t.Helper()
	last := orderKey{}
	for _, p := range entries {
		if at := orderOf(p.Class, p.Depth, p.Seq); !last.less(at) {
			m.t.Fatalf("number %d comes after a later one", p.Seq)
		} else {
			last = at
		}
		if m.isTaken(p.Seq) {
			m.t.Fatalf("number %d is taken or done, and came again", p.Seq)
		}
		if want := m.all[p.Seq-1]; !reflect.DeepEqual(p, want) {
			m.t.Fatalf("got  %+v\nwant %+v", p, want)
		}
		if HostKey(p.Host) != key {
			m.t.Fatalf("number %d of %s came for another host", p.Seq, p.Host)
		}
	}
}

// host reads a host once, and takes what came but for the last few, which are put back.
func (m *queueModel) host(key uint64, n int) (more bool) {
	m.t.Helper()
	entries, more, err := m.s.Queue.Host(nil, key, n, m.isTaken)
	m.must(err)
	m.check(key, entries)
	if len(entries) > n || len(entries) < n && more {
		m.t.Fatalf("%d entries, more %v, when at most %d were asked for", len(entries), more, n)
	}
	if m.rng.IntN(4) == 0 {
		m.rows = append(m.rows, m.s.Queue.Marks(m.low)...) // for a checkpoint that comes before they are in memory
	}
	kept := len(entries)
	if m.rng.IntN(8) == 0 {
		kept = m.rng.IntN(kept + 1)
	}
	for _, p := range entries[:kept] {
		m.taken[p.Seq] = true
	}
	if kept < len(entries) {
		m.putBack(key, entries[kept:])
	}
	return more
}

func (m *queueModel) putBack(key uint64, entries []Pending) {
	if m.rng.IntN(2) == 0 {
		m.s.Queue.Forget(key)
		return
	}
	m.s.Queue.PutBack(key, entries[0].Class, entries[0].Depth, entries[0].Seq)
}

// evict puts entries of a host that are in memory back.
func (m *queueModel) evict(key uint64) {
	var entries []Pending
	for _, seq := range slices.Sorted(maps.Keys(m.taken)) {
		if p := m.all[seq-1]; HostKey(p.Host) == key && m.rng.IntN(2) == 0 {
			entries = append(entries, p)
			delete(m.taken, seq)
		}
	}
	slices.SortFunc(entries, func(a, b Pending) int {
		if orderOf(a.Class, a.Depth, a.Seq).less(orderOf(b.Class, b.Depth, b.Seq)) {
			return -1
		}
		return 1
	})
	if len(entries) > 0 {
		m.putBack(key, entries)
	}
}

// low is what the caller's memory holds of a host.
func (m *queueModel) low(key uint64) (class uint8, depth uint32, seq uint64, ok bool) {
	least := orderEnd
	for seq := range m.taken {
		if p := m.all[seq-1]; HostKey(p.Host) == key {
			least = least.min(orderOf(p.Class, p.Depth, p.Seq))
		}
	}
	return uint8(least.order >> 32), uint32(least.order), least.seq, least != orderEnd
}

// drained spills, and fails unless what Host and Sweep give is all that is pending and not taken. Nothing is taken.
func (m *queueModel) drained() {
	m.t.Helper()
	m.committed()
	m.must(m.s.Queue.Spill(m.t.Context()))
	if n := m.s.Queue.Unwritten(); n != 0 {
		m.t.Fatalf("%d entries are unwritten after a spill", n)
	}
	want := make(map[uint64]bool)
	for seq := range m.open {
		if !m.taken[seq] {
			want[seq] = true
		}
	}
	swept := m.sweepAll()
	if !maps.Equal(swept, want) {
		m.t.Fatalf("a sweep found %d numbers, want %d", len(swept), len(want))
	}
	before := maps.Clone(m.taken)
	for i := range modelHosts {
		key := HostKey(fmt.Sprintf("%d.example", i))
		for more := true; more; {
			entries, left, err := m.s.Queue.Host(nil, key, 1+m.rng.IntN(20), m.isTaken)
			m.must(err)
			m.check(key, entries)
			for _, p := range entries {
				m.taken[p.Seq] = true
			}
			more = left
		}
		m.s.Queue.Forget(key) // all of it is put back
	}
	for seq := range want {
		if !m.taken[seq] {
			m.t.Fatalf("Host never came to number %d", seq)
		}
	}
	m.taken = before
}

// sweepAll sweeps in several calls.
func (m *queueModel) sweepAll() map[uint64]bool {
	m.t.Helper()
	found, from, perHost, last := make(map[uint64]bool), uint64(0), 1+m.rng.IntN(1000), uint64(0)
	for ended := false; !ended; {
		var err error
		hosts := m.rng.IntN(4)
		from, ended, err = m.s.Queue.Sweep(from, turnOf(perHost), m.isTaken, func(key uint64, entries []Pending, left int) bool {
			more := left > 0
			if key < last || len(entries) == 0 || len(entries) > perHost || more && len(entries) < perHost {
				m.t.Fatalf("host %x after %x with %d of %d entries", key, last, len(entries), perHost)
			}
			last = key
			m.check(key, entries)
			for _, p := range entries {
				found[p.Seq] = true
			}
			if more { // the rest
				m.s.Queue.Forget(key)
				rest, _, err := m.s.Queue.Host(nil, key, math.MaxInt, m.isTaken)
				m.must(err)
				for _, p := range rest {
					found[p.Seq] = true
				}
				m.s.Queue.Forget(key)
			}
			hosts--
			return hosts >= 0
		})
		m.must(err)
	}
	return found
}

// restart checkpoints, goes on for a while, and is killed: what the checkpoint says stands.
func (m *queueModel) restart(then func()) {
	m.t.Helper()
	if m.rng.IntN(2) == 0 { // nothing waits but what comes now
		workAll(m.t, m.s)
		for range m.rng.IntN(20) {
			m.admit()
		}
	}
	m.committed()
	cp, err := m.s.Prepare(append(m.rows, m.s.Queue.Marks(m.low)...), 0)
	m.must(err)
	m.rows = nil
	all, open, events := slices.Clone(m.all), maps.Clone(m.open), slices.Clone(m.events)
	if m.rng.IntN(2) == 0 {
		then()
	}
	m.must(cp.Commit())
	then()
	dir := copyDir(m.t, m.s.Dir())
	m.must(m.s.Close())
	m.all, m.open, m.events, m.taken, m.rows = all, open, events, make(map[uint64]bool), nil
	m.reopen(dir)
	m.readAgain()
}

func (m *queueModel) reopen(dir string) { m.use(open(m.t, dir, Config{})) }

// readAgain adds what the runs do not cover, as opening a crawl does.
func (m *queueModel) readAgain() {
	m.t.Helper()
	q := m.s.Queue
	var rows []Row
	m.must(m.s.Rows(MarkPrefix, func(key string, value []byte) error {
		rows = append(rows, Row{key, slices.Clone(value)})
		return nil
	}))
	m.must(q.RestoreMarks(rows))
	covered := q.Coverage()
	again := make(map[uint64]bool)
	for _, e := range m.events[covered.Done:] {
		if e.Event == EventAgain && e.Seq <= covered.Admissions && m.open[e.Seq] {
			again[e.Seq] = true
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(again)) {
		q.Add(&m.all[seq-1])
	}
	for i := int(covered.Admissions); i < len(m.all); i++ {
		if p := &m.all[i]; m.open[p.Seq] {
			q.Add(p)
		}
		if m.rng.IntN(10) == 0 {
			q.Committed(uint64(i+1), covered.Done)
			m.work()
		}
	}
	m.committed()
}

func (m *queueModel) work() {
	m.t.Helper()
	_, err := m.s.Work(m.t.Context())
	m.must(err)
}

// step does one thing that a crawl does.
func (m *queueModel) step() {
	m.t.Helper()
	switch m.rng.IntN(12) {
	case 0, 1, 2:
		for range m.rng.IntN(20) {
			m.admit()
		}
		if m.rng.IntN(3) > 0 {
			m.committed()
		}
	case 3, 4, 5:
		key := m.someHost()
		for range 1 + m.rng.IntN(3) {
			m.host(key, 1+m.rng.IntN(8))
		}
	case 6, 7:
		for _, seq := range slices.Sorted(maps.Keys(m.taken)) {
			if m.rng.IntN(2) == 0 {
				m.visit(seq)
			}
		}
		m.committed()
	case 8:
		for range m.rng.IntN(8) {
			m.revisit()
		}
	case 9:
		m.evict(m.someHost())
	case 10:
		m.must(m.s.Queue.Spill(m.t.Context()))
	default:
		for range 1 + m.rng.IntN(4) {
			m.work()
		}
	}
}

func (m *queueModel) steps(n int) {
	for range n {
		m.step()
	}
}

// Every pending number is found, as it was added last, and none while it is taken: whatever is spilled, merged, put back,
// and however often the crawl is killed.
func TestQueueModel(t *testing.T) {
	seeds := uint64(10)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newQueueModel(t, rand.New(rand.NewPCG(seed, 1)), tinyQueue)
			for range 6 {
				m.steps(60)
				if m.rng.IntN(2) == 0 {
					m.drained()
					m.steps(20)
				}
				m.restart(func() { m.steps(m.rng.IntN(30)) })
				m.drained()
			}
		})
	}
}

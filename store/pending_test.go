package store

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestPendingRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    Pending
		max  int // bytes of note and text beyond those of the URL
	}{
		{"seed", Pending{URL: "https://a.example/", Host: "a.example", Seq: 1, Visit: 1}, 1},
		{"link on the same host", Pending{
			URL: "https://a.example/catalogue/page-2.html", Host: "a.example", Seq: 1000, From: 990, Class: 2, Depth: 3,
			Referrer: "https://a.example/catalogue/page-1.html", Visit: 1,
		}, 1 + 1 + 2 + 6},
		{"link from elsewhere", Pending{URL: "https://a.example/", Host: "a.example", Seq: 9, From: 3, Visit: 1}, 1 + 1},
		{"from another host, whose number is not known", Pending{
			URL: "https://a.example/", Host: "a.example", Seq: 9, Referrer: "http://b.example/", Visit: 1,
		}, 1 + 2 + 13},
		{"every field", Pending{
			URL: "http://[::1]:8080/?q", Host: "[::1]:8080", Seq: math.MaxUint64, From: 1, Class: math.MaxUint8,
			Depth: math.MaxUint32, Hop: math.MaxUint8, Seed: math.MaxUint32, Chain: []uint64{1, math.MaxUint64},
			Attempt: math.MaxUint8, Visit: math.MaxUint16, Former: math.MaxUint64, Due: time.UnixMilli(-5).UTC(), Referrer: "http://[::1]:8080/?q",
		}, 60},
		{"referrer later than the URL, as after a damage", Pending{URL: "http://a/", Host: "a", Seq: 3, From: 7, Visit: 1}, 14},
		{"due at the epoch", Pending{URL: "http://a/", Host: "a", Seq: 3, Due: time.UnixMilli(0).UTC()}, 5},
		{"host that is not in the URL", Pending{URL: "http://a/", Host: "elsewhere.example", Seq: 3}, 30},
		{"host like a scheme", Pending{URL: "http://http/", Host: "http", Seq: 3, Visit: 1}, 1},
		{"no URL", Pending{Host: "a", Seq: 3}, 5},
		{"nothing", Pending{}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entry, note := appendPending(nil, &tt.p)
			if n := len(entry) - len(tt.p.URL); n > tt.max {
				t.Errorf("%d bytes beside the URL, want at most %d", n, tt.max)
			}
			if len(entry) > pendingBytes(&tt.p) {
				t.Errorf("%d bytes, room was made for %d", len(entry), pendingBytes(&tt.p))
			}
			var got Pending
			if err := decodePending(orderOf(tt.p.Class, tt.p.Depth, tt.p.Seq), entry[:note], entry[note:], &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.p) {
				t.Errorf("got  %+v\nwant %+v", got, tt.p)
			}
		})
	}
}

// A referrer on another host is not kept where the number tells it, and every other one is.
func TestReferrersKept(t *testing.T) {
	for _, tt := range []struct {
		referrer string
		from     uint64
		kept     bool
	}{
		{"https://a.example/", 3, true},
		{"https://a.example/deep/er?q", 3, true},
		{"http://a.example/", 3, false},
		{"https://a.example.org/", 3, false},
		{"https://a.example:8443/", 3, false},
		{"https://b.example/", 3, false},
		{"https://b.example/", 0, true},
	} {
		p := Pending{URL: "https://a.example/page", Host: "a.example", Seq: 9, From: tt.from, Referrer: tt.referrer, Visit: 1}
		entry, note := appendPending(nil, &p)
		var got Pending
		if err := decodePending(orderOf(0, 0, 9), entry[:note], entry[note:], &got); err != nil {
			t.Fatal(err)
		}
		want := ""
		if tt.kept {
			want = tt.referrer
		}
		if got.Referrer != want {
			t.Errorf("%s from %d comes back as %q", tt.referrer, tt.from, got.Referrer)
		}
	}
}

// The order of keys is that of hosts, classes, depths and numbers.
func TestQueueKeyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() (uint64, orderKey) {
		return rng.Uint64N(3) << rng.IntN(hostKeyBits-2), orderOf(uint8(rng.IntN(3)), rng.Uint32N(300)<<rng.IntN(24), rng.Uint64N(300)<<rng.IntN(56))
	}
	for range 10000 {
		hostA, a := random()
		hostB, b := random()
		keyA, keyB := appendQueueKey(nil, hostA, a), appendQueueKey(nil, hostB, b)
		want := hostA < hostB || hostA == hostB && a.less(b)
		if got := bytes.Compare(keyA, keyB) < 0; got != want {
			t.Fatalf("%x before %x: %v, want %v", keyA, keyB, got, want)
		}
		host, at, err := parseQueueKey(keyA)
		if host != hostA || at != a || err != nil {
			t.Fatalf("%x parses to %x, %v, %v", keyA, host, at, err)
		}
	}
}

// Whatever bytes there are, decoding them ends, and what it takes for an entry is one.
func FuzzDecodePending(f *testing.F) {
	add := func(p *Pending) {
		entry, note := appendPending(nil, p)
		f.Add(entry[:note], entry[note:])
	}
	add(&Pending{URL: "https://a.example/x", Host: "a.example", Seq: 7, From: 3, Hop: 2, Seed: 1,
		Chain: []uint64{5}, Attempt: 1, Visit: 2, Due: time.UnixMilli(1e12), Referrer: "https://a.example/"})
	add(&Pending{URL: "https://a.example/x", Host: "b"})
	add(&Pending{URL: "https://a.example/x", Host: "b", Referrer: "https://c.example/"})
	f.Add([]byte{withHost, 255, 255, 255, 255, 255, 255, 255, 255, 127}, []byte("http://a/"))
	f.Add([]byte{withReferrer, 255, 255, 255, 255, 255, 255, 255, 255, 127, 1, 1}, []byte("http://a/"))
	f.Fuzz(func(t *testing.T, note, text []byte) {
		var p, again Pending
		if decodePending(orderOf(1, 2, 3), note, text, &p) != nil {
			return
		}
		if n := len(p.URL) + len(p.Host) + len(p.Referrer) + 8*len(p.Chain); n > 3*(len(note)+len(text)) {
			t.Errorf("%d bytes give %d", len(note)+len(text), n)
		}
		entry, size := appendPending(nil, &p)
		if err := decodePending(orderOf(1, 2, 3), entry[:size], entry[size:], &again); err != nil || !reflect.DeepEqual(p, again) {
			t.Errorf("%v: %+v is %+v when written and read again", err, p, again)
		}
	})
}

func TestMarkRoundTrip(t *testing.T) {
	mark := []hostPlace{{7, orderOf(2, 3, 1<<40)}, {8, orderEnd}, {1 << 60, orderOf(255, math.MaxUint32, math.MaxUint64)}}
	got, err := parseMark(appendMark(nil, mark))
	if err != nil || !reflect.DeepEqual(got, mark) {
		t.Errorf("got %v, %v, want %v", got, err, mark)
	}
	for cut := range appendMark(nil, mark[:1]) {
		if got, err := parseMark(appendMark(nil, mark[:1])[:cut]); err == nil && cut > 0 {
			t.Errorf("the first %d bytes give %v", cut, got)
		}
	}
}

func FuzzParseMark(f *testing.F) {
	f.Add(appendMark(nil, []hostPlace{{7, orderOf(2, 3, 1<<40)}, {8, orderEnd}}))
	f.Fuzz(func(t *testing.T, value []byte) {
		mark, err := parseMark(value)
		if err != nil {
			return
		}
		if again, err := parseMark(appendMark(nil, mark)); err != nil || !reflect.DeepEqual(mark, again) {
			t.Errorf("%v: %v is %v when written and read again", err, mark, again)
		}
	})
}

// A memtable gives back what it was given, in order, the later of equal keys, and takes entries of any size.
func TestMemtable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	m := &memtable{}
	want := make(map[string]Pending)
	var key [maxQueueKey]byte
	for i := range 3000 {
		p := Pending{URL: "http://h/" + strings.Repeat("x", rng.IntN(200)), Host: string(rune('a' + rng.IntN(20))),
			Seq: uint64(rng.IntN(2000)), Attempt: uint8(i), Class: uint8(rng.IntN(3))}
		if rng.IntN(100) == 0 {
			p.URL = "http://h/" + strings.Repeat("y", rng.IntN(3<<20))
		}
		m.add(&p)
		want[string(appendQueueKey(key[:0], HostKey(p.Host), orderOf(p.Class, p.Depth, p.Seq)))] = p
		if rng.IntN(200) == 0 {
			m.settle(Coverage{})
		}
	}
	settled := m.settled
	next := &memtable{}
	m.splitInto(next)
	if m.len() != settled || next.len() != 3000-settled {
		t.Fatalf("split into %d and %d, want %d settled of 3000", m.len(), next.len(), settled)
	}
	got := make(map[string]Pending)
	for _, m := range []*memtable{m, next} {
		m.sort()
		last := ""
		for _, s := range m.slots {
			k := string(appendQueueKey(key[:0], s.host, s.orderKey))
			if k <= last {
				t.Fatalf("key %x after %x", k, last)
			}
			var p Pending
			if err := decodePendingOf(m, s, &p); err != nil {
				t.Fatal(err)
			}
			got[k], last = p, k
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d other entries, want %d", len(got), len(want))
	}
}

func decodePendingOf(m *memtable, s slot, p *Pending) error {
	note, text := m.entry(s)
	return decodePending(s.orderKey, note, text, p)
}

// What is no key of a queue is refused.
func TestQueueKeyRefused(t *testing.T) {
	good := appendQueueKey(nil, 7, orderOf(1, 300, 400))
	for cut := range good {
		if host, at, err := parseQueueKey(good[:cut]); err == nil {
			t.Errorf("the first %d bytes are %d, %v", cut, host, at)
		}
	}
	for name, key := range map[string][]byte{
		"a byte too many":                   append(bytes.Clone(good), 0),
		"a depth that is too long":          {0, 0, 0, 0, 0, 7, 1, 255, 0, 0, 0, 254, 0},
		"a number that begins with nothing": {0, 0, 0, 0, 0, 7, 1, 2, 2, 0, 1},
		"a number of nine bytes":            {0, 0, 0, 0, 0, 7, 1, 2, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9},
	} {
		if host, at, err := parseQueueKey(key); err == nil {
			t.Errorf("%s: %d, %v", name, host, at)
		}
	}
}

func TestAddKeepsAllocationsOff(t *testing.T) {
	q := newQueue(nil, queueConfig{}, Coverage{}, 0)
	q.active.slots = make([]slot, 0, 4096)
	p := Pending{URL: "https://a.example/catalogue/page-2.html", Host: "a.example", Seq: 1}
	if n := testing.AllocsPerRun(2000, func() { q.Add(&p) }); n > 0 {
		t.Errorf("an entry costs %v allocations", n)
	}
}

package seen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/iotest"
)

// member is a kind of filter. What every kind promises is tested with each.
type member struct {
	kind Kind
	open func(Config) (Filter, error)
}

var family = []member{
	{KindScalable, func(c Config) (Filter, error) { return NewScalable(c) }},
	{KindScalable, func(c Config) (Filter, error) { return NewShared(c) }},
	{KindBloom, func(c Config) (Filter, error) { return NewBloom(c, Blocked) }},
	{KindClassic, func(c Config) (Filter, error) { return NewBloom(c, Classic) }},
	{KindCounting, func(c Config) (Filter, error) { return NewCounting(c) }},
	{KindCuckoo, func(c Config) (Filter, error) { return NewCuckoo(c) }},
	{KindWindow, openStandingWindow},
}

func (m member) must(t testing.TB, c Config) Filter {
	t.Helper()
	f, err := m.open(c)
	if err != nil {
		t.Fatalf("%s: %+v: %v", m.kind, c, err)
	}
	return f
}

// expecting is what a filter is made for that is to take so many keys: of a chain few of them, so that it grows.
func (m member) expecting(keys int) uint64 {
	if m.kind == KindScalable {
		return minFirstItems
	}
	return uint64(keys)
}

func eachKind(t *testing.T, test func(t *testing.T, m member)) {
	for _, m := range family {
		t.Run(string(m.kind), func(t *testing.T) { test(t, m) })
	}
}

// A million random operations against a map: what is in the map is seen, whatever the way it was added and asked for, and
// what is not is called seen as often as Rate says.
func TestAgainstMap(t *testing.T) {
	ops := 1_000_000
	if testing.Short() {
		ops = 100_000
	}
	eachKind(t, func(t *testing.T, m member) {
		t.Parallel()
		g := newGame(t, m.must(t, Config{FalsePositiveRate: 0.01, ExpectedItems: m.expecting(ops / 8), Seed: 1}), ops/8)
		for g.done < ops {
			g.step()
		}
		g.end()
	})
}

// game plays random operations on a filter and on a map.
type game struct {
	t      *testing.T
	filter Filter
	random *rand.Rand
	pool   []uint64 // what is offered
	added  map[uint64]bool

	batch []uint64
	was   []bool

	done     int
	rate     float64 // of a moment ago: Shared takes all its locks for it
	wrong    float64 // hashes that were new and called seen
	expected float64 // the sum of rate over the new ones
}

func newGame(t *testing.T, f Filter, keys int) *game {
	return &game{
		t: t, filter: f, random: rand.New(rand.NewPCG(1, 2)), pool: randomHashes(1, keys), added: make(map[uint64]bool, keys),
		batch: make([]uint64, 100), was: make([]bool, 100),
	}
}

func (g *game) draw() uint64 { return g.pool[g.random.IntN(len(g.pool))] }

func (g *game) step() {
	if g.done%16 == 0 {
		g.rate = g.filter.Rate()
	}
	h := g.draw()
	switch g.random.IntN(40) {
	case 0:
		g.stepBatch(1 + g.random.IntN(len(g.batch)))
		return
	case 1, 2, 3, 4: // of a key that is never added
		h = g.random.Uint64()
		fallthrough
	case 5, 6, 7, 8:
		seen, err := g.filter.Has(h)
		g.judge(h, seen, err)
	default:
		seen, err := g.filter.TestAndAdd(h)
		g.judge(h, seen, err)
		g.added[h] = true
	}
	g.done++
}

func (g *game) stepBatch(n int) {
	for i := range n {
		g.batch[i] = g.draw()
	}
	if err := g.filter.TestAndAddBatch(g.batch[:n], g.was[:n]); err != nil {
		g.t.Fatal(err)
	}
	for i, h := range g.batch[:n] {
		g.judge(h, g.was[i], nil)
		g.added[h] = true
	}
	g.done += n
}

func (g *game) judge(h uint64, seen bool, err error) {
	if err != nil {
		g.t.Fatalf("hash %x, of %d: %v", h, len(g.added), err)
	}
	switch {
	case g.added[h] && !seen:
		g.t.Fatalf("hash %x was added and is not seen, of %d", h, len(g.added))
	case g.added[h]:
	case seen:
		g.wrong++
		fallthrough
	default:
		g.expected += g.rate
	}
}

// end asks for everything, and compares the errors made with those expected, within four standard deviations.
func (g *game) end() {
	g.t.Helper()
	for h := range g.added {
		if seen, _ := g.filter.Has(h); !seen {
			g.t.Fatalf("hash %x was added and is not seen", h)
		}
	}
	g.t.Logf("%d keys, %.0f wrong answers, %.0f expected", len(g.added), g.wrong, g.expected)
	if math.Abs(g.wrong-g.expected) > 0.05*g.expected+4*math.Sqrt(g.expected)+1 {
		g.t.Errorf("%.0f new hashes were called seen, Rate promised %.0f", g.wrong, g.expected)
	}
}

// A batch is its hashes one by one, also where a chain grows within it, and a hash that it repeats is new once.
func TestEachBatchEqualsSingle(t *testing.T) {
	offered := 20_000
	if testing.Short() {
		offered = 5000
	}
	eachKind(t, func(t *testing.T, m member) {
		c := Config{ExpectedItems: m.expecting(8000), Seed: 1}
		r := rand.New(rand.NewPCG(1, 2))
		keys := randomHashes(1, 6000)
		for _, size := range []int{0, 1, 2, 63, 64, 65, 200, 5000} {
			one, many := m.must(t, c), m.must(t, c)
			for range max(3, offered/max(size, 1)) {
				batch, was := make([]uint64, size), make([]bool, size)
				for i := range batch {
					batch[i] = keys[r.IntN(len(keys))]
				}
				if err := many.TestAndAddBatch(batch, was); err != nil {
					t.Fatal(err)
				}
				for i, h := range batch {
					if seen, _ := one.TestAndAdd(h); seen != was[i] {
						t.Fatalf("batches of %d: %v for hash %x, one by one %v", size, was[i], h, seen)
					}
				}
			}
			if a, b := saved(t, one), saved(t, many); !bytes.Equal(a, b) {
				t.Fatalf("batches of %d leave another filter than one by one", size)
			}
		}
		f, was := m.must(t, c), make([]bool, 4)
		if err := f.TestAndAddBatch([]uint64{7 << 40, 7 << 50, 7 << 40, 7 << 40}, was); err != nil {
			t.Fatal(err)
		}
		if want := []bool{false, false, true, true}; !slices.Equal(was, want) || f.Len() != 2 {
			t.Errorf("a batch that repeats a hash: %v and %d added, want %v and 2", was, f.Len(), want)
		}
		if err := f.TestAndAddBatch(make([]uint64, 3), was); err == nil {
			t.Error("3 hashes with room for 4 answers: no error")
		}
	})
}

func saved(t testing.TB, f Filter) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := f.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo = %d, %v for %d bytes", n, err, b.Len())
	}
	return b.Bytes()
}

// What is read is what was written, says the same of itself, and goes on in the same way.
func TestEachIsReadAsItWas(t *testing.T) {
	eachKind(t, func(t *testing.T, m member) {
		f := m.must(t, Config{ExpectedItems: 40_000, Seed: 1}) // more than one chunk
		for round := range uint64(3) {
			file := saved(t, f)
			again, err := Read(iotest.OneByteReader(bytes.NewReader(file)))
			if err != nil {
				t.Fatal(err)
			}
			if got := saved(t, again); !bytes.Equal(got, file) {
				t.Fatalf("round %d: read and written again it differs", round)
			}
			if got, want := again.Stats(), f.Stats(); !reflect.DeepEqual(got, want) || got.Kind != m.kind {
				t.Fatalf("round %d: Stats %+v, want %+v", round, got, want)
			}
			for h := range hashStream(round, 10_000) {
				got, gotErr := again.TestAndAdd(h)
				want, wantErr := f.TestAndAdd(h)
				if got != want || gotErr != nil || wantErr != nil {
					t.Fatalf("round %d, hash %x: %v, %v, want %v, %v", round, h, got, gotErr, want, wantErr)
				}
			}
			if got, want := saved(t, again), saved(t, f); !bytes.Equal(got, want) {
				t.Fatalf("round %d: after the same keys it differs", round)
			}
		}
		if key := "https://a.example/"; f.HashString(key) != must(Read(bytes.NewReader(saved(t, f)))).HashString(key) {
			t.Error("the hash is another after a save")
		}
	})
}

func must(f Filter, err error) Filter {
	if err != nil {
		panic(err)
	}
	return f
}

// smallFile is a saved filter with some keys in it, and the length of its head.
func (m member) smallFile(t testing.TB) (file []byte, head int) {
	t.Helper()
	f := m.must(t, Config{ExpectedItems: 1000, Seed: 1})
	for h := range hashStream(1, 900) {
		if _, err := f.TestAndAdd(h); err != nil {
			t.Fatal(err)
		}
	}
	file = saved(t, f)
	head, err := headLength(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, head
}

// Every cut and every flipped bit of a file gives an error, never a smaller filter, and the right one.
func TestEachNoticesDamage(t *testing.T) {
	stride := 97 // behind the head
	if testing.Short() {
		stride = 997
	}
	eachKind(t, func(t *testing.T, m member) {
		file, head := m.smallFile(t)
		for n := range file {
			want := ErrDamaged
			if n == 0 {
				want = ErrFormat
			}
			if n <= head+1 || n%stride == 0 || n > len(file)-10 {
				if _, err := Read(bytes.NewReader(file[:n])); !errors.Is(err, want) {
					t.Fatalf("cut to %d bytes: %v, want %v", n, err, want)
				}
			}
		}
		for i := range file {
			if i > head && i%stride != 0 && i < len(file)-10 {
				continue
			}
			want := ErrDamaged
			if i < len(magic) {
				want = ErrFormat
			}
			bad := bytes.Clone(file)
			bad[i] ^= 1 << (i % 8)
			if _, err := Read(bytes.NewReader(bad)); !errors.Is(err, want) {
				t.Fatalf("bit %d of byte %d flipped: %v, want %v", i%8, i, err, want)
			}
		}
		r := bytes.NewReader(append(bytes.Clone(file), "next"...))
		if _, err := Read(r); err != nil || r.Len() != len("next") {
			t.Errorf("Read with more behind: %v, %d bytes left, want 4", err, r.Len())
		}
	})
}

func TestEachTellsVersionsApart(t *testing.T) {
	eachKind(t, func(t *testing.T, m member) {
		file, head := m.smallFile(t)
		kind, hash := prefixBytes+1, prefixBytes+1+len(m.kind)+1
		for _, tt := range []struct {
			name string
			edit func(h []byte)
			want error
		}{
			{"next version", func(h []byte) { h[len(magic)] = version + 1 }, ErrNewer},
			{"version 0", func(h []byte) { h[len(magic)] = 0 }, ErrDamaged},
			{"unknown kind", func(h []byte) { h[kind] = 'x' }, ErrNewer},
			{"no kind", func(h []byte) { h[kind-1] = 0 }, ErrDamaged},
			{"unknown hash", func(h []byte) { h[hash] ^= 1 }, ErrNewer},
			{"no hash", func(h []byte) { h[hash-1] = 0 }, ErrDamaged},
		} {
			h := bytes.Clone(file[:head])
			tt.edit(h)
			if _, err := Read(bytes.NewReader(append(sealHeader(h), file[head:]...))); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
		}
		shorter := bytes.Clone(file[:head-1])
		shorter[len(magic)+4]--
		if _, err := Read(bytes.NewReader(sealHeader(shorter))); !errors.Is(err, ErrDamaged) {
			t.Errorf("a field that is too short: %v, want %v", err, ErrDamaged)
		}
	})
}

// A head with a right checksum and any of its numbers huge, zero or odd gives an error or a filter, and costs no memory
// that the file does not back.
func TestEachForgedHead(t *testing.T) {
	eachKind(t, func(t *testing.T, m member) {
		file, head := m.smallFile(t)
		fields := prefixBytes + 1 + len(m.kind) + 1 + len(HashName)
		values := [][]byte{
			{0xff}, {0}, {1}, bytes.Repeat([]byte{0xff}, 8), make([]byte, 8),
			{0, 0, 0, 0, 0, 1}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		}
		for at := fields; at < head-sumBytes; at++ {
			for i, value := range values {
				h := bytes.Clone(file[:head])
				copy(h[at:head-sumBytes], value)
				if bytes.Equal(h, file[:head]) || testing.Short() && (at+i)%len(values) != 0 {
					continue
				}
				forged := append(sealHeader(h), file[head:]...)
				before := allocated()
				_, err := Read(bytes.NewReader(forged))
				if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
					t.Fatalf("%x at byte %d of the fields: %v", value, at-fields, err)
				}
				if err == nil {
					t.Fatalf("%x at byte %d of the fields: read, and the chunks belong to another head", value, at-fields)
				}
				if got := allocated() - before; got > 4<<20 {
					t.Fatalf("%x at byte %d of the fields: %d bytes allocated", value, at-fields, got)
				}
			}
		}
	})
}

func TestEachPassesErrorsOn(t *testing.T) {
	eachKind(t, func(t *testing.T, m member) {
		file, head := m.smallFile(t)
		disk := errors.New("disk on fire")
		for _, n := range []int{0, 5, prefixBytes, head, head + 5, len(file) - 1} {
			_, err := Read(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(disk)))
			if !errors.Is(err, disk) || errors.Is(err, ErrDamaged) {
				t.Errorf("error after %d bytes: %v, want %v", n, err, disk)
			}
		}
		f := must(Read(bytes.NewReader(file)))
		for _, room := range []failAfter{0, 50, failAfter(head), failAfter(head + 100)} {
			want := int64(room)
			if n, err := f.WriteTo(&room); n != want || !errors.Is(err, errFull) {
				t.Errorf("WriteTo with room for %d = %d, %v, want errFull", want, n, err)
			}
		}
	})
}

func TestEachAllocatesNothing(t *testing.T) {
	eachKind(t, func(t *testing.T, m member) {
		f := m.must(t, Config{Seed: 1})
		key, str := []byte("https://a.example/some/page"), "https://a.example/some/other/page"
		hashes, was, next := randomHashes(1, 200), make([]bool, 200), randomHashes(2, 60_000)
		take := func(n int) []uint64 {
			head := next[:n]
			next = next[n:]
			return head
		}
		calls := map[string]func(){
			"Hash":            func() { f.Hash(key) },
			"HashString":      func() { f.HashString(str) },
			"Has":             func() { f.Has(hashes[0]) },
			"TestAndAdd":      func() { f.TestAndAdd(take(1)[0]) },
			"TestAndAddBatch": func() { f.TestAndAddBatch(take(200), was) },
			"Rate":            func() { f.Rate() },
			"Len":             func() { f.Len() },
		}
		if f, ok := f.(interface{ Add([]uint64) }); ok {
			calls["Add"] = func() { f.Add(take(200)) }
		}
		if f, ok := f.(interface{ HasBatch([]uint64, []bool) error }); ok {
			calls["HasBatch"] = func() { f.HasBatch(hashes, was) }
		}
		for name, call := range calls {
			if n := testing.AllocsPerRun(100, call); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
	})
}

// The settings are judged alike by all, each with the size of its own.
func TestEachValidates(t *testing.T) {
	eachKind(t, func(t *testing.T, m member) {
		for _, c := range []Config{
			{FalsePositiveRate: 0.6},
			{FalsePositiveRate: -1},
			{FalsePositiveRate: math.NaN()},
			{MaxBytes: -1},
			{ExpectedItems: 10_000_000, MaxBytes: 1 << 20},
			{ExpectedItems: math.MaxUint64},
			{ExpectedItems: 1 << 50, MaxBytes: 1 << 30},
		} {
			if f, err := m.open(c); err == nil {
				t.Errorf("%+v: %v, no error", c, f)
			}
		}
		for _, c := range []Config{{}, {ExpectedItems: 1}, {ExpectedItems: 7, FalsePositiveRate: 0.5}, {ExpectedItems: 100, FalsePositiveRate: 0.001}} {
			f := m.must(t, c)
			for h := range hashStream(1, int(min(f.Stats().Capacity, 100))) {
				if _, err := f.TestAndAdd(h); err != nil {
					t.Fatalf("%+v: %v", c, err)
				}
			}
			for h := range hashStream(1, int(min(f.Stats().Capacity, 100))) {
				if seen, _ := f.Has(h); !seen {
					t.Fatalf("%+v: a hash that was added is not seen", c)
				}
			}
			if st := f.Stats(); st.Capped || st.Bits != 8*uint64(st.Bytes) || st.Capacity < max(c.ExpectedItems, 1) || st.TargetRate == 0 {
				t.Errorf("%+v: %+v", c, st)
			}
		}
	})
}

// An empty filter has seen nothing, and a key that no filter of the kind has seen is new once.
func TestEachBeginsEmpty(t *testing.T) {
	eachKind(t, func(t *testing.T, m member) {
		f := m.must(t, Config{})
		if st := f.Stats(); st.Items != 0 || st.Rate != 0 || st.Fill != 0 || f.Len() != 0 || f.Rate() != 0 {
			t.Errorf("an empty filter says %+v", st)
		}
		if seen := fmt.Sprint(f.Has(f.HashString("x"))); seen != "false <nil>" {
			t.Errorf("an empty filter answers %s", seen)
		}
		if other := m.must(t, Config{}); other.HashString("x") == f.HashString("x") {
			t.Error("two filters have one seed")
		}
	})
}

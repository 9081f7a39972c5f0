package seen

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

func mustShared(t testing.TB, c Config) *Shared {
	t.Helper()
	s, err := NewShared(c)
	if err != nil {
		t.Fatalf("NewShared(%+v): %v", c, err)
	}
	return s
}

// Goroutines add the same keys in step: each key is new to exactly one of them, or to none where it is called seen by
// mistake. The chain grows from 1,000 keys meanwhile.
func TestEachKeyIsNewToOne(t *testing.T) {
	const writers, p = 8, 0.01
	keys := 60_000
	if testing.Short() {
		keys = 20_000
	}
	s := mustShared(t, Config{FalsePositiveRate: p, ExpectedItems: 1000, Seed: 1})
	hashes := randomHashes(1, keys)
	told := make([]atomic.Int32, keys)
	const step = 100
	var front, done sync.WaitGroup // front: all begin a step together, or some would never meet
	start := make([]chan struct{}, keys/step)
	for i := range start {
		start[i] = make(chan struct{})
	}
	for w := range writers {
		done.Go(func() {
			was := make([]bool, step)
			for i, begin := range start {
				<-begin
				mine := hashes[i*step : (i+1)*step]
				if w%2 == 0 {
					s.TestAndAddBatch(mine, was)
				} else {
					for j, h := range mine {
						was[j], _ = s.TestAndAdd(h)
					}
				}
				for j := range mine {
					if !was[j] {
						told[i*step+j].Add(1)
					}
					if seen, _ := s.Has(mine[j]); !seen {
						t.Errorf("hash %d was added and is not seen", i*step+j)
					}
				}
				front.Done()
			}
		})
	}
	for _, begin := range start {
		front.Add(writers)
		close(begin)
		front.Wait()
	}
	done.Wait()
	var news, never int
	for i := range told {
		switch n := told[i].Load(); {
		case n > 1:
			t.Errorf("hash %d is new to %d", i, n)
		case n == 0:
			never++
		default:
			news++
		}
	}
	st := s.Stats()
	t.Logf("%d new once, %d never, %d layers", news, never, st.Layers)
	if st.Items != uint64(news) || s.Len() != st.Items || st.Layers < 3 {
		t.Errorf("%d items, Len %d in %d layers, %d were called new", st.Items, s.Len(), st.Layers, news)
	}
	if float64(never) > 1.5*p*float64(keys) {
		t.Errorf("%d of %d called seen by mistake, want at most %g", never, keys, p*float64(keys))
	}
	wantHonestOnes(t, s.chain)
}

// wantHonestOnes compares the counts of set bits, from which Rate follows, with the bits.
func wantHonestOnes(t *testing.T, s *Scalable) {
	t.Helper()
	for i, l := range s.layers() {
		if got, want := l.ones.Load(), uint64(l.bitset(0, len(l.words)).Count()); got != want {
			t.Errorf("layer %d says that %d bits are set, counted %d", i, got, want)
		}
	}
}

// Writers with keys of their own, readers and savers at once: nothing is lost, in the filter or in what was saved.
func TestSharedByAll(t *testing.T) {
	const writers = 4
	keys := 20_000
	if testing.Short() {
		keys = 5_000
	}
	s := mustShared(t, Config{ExpectedItems: 1000, Seed: 1})
	var adding, asking sync.WaitGroup
	var over atomic.Bool
	var returned [writers]atomic.Int64
	hashes := make([][]uint64, writers)
	for w := range writers {
		hashes[w] = randomHashes(uint64(w), keys)
		adding.Go(func() {
			for i, h := range hashes[w] {
				s.TestAndAdd(h)
				returned[w].Store(int64(i + 1))
			}
		})
	}
	for reader := range 2 {
		asking.Go(func() {
			r := rand.New(rand.NewPCG(uint64(reader), 0))
			for !over.Load() {
				w := r.IntN(writers)
				n := int(returned[w].Load())
				if n == 0 {
					continue
				}
				if seen, _ := s.Has(hashes[w][n-1]); !seen {
					t.Errorf("hash %d of writer %d was added and is not seen", n-1, w)
				}
			}
		})
	}
	asking.Go(func() {
		for !over.Load() {
			before := make([]int64, writers)
			for w := range before {
				before[w] = returned[w].Load()
			}
			saved, err := readShared(s)
			if err != nil {
				t.Error(err)
				return
			}
			for w, n := range before {
				for _, h := range hashes[w][:n] {
					if !saved.has(h) {
						t.Errorf("a hash that was added before WriteTo is not in what it wrote")
						return
					}
				}
			}
		}
	})
	adding.Wait()
	over.Store(true)
	asking.Wait()
	saved, err := readShared(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := saved.Share()
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, again.chain, s.chain)
	for w := range writers {
		for _, h := range hashes[w] {
			if seen, _ := again.Has(h); !seen {
				t.Fatalf("hash %x was added and is not seen after a restore", h)
			}
		}
	}
}

// readShared reads what s writes. It may be called from any goroutine.
func readShared(s *Shared) (*Scalable, error) {
	var file bytes.Buffer
	if _, err := s.WriteTo(&file); err != nil {
		return nil, err
	}
	f, err := Read(&file)
	if err != nil {
		return nil, err
	}
	return f.(*Scalable), nil
}

// By one goroutine it is the chain that Scalable is, but for layers that may be up to 1% fuller.
func TestSharedIsScalable(t *testing.T) {
	c := Config{ExpectedItems: 40_000, Seed: 1}
	shared, alone := mustShared(t, c), mustScalable(t, c)
	keys := 400_000
	if testing.Short() {
		keys = 100_000
	}
	for h := range hashStream(1, keys) {
		shared.TestAndAdd(h)
		alone.TestAndAdd(h)
	}
	got, want := shared.Stats(), alone.Stats()
	if got.Layers != want.Layers || shared.Rate() > DefaultFalsePositiveRate {
		t.Errorf("%d layers with an error of %g, want %d with at most %g", got.Layers, shared.Rate(), want.Layers, DefaultFalsePositiveRate)
	}
	for i, l := range got.PerLayer {
		if i < len(got.PerLayer)-1 && (l.Items < l.Capacity || float64(l.Items) > 1.01*float64(l.Capacity)) {
			t.Errorf("layer %d holds %d keys, made for %d", i, l.Items, l.Capacity)
		}
	}
	wantHonestOnes(t, shared.chain)
}

func TestShareRefusesWhatIsNotComplete(t *testing.T) {
	s, err := Restore(mustScalable(t, Config{Seed: 1}).Header(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Share(); err == nil {
		t.Error("a filter whose chunks are missing is shared")
	}
}

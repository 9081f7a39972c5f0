package seen

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// countingRemover is what both kinds of Remover can do, under one signature.
type countingRemover interface {
	Remover
	HasBatch(hashes []uint64, has []bool) error
	add(hashes []uint64) error
	table() []uint64
}

type testCounting struct{ *Counting }

func (c testCounting) add(hashes []uint64) error { c.Counting.Add(hashes); return nil }
func (c testCounting) table() []uint64           { return c.words }

type testCuckoo struct{ *Cuckoo }

func (c testCuckoo) add(hashes []uint64) error { _, err := c.Cuckoo.Add(hashes); return err }
func (c testCuckoo) table() []uint64           { return c.words }

func mustCounting(t testing.TB, c Config) *Counting {
	t.Helper()
	f, err := NewCounting(c)
	if err != nil {
		t.Fatalf("NewCounting(%+v): %v", c, err)
	}
	return f
}

func mustCuckoo(t testing.TB, c Config) *Cuckoo {
	t.Helper()
	f, err := NewCuckoo(c)
	if err != nil {
		t.Fatalf("NewCuckoo(%+v): %v", c, err)
	}
	return f
}

var removers = []struct {
	kind Kind
	open func(t testing.TB, c Config) countingRemover
}{
	{
		KindCounting,
		func(t testing.TB, c Config) countingRemover { return testCounting{mustCounting(t, c)} },
	},
	{
		KindCuckoo,
		func(t testing.TB, c Config) countingRemover { return testCuckoo{mustCuckoo(t, c)} },
	},
}

// perRemover runs a test for each kind.
func perRemover(t *testing.T, c Config, test func(t *testing.T, f countingRemover)) {
	for _, r := range removers {
		t.Run(string(r.kind), func(t *testing.T) { test(t, r.open(t, c)) })
	}
}

// wantHas asks for all keys of a model and, so that the error is judged by fresh keys, for others. Keys that are there
// several times take slots of a cuckoo table without adding to its error: Rate is an upper bound then.
func wantHas(t *testing.T, f countingRemover, model map[uint64]int, asks int) {
	t.Helper()
	for h, times := range model {
		if has, _ := f.Has(h); times > 0 && !has {
			t.Fatalf("hash %x was added and is not seen", h)
		}
	}
	var wrong int
	for h := range hashStream(99, asks) {
		if has, _ := f.Has(h); has {
			wrong++
		}
	}
	t.Logf("%d keys: Rate %g, measured %g", f.Len(), f.Rate(), float64(wrong)/float64(asks))
	measured := float64(wrong) / float64(asks)
	if _, cuckoo := f.(testCuckoo); cuckoo && f.Len() > uint64(len(model)) {
		measured = max(measured, f.Rate())
	}
	wantNear(t, "Rate", f.Rate(), measured, asks)
}

// A million random operations against a map, as a set: TestAndAdd adds what it calls new, and only that is removed.
func TestRemoverIsASet(t *testing.T) {
	const keys, ops = 60_000, 1_000_000
	perRemover(t, Config{FalsePositiveRate: 0.01, ExpectedItems: keys / 2, Seed: 1}, func(t *testing.T, f countingRemover) {
		r := rand.New(rand.NewPCG(1, 2))
		pool, model, held := randomHashes(1, keys), make(map[uint64]int, keys), 0
		took := func(h uint64, was bool) {
			if model[h] > 0 && !was {
				t.Fatalf("hash %x was added and is not seen", h)
			}
			if !was {
				model[h] = 1
				held++
			}
		}
		batch, was := make([]uint64, 100), make([]bool, 100)
		for done := 0; done < ops; done++ {
			h := pool[r.IntN(keys)]
			has, _ := f.Has(h)
			if model[h] > 0 && !has {
				t.Fatalf("hash %x was added and is not seen", h)
			}
			switch {
			case r.IntN(200) == 0:
				for i := range batch {
					batch[i] = pool[r.IntN(keys)]
				}
				if err := f.TestAndAddBatch(batch, was); err != nil {
					t.Fatal(err)
				}
				for i, h := range batch {
					took(h, was[i])
				}
				done += len(batch)
			case r.IntN(2) == 0 && held < keys/2:
				was, err := f.TestAndAdd(h)
				if err != nil || was != has {
					t.Fatalf("TestAndAdd of %x: %v, %v, and Has says %v", h, was, err, has)
				}
				took(h, was)
			case model[h] > 0 || !has:
				removed, err := f.Remove(h)
				if err != nil || removed != has {
					t.Fatalf("Remove of %x: %v, %v, and Has says %v", h, removed, err, has)
				}
				if removed {
					delete(model, h)
					held--
				}
			}
		}
		if f.Len() != uint64(held) {
			t.Errorf("Len %d, want %d", f.Len(), held)
		}
		wantHas(t, f, model, 400_000)
	})
}

// A million random operations against a map of counts. Once all is removed nothing is left.
func TestRemoverCounts(t *testing.T) {
	const keys, ops, most = 20_000, 1_000_000, 4
	perRemover(t, Config{FalsePositiveRate: 0.01, ExpectedItems: keys * most, Seed: 1}, func(t *testing.T, f countingRemover) {
		r := rand.New(rand.NewPCG(1, 2))
		pool, model := randomHashes(1, keys), make(map[uint64]int, keys)
		var held uint64
		one := make([]uint64, 1)
		for range ops {
			h := pool[r.IntN(keys)]
			has, _ := f.Has(h)
			if model[h] > 0 && !has {
				t.Fatalf("hash %x was added and is not seen", h)
			}
			switch {
			case r.IntN(2) == 0 && model[h] < most:
				one[0] = h
				if err := f.add(one); err != nil {
					t.Fatal(err)
				}
				model[h]++
				held++
			case model[h] > 0 || !has:
				removed, _ := f.Remove(h)
				if removed != has {
					t.Fatalf("Remove of %x: %v, and Has says %v", h, removed, has)
				}
				if removed {
					model[h]--
					held--
				}
			}
		}
		if f.Len() != held {
			t.Errorf("Len %d, want %d", f.Len(), held)
		}
		wantHas(t, f, model, 400_000)
		for h, times := range model {
			for range times {
				if removed, _ := f.Remove(h); !removed {
					t.Fatalf("hash %x is not there to be removed", h)
				}
			}
		}
		if st := f.Stats(); f.Len() != 0 || st.Fill != 0 || st.Rate != 0 || slices.Max(f.table()) != 0 {
			t.Errorf("once all is removed: %+v", st)
		}
	})
}

func TestRefusedRemoveChangesNothing(t *testing.T) {
	perRemover(t, Config{ExpectedItems: 1000, Seed: 1}, func(t *testing.T, f countingRemover) {
		if removed, err := f.Remove(1 << 40); removed || err != nil {
			t.Errorf("Remove from an empty filter: %v, %v", removed, err)
		}
		if err := f.add(randomHashes(1, 1000)); err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(f.table())
		refused := 0
		for h := range hashStream(2, 10_000) {
			if has, _ := f.Has(h); !has {
				if removed, _ := f.Remove(h); removed {
					t.Fatalf("%x is not there and was removed", h)
				}
				refused++
			}
		}
		if refused < 9_900 || !slices.Equal(f.table(), before) || f.Len() != 1000 || f.Stats().Items != 1000 {
			t.Errorf("%d refused, %d keys left, table as before: %v", refused, f.Len(), slices.Equal(f.table(), before))
		}
	})
}

// A batch is its hashes one by one, and one that it repeats is new once.
func TestRemoverBatchEqualsSingle(t *testing.T) {
	pool := randomHashes(1, 3000)
	for _, r := range removers {
		for _, size := range []int{0, 1, 63, 64, 65, 1000} {
			one, many := r.open(t, Config{ExpectedItems: 3000, Seed: 1}), r.open(t, Config{ExpectedItems: 3000, Seed: 1})
			random := rand.New(rand.NewPCG(1, 2))
			batch, answers := make([]uint64, size), make([]bool, size)
			for range max(3, 5000/max(size, 1)) {
				for _, op := range []struct {
					name   string
					many   func([]uint64, []bool) error
					single func(uint64) (bool, error)
				}{
					{"TestAndAdd", many.TestAndAddBatch, one.TestAndAdd},
					{"Has", many.HasBatch, one.Has},
					{"Remove", many.RemoveBatch, one.Remove},
					{"TestAndAdd again", many.TestAndAddBatch, one.TestAndAdd},
				} {
					for i := range batch {
						batch[i] = pool[random.IntN(len(pool))]
					}
					if err := op.many(batch, answers); err != nil {
						t.Fatal(err)
					}
					for i, h := range batch {
						if want, _ := op.single(h); answers[i] != want {
							t.Fatalf("%s: %s of %x in a batch of %d: %v, alone %v", r.kind, op.name, h, size, answers[i], want)
						}
					}
				}
			}
			if !slices.Equal(one.table(), many.table()) || one.Len() != many.Len() {
				t.Errorf("%s: batches of %d make another table", r.kind, size)
			}
		}
		f := r.open(t, Config{Seed: 1})
		for name, op := range map[string]func([]uint64, []bool) error{
			"TestAndAddBatch": f.TestAndAddBatch, "HasBatch": f.HasBatch, "RemoveBatch": f.RemoveBatch,
		} {
			if err := op(make([]uint64, 3), make([]bool, 4)); err == nil {
				t.Errorf("%s: %s of 3 hashes with room for 4 answers: no error", r.kind, name)
			}
		}
	}
}

// What only they can do. The rest is tested with every kind.
func TestRemoverDoesNotAllocate(t *testing.T) {
	perRemover(t, Config{ExpectedItems: 100_000, Seed: 1}, func(t *testing.T, f countingRemover) {
		hashes, answers := randomHashes(2, 200), make([]bool, 200)
		for name, call := range map[string]func(){
			"Add":         func() { f.add(hashes); f.RemoveBatch(hashes, answers) },
			"Remove":      func() { f.TestAndAdd(hashes[0]); f.Remove(hashes[0]) },
			"RemoveBatch": func() { f.TestAndAddBatch(hashes, answers); f.RemoveBatch(hashes, answers) },
		} {
			if n := testing.AllocsPerRun(100, call); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
	})
}

// reread saves a filter and reads it back, and saves that again to the same bytes.
func reread(t testing.TB, f Filter) Filter {
	t.Helper()
	var file, twice bytes.Buffer
	n, err := f.WriteTo(&file)
	if err != nil || n != int64(file.Len()) {
		t.Fatalf("WriteTo: %d bytes, %v, wrote %d", n, err, file.Len())
	}
	saved := file.Bytes()
	r := bytes.NewReader(append(slices.Clip(saved), "more"...))
	again, err := Read(r)
	if err != nil || r.Len() != len("more") {
		t.Fatalf("Read: %v, %d bytes left", err, r.Len())
	}
	if _, err := again.WriteTo(&twice); err != nil || !bytes.Equal(twice.Bytes(), saved) {
		t.Fatalf("WriteTo of what was read: %v, other bytes", err)
	}
	return again
}

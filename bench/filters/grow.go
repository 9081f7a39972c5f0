package main

import (
	"fmt"
	"time"

	"crawl/seen"
)

// growth is a chain at one of the doublings of its size.
type growth struct {
	Rate     float64 `json:"fp"`
	First    uint64  `json:"first"` // keys that the first layer was made for
	Keys     uint64  `json:"keys"`
	Layers   int     `json:"layers"`
	Measured float64 `json:"measured"`      // error, of fp
	Says     float64 `json:"says"`          // Rate, of fp
	Full     float64 `json:"full_bits"`     // bits a key of the layers that are full
	FullBar  float64 `json:"full_at_most"`  // 0: none
	Bits     float64 `json:"bits_per_key"`  // allocated
	New      float64 `json:"new_ns_a_key"`  // CPU a key since the doubling before, in batches of 32
	Compact  float64 `json:"compact_ns"`    // CPU a key of remaking it as one layer; 0: not asked for
	OneLayer float64 `json:"compact_bits"`  // bits a key of that
	OneError float64 `json:"compact_error"` // its error, of fp
}

// met reports whether the chain keeps its promises.
func (g growth) met() bool {
	return g.Measured <= 1 && g.Says <= 1 && (g.FullBar == 0 || g.Full <= g.FullBar)
}

// plan is a chain to be grown.
type plan struct {
	rate    float64
	first   uint64
	fullBar float64
}

const asks = 1024 * batchKeys // keys never added that are asked for at each doubling: four million

// grow adds keys until a chain holds upto, and looks at it at each doubling of its first layer.
func grow(c clock, p plan, upto uint64, report func(growth)) error {
	f, err := seen.NewScalable(seen.Config{FalsePositiveRate: p.rate, ExpectedItems: p.first, MaxBytes: 1 << 40, Seed: 1})
	if err != nil {
		return err
	}
	const size = 32
	hashes, was := make([]uint64, 0, size), make([]bool, size)
	var offered, since uint64
	var spent time.Duration
	for at := min(p.first, upto); ; at = min(2*at, upto) {
		start, begun := c.now(), offered
		for offered < at {
			hashes = hashes[:0]
			for len(hashes) < size && offered < at {
				hashes = append(hashes, keyAt(offered))
				offered++
			}
			if err := f.TestAndAddBatch(hashes, was[:len(hashes)]); err != nil {
				return err
			}
		}
		since += offered - begun
		spent += c.now() - start
		g := look(f, p, offered)
		g.New = float64(spent) / float64(since)
		if err := lost(f, offered); err != nil {
			return err
		}
		if at == upto {
			if err := g.compact(c, f, offered); err != nil {
				return err
			}
			report(g)
			return nil
		}
		report(g)
		spent, since = 0, 0
	}
}

func look(f *seen.Scalable, p plan, offered uint64) growth {
	st := f.Stats()
	g := growth{
		Rate: p.rate, First: p.first, Keys: offered, Layers: st.Layers, FullBar: p.fullBar,
		Measured: wrongYes(f) / p.rate,
		Says:     st.Rate / p.rate,
		Bits:     float64(st.Bits) / float64(st.Items),
	}
	var bits int64
	var keys uint64
	for _, l := range st.PerLayer {
		if l.Items*100 >= l.Capacity*99 { // what was called seen by mistake is in no count
			bits, keys = bits+8*l.Bytes, keys+l.Capacity
		}
	}
	if keys > 0 {
		g.Full = float64(bits) / float64(keys)
	}
	return g
}

// wrongYes returns the share of keys never added that f calls seen.
func wrongYes(f *seen.Scalable) float64 {
	const never = 1 << 62 // far past any key that is added
	wrong := 0
	hashes, has := make([]uint64, batchKeys), make([]bool, batchKeys)
	for asked := 0; asked < asks; asked += batchKeys {
		for i := range hashes {
			hashes[i] = keyAt(never + uint64(asked+i))
		}
		f.HasBatch(hashes, has) // fails only for lengths that differ
		wrong += count(has)
	}
	return float64(wrong) / asks
}

// lost returns an error if a key that was added is not seen. It asks for a million of them, spread evenly.
func lost(f seen.Filter, offered uint64) error {
	for i := uint64(0); i < offered; i += max(1, offered/1_000_000) {
		if was, _ := f.Has(keyAt(i)); !was {
			return fmt.Errorf("key %d of %d was added and is not seen", i, offered)
		}
	}
	return nil
}

// compact remakes f as one layer. A log would deliver the hashes that were called new; here all that were offered do.
func (g *growth) compact(c clock, f *seen.Scalable, offered uint64) error {
	var one *seen.Scalable
	var err error
	took := c.time(func() {
		one, err = f.Compact(offered, func(yield func(uint64, error) bool) {
			for i := range offered {
				if !yield(keyAt(i), nil) {
					return
				}
			}
		})
	})
	if err != nil {
		return err
	}
	st := one.Stats()
	g.Compact = float64(took) / float64(offered)
	g.OneLayer = float64(st.Bits) / float64(st.Items)
	g.OneError = wrongYes(one) / g.Rate
	return lost(one, offered)
}

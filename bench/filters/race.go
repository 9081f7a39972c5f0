package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// figure is what one subject costs against the first of its race.
type figure struct {
	Race     string  `json:"race"`
	Subject  string  `json:"subject"`
	Peer     string  `json:"peer"`
	Rate     float64 `json:"fp"`
	Seen     cost    `json:"seen"`
	New      cost    `json:"new"`
	Bits     float64 `json:"bits_per_key"`
	Mallocs  uint64  `json:"mallocs"` // while keys were added, in all rounds
	WrongYes float64 `json:"wrong_yes"`
}

// cost is CPU time a key, and what it is of the peer's.
type cost struct {
	Nanoseconds float64 `json:"ns"`      // median of the rounds
	Ratio       float64 `json:"ratio"`   // median of the rounds' ratios
	Bar         float64 `json:"at_most"` // 0: none
}

func (c cost) met() bool { return c.Bar == 0 || c.Ratio <= c.Bar }

// race is a comparison of subjects that hold the same keys.
type race struct {
	name     string
	rate     float64
	subjects []subject // the first is the peer
	barSeen  float64   // on the ratio to the peer
	barNew   float64
}

// lap is what a subject took for a batch of each sort.
type lap struct{ seen, fresh time.Duration }

// run fills the subjects to nine tenths with items keys, and then has them take turns: a batch of keys they have, a batch
// of new ones, until they are full or rounds is reached. Before each batch the caches are emptied of the filters, as other
// work of a crawler does, and the batch itself is read.
func (r race) run(c clock, items uint64, rounds int, cold *coldness) ([]figure, error) {
	keys := newStream()
	var u urls
	b := batch{was: make([]bool, batchKeys)}
	wrong := make([]int, len(r.subjects))
	for keys.added < items*9/10 {
		b.keys = keys.fresh()
		b.urls = u.of(b.keys)
		for i, s := range r.subjects {
			wrong[i] += s.add(&b)
		}
	}
	laps := make([][]lap, len(r.subjects))
	mallocs := make([]uint64, len(r.subjects))
	var asked int
	for round := 0; round < rounds && keys.added+batchKeys <= items; round++ {
		b.keys = keys.known()
		b.urls = u.of(b.keys)
		took := make([]lap, len(r.subjects))
		for n := range r.subjects {
			i := (n + round) % len(r.subjects) // each is first in its turn
			var was int
			took[i].seen = cold.time(c, &b, func() { was = r.subjects[i].add(&b) })
			if was != batchKeys {
				return nil, fmt.Errorf("%s: %s: %d of %d keys that were added are not seen", r.name, r.subjects[i].name, batchKeys-was, batchKeys)
			}
		}
		b.keys = keys.fresh()
		b.urls = u.of(b.keys)
		asked += batchKeys
		for n := range r.subjects {
			i := (n + round) % len(r.subjects)
			before := mallocCount()
			took[i].fresh = cold.time(c, &b, func() { wrong[i] += r.subjects[i].add(&b) })
			mallocs[i] += mallocCount() - before
		}
		for i := range took {
			laps[i] = append(laps[i], took[i])
		}
	}
	return r.figures(laps, mallocs, wrong, keys.added), nil
}

func (r race) figures(laps [][]lap, mallocs []uint64, wrong []int, keys uint64) (figures []figure) {
	for i, s := range r.subjects {
		f := figure{
			Race: r.name, Subject: s.name, Peer: r.subjects[0].name, Rate: r.rate,
			Seen:    costOf(laps[i], laps[0], func(l lap) time.Duration { return l.seen }),
			New:     costOf(laps[i], laps[0], func(l lap) time.Duration { return l.fresh }),
			Bits:    s.bitsPerKey(),
			Mallocs: mallocs[i], WrongYes: float64(wrong[i]) / float64(keys),
		}
		if i > 0 {
			f.Seen.Bar, f.New.Bar = r.barSeen, r.barNew
		}
		figures = append(figures, f)
	}
	return figures
}

func costOf(own, peer []lap, of func(lap) time.Duration) cost {
	ns, ratios := make([]float64, len(own)), make([]float64, len(own))
	for i := range own {
		ns[i] = float64(of(own[i])) / batchKeys
		ratios[i] = float64(of(own[i])) / float64(of(peer[i]))
	}
	return cost{Nanoseconds: median(ns), Ratio: median(ratios)}
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

func mallocCount() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// coldness is memory larger than the caches: reading it drives all else out of them.
type coldness struct {
	memory []uint64
	sum    uint64 // so that no load is left out
}

func newColdness(bytes int) *coldness {
	c := &coldness{memory: make([]uint64, bytes/8)}
	for i := range c.memory {
		c.memory[i] = 1 // or all pages are one and the same
	}
	return c
}

// time returns the CPU time of f, which starts with the batch at hand and nothing else.
func (c *coldness) time(clock clock, b *batch, f func()) time.Duration {
	for i := 0; i < len(c.memory); i += 8 {
		c.sum += c.memory[i]
	}
	for _, key := range b.keys {
		c.sum += key
	}
	for _, url := range b.urls {
		c.sum += uint64(url[0]) + uint64(url[len(url)-1])
	}
	return clock.time(f)
}

package seen

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Defaults of a zero Config.
const (
	// DefaultFalsePositiveRate loses one link in a thousand at most.
	DefaultFalsePositiveRate = 0.001
	// DefaultFirstItems is what a filter, or its first layer, is made for when nothing is known about the crawl.
	DefaultFirstItems = 1_000_000
	// DefaultMaxBytes is the cap on memory. At the default error and first layer a Scalable holds about 380 million keys
	// before the error starts to grow.
	DefaultMaxBytes = 1 << 30
)

// Limits of a Config.
const (
	// minFalsePositiveRate keeps the layers' shares where lines of 512 bits still make sense: at a share of 1e-7 they
	// cost about a half more space than the classic layout.
	minFalsePositiveRate = 1e-6
	maxFalsePositiveRate = 0.5
	// minFirstItems spares a crawl that expects five pages and finds a million a chain of twenty layers: 3 KB.
	minFirstItems = 1_000
)

// Config says what a filter promises and what it may cost. The zero Config is a good one.
type Config struct {
	// FalsePositiveRate bounds the chance that a key never added is called seen, from 0.000001 to 0.5: of a Scalable
	// over all layers together and whatever the number of keys, of other kinds up to ExpectedItems keys. 0:
	// DefaultFalsePositiveRate.
	FalsePositiveRate float64
	// ExpectedItems is what the filter is made for, in keys. Of a Scalable it sizes the first layer: a crawl that stays
	// below it probes one line a key; past it the filter grows by further layers, each twice as large, and below 1,000
	// it counts as 1,000. 0: DefaultFirstItems.
	ExpectedItems uint64
	// MaxBytes caps the memory of the filter, in bytes. What takes more from the start is refused. Once a Scalable is
	// allowed no further layer, the newest one takes all further keys and the error grows past FalsePositiveRate. 0:
	// DefaultMaxBytes.
	MaxBytes int64
	// Seed keys the hash. It is a secret of the crawl: who knows it can make a URL that is taken for another site's
	// page. 0: drawn from crypto/rand.
	Seed uint64
}

// Validate reports every problem that a Scalable has with it at once, each under its key in config.yaml. Zero fields are
// defaults and no problem.
func (c Config) Validate() error {
	return c.problems(func(c Config) float64 { return newGrowth(c).firstBytes() })
}

// problems reports what Validate does, for a filter that takes need bytes at once. It asks for them when all else is
// right, with the defaults filled in.
func (c Config) problems(need func(Config) float64) error {
	c = c.withDefaults()
	var errs []error
	if !validRate(c.FalsePositiveRate) {
		errs = append(errs, fmt.Errorf("fp: want from %g to %g, got %g",
			minFalsePositiveRate, maxFalsePositiveRate, c.FalsePositiveRate))
	}
	// A cap below zero is reported once: whether the filter fits says nothing more then.
	switch {
	case c.MaxBytes < 0 || c.MaxBytes > math.MaxInt:
		errs = append(errs, fmt.Errorf("seen_memory: want from 0 to %d, got %d", math.MaxInt, c.MaxBytes))
	case len(errs) == 0:
		if need := need(c); need > float64(c.MaxBytes) {
			errs = append(errs, fmt.Errorf("seen_memory: want at least %.0f for expect %d at fp %g, got %d",
				need, c.ExpectedItems, c.FalsePositiveRate, c.MaxBytes))
		}
	}
	return errors.Join(errs...)
}

// inForce returns c with the defaults and a seed filled in.
func (c Config) inForce() Config {
	c = c.withDefaults()
	if c.Seed == 0 {
		c.Seed = randomSeed()
	}
	return c
}

func validRate(p float64) bool {
	return p >= minFalsePositiveRate && p <= maxFalsePositiveRate // false for NaN
}

// withDefaults fills in all that is zero but the seed.
func (c Config) withDefaults() Config {
	if c.FalsePositiveRate == 0 {
		c.FalsePositiveRate = DefaultFalsePositiveRate
	}
	if c.ExpectedItems == 0 {
		c.ExpectedItems = DefaultFirstItems
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	return c
}

// randomSeed is never 0, which in a Config means "draw one".
func randomSeed() uint64 {
	var b [8]byte
	for {
		rand.Read(b[:]) // never fails: crypto/rand ends the process rather than return weak bytes
		if seed := binary.LittleEndian.Uint64(b[:]); seed != 0 {
			return seed
		}
	}
}

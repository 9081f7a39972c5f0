package main

import (
	"fmt"
	"math/rand/v2"
)

const (
	batchKeys = 4096 // keys between two looks at the clock
	urlBytes  = 72   // bytes of a URL: about the length of an average one
)

// keyAt returns the i-th of 2^64 numbers that are all different and look random: SplitMix64's.
func keyAt(i uint64) uint64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// urls makes the URLs of a batch, in memory that it uses again.
type urls struct {
	text []byte
	list [][]byte
}

// of returns the URLs of keys, urlBytes long each, valid until the next call.
func (u *urls) of(keys []uint64) [][]byte {
	u.text, u.list = u.text[:0], u.list[:0]
	for _, key := range keys {
		u.text = fmt.Appendf(u.text, "https://www.example-%08x.org/article/%016x/index.html?n=1", uint32(key), key)
	}
	for rest := u.text; len(rest) > 0; rest = rest[urlBytes:] {
		u.list = append(u.list, rest[:urlBytes])
	}
	return u.list
}

// stream hands out keys in batches: those added so far, at random, and the next that never were.
type stream struct {
	r     *rand.Rand
	added uint64
	keys  [batchKeys]uint64
}

func newStream() *stream { return &stream{r: rand.New(rand.NewPCG(1, 2))} }

// fresh returns the next keys.
func (s *stream) fresh() []uint64 {
	for i := range s.keys {
		s.keys[i] = keyAt(s.added)
		s.added++
	}
	return s.keys[:]
}

// known returns keys that fresh has returned before.
func (s *stream) known() []uint64 {
	for i := range s.keys {
		s.keys[i] = keyAt(s.r.Uint64N(s.added))
	}
	return s.keys[:]
}

package seen

import (
	"testing"

	"github.com/cespare/xxhash/v2"
)

func TestHashIsSeededXXHash(t *testing.T) {
	const seed = 0x9e3779b97f4a7c15
	s := mustScalable(t, Config{Seed: seed})
	for n := range 100 {
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(i * n)
		}
		d := xxhash.NewWithSeed(seed)
		d.Write(key)
		if got, want := s.Hash(key), d.Sum64(); got != want {
			t.Errorf("Hash of %d bytes = %x, want %x", n, got, want)
		}
		if s.Hash(key) != s.HashString(string(key)) {
			t.Errorf("Hash and HashString of %d bytes differ", n)
		}
	}
}

func TestSeedsMakeOtherHashes(t *testing.T) {
	const url = "https://a.example/"
	a, b := mustScalable(t, Config{}), mustScalable(t, Config{})
	if a.HashString(url) == b.HashString(url) {
		t.Error("two crawls give a URL the same hash")
	}
	if got := clone(t, a).HashString(url); got != a.HashString(url) {
		t.Errorf("after a restore the hash is %x, was %x", got, a.HashString(url))
	}
}

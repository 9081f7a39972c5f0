package seen

import "github.com/cespare/xxhash/v2"

// hasher is xxHash64 under a secret seed.
//
// The hash is keyed because those who write the web's links would otherwise choose the answers: for unseeded xxHash64 a
// few milliseconds of one core find a URL of one site with the hash of a page of another, and whoever is crawled first
// makes the other's page "seen". Under a seed drawn for each crawl such a pair, found without knowing the seed, no
// longer collides. The seed is saved with the filter, since another seed makes every key new. It is no key of a
// pseudo-random function: pairs of arbitrary bytes are known that collide under many seeds. That bounds what a hostile
// site gains to pages whose URLs it writes itself.
type hasher struct{ seed uint64 }

// Hash returns the keyed 64-bit hash of a key. It is safe for concurrent use and does not allocate.
func (s hasher) Hash(key []byte) uint64 {
	var d xxhash.Digest // on the stack: New and NewWithSeed would allocate
	d.ResetWithSeed(s.seed)
	d.Write(key) // never fails
	return d.Sum64()
}

// HashString is Hash of the string's bytes.
func (s hasher) HashString(key string) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(s.seed)
	d.WriteString(key) // never fails
	return d.Sum64()
}

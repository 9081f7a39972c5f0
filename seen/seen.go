// Package seen remembers which URLs a crawl has met, in a few bits each.
//
// It errs one way only. Once a hash was added, every later question about it is answered yes, also across a save and a
// restore, until it is removed or has aged where that can happen. A no is certain; a yes is probable: for a key never added
// it comes with a chance of at most Config.FalsePositiveRate, as long as the filter holds no more than it was made for.
// From then on the error grows: Rate says how large it is now, and Stats says Capped.
//
// # What a wrong yes costs
//
// The price is that a wrong yes costs a crawl one page, without a trace: the link is taken for one met before, nobody
// asks for it, and what only that page links to is lost with it. Rate is the chance of that at this moment: a crawl
// that sums p/(1-p) over its admissions knows how many pages it expects to have skipped. The default of 0.1% skips a
// thousand pages of a million; it takes 2.8 bytes a key where all layers are full, twice as many where one has just
// opened, and two where the number of keys is known. An error ten times smaller takes five to eight bits more.
//
// Where a wrong yes must cost nothing (seeds, a small and precious site, a list to be worked off), take a yes for a "maybe"
// and look the key up in an exact set: Exact does that, over sorted runs of the hashes on disk or over what the program has
// already, and Table does for a list that does not change. A no needs no look-up. The error left is then that of two keys
// with one 64-bit hash: 0.03 expected among 10^9 keys.
//
// # Which kind
//
//   - [Scalable] for a crawl: it need not know how many keys will come. The error is kept at any size, until MaxBytes. 16
//     bits a key of full layers at 1%, 22.5 at 0.1%. A log of its hashes remakes it.
//   - [Bloom] where the number is known: 9.9 bits a key at 1% and 15.6 at 0.1%, in one line of the cache each (Blocked), or
//     9.6 and 14.4 all over the array (Classic), which pays from 0.001% down. Two of them can be joined and compared, and
//     the keys in one be estimated. Plan works out sizes.
//   - [Shared] for many goroutines that add at once: of those who add one key together, exactly one hears that it was new.
//   - [Counting] to remove keys, and to add them several times: 43 bits a key at 1%.
//   - [Cuckoo] to remove keys: 17 bits a key at 0.012%. It refuses a key when it is full.
//   - [Window] to forget keys at an age: 22 bits a key at 0.1%.
//   - [Exact] and [Table] for no error: see above.
//
// # Keys, hashes and who may call what
//
// A filter keeps no keys. It cannot list what it holds, and only a log of the hashes, in the order in which they were
// added, can remake it with another error or another layout (Add).
//
// A key is hashed once, with Hash or HashString of the filter that is asked: the seed is its own, and secret, since who
// knows it can make a URL that is taken for another. Everything else takes ready hashes. Hash and HashString may be called
// from any goroutine at any time. For the rest each type says who may call it: a crawl has one committer, so there is no
// lock to pay for, and beside that one any number may ask a Scalable or a Bloom.
//
// Batches are the largest win there is: the answers for a page's links cost a fraction of as many single questions, since
// their lines are on their way from memory at the same time.
//
// # Saving while the crawl goes on
//
// A store takes the Header first and then the chunks, with any number of additions between them. Bits only ever go from
// 0 to 1, so each chunk holds at least the header's hashes, and perhaps some that came later. It makes header and chunks
// durable only after the log that covers those later ones: a hash in the filter without its URL in the log is a page
// lost for ever. A layer that holds what it was made for, and has another after it, is saved once and never changes
// again.
//
// To go on, it restores the header, sets every chunk, asks Complete, and adds the log's hashes from Header.Len on. To add
// one that a chunk already holds changes nothing but the count, which the header had without it. The result is, bit for
// bit, the filter as it was at the log's end. Layers whose chunks were not saved are cut off the header's end: the replay
// then begins where they do.
//
// WriteTo and Read put the same header and chunks into one file. All kinds are saved so, in one form: Read tells which it
// is. A file that was cut, changed, or written by a newer version is an error, never a smaller filter.
package seen

import "io"

// Filter is what every kind of filter can do. Unless its type says more, it has one owner: only Hash and HashString are
// safe for concurrent use.
type Filter interface {
	// Hash and HashString return the keyed hash under which this filter, and whatever it is saved to, knows the key.
	Hash(key []byte) uint64
	HashString(key string) uint64
	// Has reports whether h was added. False is certain, true is wrong with a chance of Rate.
	Has(h uint64) (bool, error)
	// HasBatch does Has for each hash and leaves the answers in has, which is as long as hashes. On an error it says
	// nothing.
	HasBatch(hashes []uint64, has []bool) error
	// TestAndAdd reports whether h was there before, and adds it if not. What is called there is not added again.
	TestAndAdd(h uint64) (was bool, err error)
	// TestAndAddBatch does TestAndAdd for each hash in order and leaves the answers in was, which is as long as
	// hashes. A hash that the batch repeats is new once. On an error was says nothing.
	TestAndAddBatch(hashes []uint64, was []bool) error
	// Len returns the number of hashes added: those that were called new.
	Len() uint64
	// Rate returns the chance, at this moment, that a key never added is called seen. It is cheap enough to be asked
	// at each admission.
	Rate() float64
	Stats() Stats
	// WriterTo writes what Read reads.
	io.WriterTo
}

// Kind names a kind of filter in Stats and in what is saved.
type Kind string

// KindScalable is the kind of *Scalable.
const KindScalable Kind = "scalable"

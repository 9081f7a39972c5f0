package seen

import "runtime"

// searchBuckets bounds a search for a free slot. At a load of 95% it looks at about ten buckets.
const searchBuckets = 512

// searched is a full bucket that a search has come to.
type searched struct {
	bucket uint64
	from   int16 // index of the one that has a fingerprint with this as its other bucket; -1 for the key's own two
	at     uint8 // the place of that fingerprint in its bucket, in bits
}

// makeRoom frees a slot in one of two full buckets and returns it.
//
// It looks first and moves later: breadth first, from bucket to bucket along the fingerprints' other places, to one with
// a free slot. The kicks of the original are a random walk, which has to be undone when it leads nowhere. Here a table
// that is full has not been touched, and the shortest way moves the fewest fingerprints: up to four (Li, Andersen,
// Kaminsky, Freedman: Algorithmic Improvements for Fast Concurrent Cuckoo Hashing, 2014).
func (c *Cuckoo) makeRoom(first, second uint64) (bucket uint64, at int, ok bool) {
	c.search[0] = searched{bucket: first, from: -1}
	n := 1
	if second != first {
		c.search[1] = searched{bucket: second, from: -1}
		n = 2
	}
	for i := 0; i < n; i++ {
		here := c.search[i].bucket
		word := c.words[here]
		for at := 0; at < 64; at += slotBits {
			there := c.partner(word>>at&fingerprints, here)
			if c.onTheWay(i, there) {
				continue
			}
			if free := slot(c.words[there], 0); free < 64 {
				bucket, at := c.move(i, at, there, free)
				runtime.KeepAlive(c)
				return bucket, at, true
			}
			if n < len(c.search) {
				c.search[n] = searched{bucket: there, from: int16(i), at: uint8(at)}
				n++
			}
		}
	}
	return 0, 0, false
}

// onTheWay reports whether bucket is one that the search passed on its way to number i, or that one: a way that crosses
// itself would move a fingerprint twice.
func (c *Cuckoo) onTheWay(i int, bucket uint64) bool {
	for ; i >= 0; i = int(c.search[i].from) {
		if c.search[i].bucket == bucket {
			return true
		}
	}
	return false
}

// move moves the fingerprint at a place of bucket number i of the search to a free place there, the one before it on the
// way to the place that left, and so on. It returns the place that is free at last, in one of the two first buckets.
func (c *Cuckoo) move(i, at int, there uint64, free int) (uint64, int) {
	for {
		s := c.search[i]
		fingerprint := c.words[s.bucket] >> at & fingerprints
		c.words[there] |= fingerprint << free
		c.words[s.bucket] &^= fingerprints << at
		if s.from < 0 {
			return s.bucket, at
		}
		there, free = s.bucket, at
		i, at = int(s.from), int(s.at)
	}
}

package seen

const (
	setBits   = 15
	cacheSets = 1 << setBits
	cacheWays = 8 // a set is a cache line
)

// hashCache holds hashes that are known to be there: 262,144 of them at most, in 2 MiB. Most links of a crawl lead to few
// pages, and those need no look-up.
//
// A set is in order of merit. A hash enters in its middle and pushes out the last; each time it is met it moves up, to
// half its distance from the front. So hashes that are met once pass through the lower half, and leave the popular ones
// alone.
type hashCache struct {
	sets *[cacheSets]cacheSet
}

type cacheSet [cacheWays]uint64 // 0: empty

func newHashCache() hashCache { return hashCache{new([cacheSets]cacheSet)} }

func (c hashCache) set(h uint64) *cacheSet { return &c.sets[h*mix>>(64-setBits)] }

// has reports whether h is held. The hash 0 never is.
func (c hashCache) has(h uint64) bool {
	s := c.set(h)
	for i, held := range s {
		if held == h && h != 0 {
			s[i], s[i/2] = s[i/2], s[i]
			return true
		}
	}
	return false
}

// put takes in a hash that is not held.
func (c hashCache) put(h uint64) {
	s := c.set(h)
	copy(s[cacheWays/2+1:], s[cacheWays/2:])
	s[cacheWays/2] = h
}

func (c hashCache) bytes() int64 { return int64(len(c.sets)) * cacheWays * 8 }

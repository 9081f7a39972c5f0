//go:build race

package seen

import "sync/atomic"

func loadWord(line *[lineWords]uint64, i uint64) uint64 { return atomic.LoadUint64(&line[i]) }

func storeWord(p *uint64, w uint64) { atomic.StoreUint64(p, w) }

//go:build race

package seen

import "sync/atomic"

func storeWord(p *uint64, w uint64) { atomic.StoreUint64(p, w) }

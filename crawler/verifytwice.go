package crawler

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"path/filepath"
	"slices"
)

// twiceBatch is how many hashes are compared at once: 64 MiB of them.
const twiceBatch = 8 << 20

// checkTwice looks for hashes that more than one admission has. What was met is not admitted again, so there are none. The
// hashes lie apart from the URLs in the log: it goes through them once for each batch, which is a stretch of their range.
func (v *verifier) checkTwice(ctx context.Context) error { return v.twiceIn(ctx, twiceBatch) }

func (v *verifier) twiceIn(ctx context.Context, batch uint64) error {
	numbers := make(map[uint64][]uint64) // of a hash that there is more than once
	parts := v.cut.Admissions.Entries/batch + 1
	var hashes []uint64
	for part := range parts {
		hashes = hashes[:0]
		err := v.inspection.EachHashes(ctx, func(_ uint64, some []uint64) {
			for _, h := range some {
				if in, _ := bits.Mul64(h, parts); in == part {
					hashes = append(hashes, h)
				}
			}
		})
		if err != nil {
			return err
		}
		slices.Sort(hashes)
		for i := 1; i < len(hashes) && len(numbers) <= maxOfPart; i++ {
			if hashes[i] == hashes[i-1] {
				numbers[hashes[i]] = nil
			}
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	return v.nameTwice(ctx, numbers)
}

// nameTwice says which admissions have the same hash, in the order of the first of them.
func (v *verifier) nameTwice(ctx context.Context, numbers map[uint64][]uint64) error {
	err := v.inspection.EachHashes(ctx, func(first uint64, some []uint64) {
		for i, h := range some {
			if have, twice := numbers[h]; twice {
				numbers[h] = append(have, first+uint64(i))
			}
		}
	})
	if err != nil {
		return err
	}
	for _, have := range slices.SortedFunc(maps.Values(numbers), slices.Compare) {
		for _, again := range have[1:] {
			v.found(partTwice, filepath.Join(v.dir, "log"), -1, fmt.Sprintf("URL %d was admitted again, as number %d", have[0], again))
		}
	}
	return nil
}

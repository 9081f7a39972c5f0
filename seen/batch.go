package seen

import (
	"fmt"
	"slices"
)

// batchKeys is how many keys have their lines touched before the first of them is probed: enough to keep all the misses
// a core can have under way, few enough that the lines of a long chain stay in its second level cache, and as many as a
// word has bits for their answers.
const batchKeys = 64

// checkBatch reports an answers that is not as long as hashes.
func checkBatch(hashes []uint64, answers []bool) error {
	if len(answers) != len(hashes) {
		return fmt.Errorf("seen: a batch of %d hashes wants as many answers, got room for %d", len(hashes), len(answers))
	}
	return nil
}

// inBatches answers hashes in order by answer, after touch has seen so many of them that their lines are on their way.
func inBatches(hashes []uint64, answers []bool, touch func([]uint64), answer func(uint64) (bool, error)) error {
	if err := checkBatch(hashes, answers); err != nil {
		return err
	}
	for part := range slices.Chunk(hashes, batchKeys) {
		touch(part)
		for i, h := range part {
			var err error
			if answers[i], err = answer(h); err != nil {
				return err
			}
		}
		answers = answers[len(part):]
	}
	return nil
}

// inWords answers hashes in order by answer, which takes at most batchKeys at once and has a bit for each, the lowest for
// the first.
func inWords(hashes []uint64, answers []bool, answer func([]uint64) uint64) error {
	if err := checkBatch(hashes, answers); err != nil {
		return err
	}
	for part := range slices.Chunk(hashes, batchKeys) {
		bits := answer(part)
		for i := range part {
			answers[i] = bits>>i&1 != 0
		}
		answers = answers[len(part):]
	}
	return nil
}

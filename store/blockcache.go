package store

import "slices"

// blockCache keeps the blocks of a log unpacked that were asked for last.
type blockCache[E any] struct {
	limit  int           // blocks that it keeps
	blocks []unpacked[E] // the one that was asked for last first
}

type unpacked[E any] struct {
	number  int
	entries []E
}

// get returns the entries of a block. One that is not there is loaded, into the memory of the one that was not asked for
// the longest when there are enough: what get returned before may be overwritten then.
func (c *blockCache[E]) get(number int, load func(number int, dst []E) ([]E, error)) ([]E, error) {
	at := slices.IndexFunc(c.blocks, func(b unpacked[E]) bool { return b.number == number })
	if at < 0 {
		var memory []E
		if len(c.blocks) < c.limit {
			memory = make([]E, 0, BlockEntries)
		} else {
			last := len(c.blocks) - 1
			memory, c.blocks = c.blocks[last].entries[:0], c.blocks[:last]
		}
		entries, err := load(number, memory)
		if err != nil {
			return nil, err
		}
		at = len(c.blocks)
		c.blocks = append(c.blocks, unpacked[E]{number, entries})
	}
	found := c.blocks[at]
	copy(c.blocks[1:at+1], c.blocks[:at])
	c.blocks[0] = found
	return found.entries, nil
}

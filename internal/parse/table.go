package parse

import "hash/maphash"

// table finds items of a list by hash: open addressing with linear probing, at most half full. Unlike a map it holds
// neither keys nor garbage, so that it serves page after page. Its seed is random: no page can choose what collides.
type table struct {
	seed  maphash.Seed
	slots []slot // a power of two; all empty after reset
	n     int
}

type slot struct {
	hash uint32
	item uint32 // place in the list, plus one; 0 is empty
}

const (
	minSlots  = 256
	keptSlots = 1 << 13
)

func (t *table) reset() {
	if t.slots == nil {
		t.seed, t.slots = maphash.MakeSeed(), make([]slot, minSlots)
	}
	clear(t.slots)
	t.n = 0
}

func (t *table) release() {
	if len(t.slots) > keptSlots {
		*t = table{}
	}
}

// find returns the place of the item with this hash for which same is true. If there is none, next becomes the place
// of an item with this hash.
func (t *table) find(hash uint64, next int, same func(i int) bool) (i int, found bool) {
	h := uint32(hash ^ hash>>32)
	at := t.probe(h, same)
	if item := t.slots[at].item; item != 0 {
		return int(item - 1), true
	}
	t.slots[at] = slot{h, uint32(next + 1)}
	if t.n++; 2*t.n > len(t.slots) {
		t.grow()
	}
	return next, false
}

// probe returns the slot of the item, or the empty one where it belongs.
func (t *table) probe(h uint32, same func(i int) bool) int {
	mask := len(t.slots) - 1
	for at := int(h) & mask; ; at = (at + 1) & mask {
		if s := t.slots[at]; s.item == 0 || s.hash == h && same(int(s.item-1)) {
			return at
		}
	}
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.item != 0 {
			t.slots[t.probe(s.hash, func(int) bool { return false })] = s
		}
	}
}

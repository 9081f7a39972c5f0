package sortedrun

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

// crafted is a file that is put together block by block: every checksum is right, whatever the blocks say.
type crafted struct{ file []byte }

func (c *crafted) frame(kind byte, payload []byte) handle {
	h := handle{int64(len(c.file)), len(payload) + frameTail}
	c.file = append(append(c.file, payload...), kind)
	c.file = binary.LittleEndian.AppendUint32(c.file, frameSum(h.offset, c.file[h.offset:]))
	return h
}

// plainBlock returns the block of the entries, in the order given.
func plainBlock(entries ...entry) []byte {
	var b blockBuilder
	for _, e := range entries {
		b.add(e.key, e.note, e.value, sharedPrefix(b.last, e.key))
	}
	block, _ := b.finish()
	return bytes.Clone(block)
}

func keysOnly(keys ...string) []entry {
	var entries []entry
	for _, k := range keys {
		entries = append(entries, entry{key: []byte(k)})
	}
	return entries
}

// named is the entry of an index block that names a block.
func named(key string, h handle) entry { return entry{key: []byte(key), value: h.append(nil)} }

// twoBlocks is a run of two blocks, parts of which a test makes wrong.
type twoBlocks struct {
	first, second []byte // plain blocks
	kind          byte   // of the second
	separator     string // of the second
	topKey        string
	hole          bool // between the blocks
	tail          bool // something lies between the blocks and the top
	index         func(first, second handle) []byte
	entries       uint64
	blocks        uint64
	indexBlocks   uint64
}

func (b *twoBlocks) build() []byte {
	var c crafted
	first := c.frame(kindPlain, b.first)
	if b.hole {
		c.file = append(c.file, 0)
	}
	second := c.frame(b.kind, b.second)
	index := plainBlock(named("", first), named(b.separator, second))
	if b.index != nil {
		index = b.index(first, second)
	}
	at := c.frame(kindPlain, index)
	if b.tail {
		c.file = append(c.file, 0)
	}
	foot := footer{entries: b.entries, blocks: b.blocks, indexBlocks: b.indexBlocks}
	foot.top = c.frame(kindPlain, plainBlock(named(b.topKey, at)))
	return foot.append(c.file)
}

// Verify finds what is wrong though all checksums are right, and nothing that reads such a file fails otherwise than by an
// error.
func TestVerifyFindsWhatChecksumsDoNot(t *testing.T) {
	many := make([]entry, 20)
	for i := range many {
		many[i].key = []byte{'a', byte(i)}
	}
	// patch changes the number that begins n bytes before the end of a block.
	patch := func(block []byte, n int, v uint32) []byte {
		block = bytes.Clone(block)
		binary.LittleEndian.PutUint32(block[len(block)-n:], v)
		return block
	}
	for _, tt := range []struct {
		name  string
		wrong func(b *twoBlocks)
	}{
		{"keys descend", func(b *twoBlocks) { b.first = plainBlock(keysOnly("b", "a")...) }},
		{"keys are equal", func(b *twoBlocks) { b.first = plainBlock(keysOnly("a", "a")...) }},
		{"keys descend from block to block", func(b *twoBlocks) { b.first = plainBlock(keysOnly("a", "e")...) }},
		{"separator above its block", func(b *twoBlocks) { b.separator = "ca" }},
		{"separator in the block before", func(b *twoBlocks) { b.separator = "b" }},
		{"top has another key", func(b *twoBlocks) { b.topKey = "a" }},
		{"hole between blocks", func(b *twoBlocks) { b.hole = true }},
		{"hole before the top", func(b *twoBlocks) { b.tail = true }},
		{"empty block", func(b *twoBlocks) { b.second, b.entries = plainBlock(), 2 }},
		{"no block", func(b *twoBlocks) { b.second, b.entries = nil, 2 }},
		{"unknown kind", func(b *twoBlocks) { b.kind = 2 }},
		{"plain called packed", func(b *twoBlocks) { b.kind = kindZstd }},
		{"packed without its length", func(b *twoBlocks) { b.kind, b.second = kindZstd, []byte{1} }},
		{"packed into very little", func(b *twoBlocks) {
			b.kind, b.second = kindZstd, patch(append(packRest().EncodeAll(make([]byte, maxPlain), nil), 0, 0, 0, 0), 4, 8)
		}},
		{"packed into too much", func(b *twoBlocks) {
			b.kind, b.second = kindZstd, patch(append(packRest().EncodeAll(b.second, nil), 0, 0, 0, 0), 4, 1<<31)
		}},
		{"restart at a wrong entry", func(b *twoBlocks) { b.first, b.entries = patch(plainBlock(many...), 16, 3), 22 }},
		{"restart beyond the entries", func(b *twoBlocks) { b.first = patch(b.first, 16, 1<<31) }},
		{"more restarts than there is room", func(b *twoBlocks) { b.first = patch(b.first, 8, 1<<30) }},
		{"no restarts", func(b *twoBlocks) { b.first = patch(b.first, 8, 0) }},
		{"more shared with the key before than it has", func(b *twoBlocks) {
			b.first = bytes.Replace(b.first, []byte{0, 1, 0, 0, 0, 'b'}, []byte{99, 1, 0, 0, 0, 'b'}, 1)
		}},
		{"a note longer than its block", func(b *twoBlocks) {
			b.first = bytes.Replace(b.first, []byte{0, 1, 0, 0, 0, 'b'}, []byte{0, 1, 99, 0, 0, 'b'}, 1)
		}},
		{"a value longer than its block", func(b *twoBlocks) {
			b.first = bytes.Replace(b.first, []byte{0, 1, 0, 0, 0, 'b'}, []byte{0, 1, 0, 0, 99, 'b'}, 1)
		}},
		{"more kept of the value before than it has", func(b *twoBlocks) {
			b.first = bytes.Replace(b.first, []byte{0, 1, 0, 0, 0, 'b'}, []byte{0, 1, 0, 1, 0, 'b'}, 1)
		}},
		{"values that no entry has", func(b *twoBlocks) {
			b.first = slices.Insert(b.first, len(b.first)-trailerBytes-restartBytes, 'x')
		}},
		{"restart at a wrong value", func(b *twoBlocks) {
			many[3].value = []byte("value")
			b.first, b.entries = patch(plainBlock(many...), 12, 1), 22
		}},
		{"a restart's value beyond the values", func(b *twoBlocks) { b.first = patch(b.first, 12, 1<<31) }},
		{"heads longer than their block", func(b *twoBlocks) { b.first = patch(b.first, 4, 1<<31) }},
		{"no heads", func(b *twoBlocks) { b.first = patch(b.first, 4, 0) }},
		{"values without heads", func(b *twoBlocks) { b.second, b.entries = slices.Insert(plainBlock(), 0, 'x'), 2 }},
		{"a length that does not end", func(b *twoBlocks) {
			b.first = bytes.Replace(b.first, []byte{0, 1, 0, 0, 0, 'b'}, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, 1)
		}},
		{"packed into less than it says", func(b *twoBlocks) {
			b.kind, b.second = kindZstd, patch(append(packRest().EncodeAll(b.second, nil), 0, 0, 0, 0), 4, uint32(len(b.second)+1))
		}},
		{"restart beyond the index block", func(b *twoBlocks) {
			b.index = func(first, second handle) []byte {
				return patch(plainBlock(named("", first), named("c", second)), 16, 1<<31)
			}
		}},
		{"one entry too many in the footer", func(b *twoBlocks) { b.entries++ }},
		{"one block too few in the footer", func(b *twoBlocks) { b.blocks-- }},
		{"one index block too many in the footer", func(b *twoBlocks) { b.indexBlocks++ }},
		{"a block named twice", func(b *twoBlocks) {
			b.index = func(first, _ handle) []byte {
				return plainBlock(named("", first), named("c", first))
			}
		}},
		{"a block not named", func(b *twoBlocks) {
			b.index = func(first, _ handle) []byte { return plainBlock(named("", first)) }
			b.entries, b.blocks = 2, 1
		}},
		{"a block of gigabytes", func(b *twoBlocks) {
			b.index = func(first, second handle) []byte {
				second.length = 1 << 40
				return plainBlock(named("", first), named("c", second))
			}
		}},
		{"an index without blocks", func(b *twoBlocks) {
			b.index = func(_, _ handle) []byte { return plainBlock() }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := twoBlocks{
				first: plainBlock(keysOnly("a", "b")...), second: plainBlock(keysOnly("c", "d")...), separator: "c",
				entries: 4, blocks: 2, indexBlocks: 1,
			}
			if err := open(t, b.build()).Verify(t.Context()); err != nil {
				t.Fatalf("nothing is wrong yet: %v", err)
			}
			tt.wrong(&b)
			file := b.build()
			readEverything(t, file)
			checkDamage(t, "Verify", open(t, file).Verify(t.Context()), int64(len(file)))
		})
	}
}

// A walk does not pass over what lies between two blocks, nor through one block twice.
func TestWalkNeedsBlocksInARow(t *testing.T) {
	for name, b := range map[string]twoBlocks{
		"hole": {hole: true},
		"a block named twice": {index: func(first, _ handle) []byte {
			return plainBlock(named("", first), named("c", first))
		}},
	} {
		b.first, b.second, b.separator = plainBlock(keysOnly("a", "b")...), plainBlock(keysOnly("c", "d")...), "c"
		file, n := b.build(), 0
		c := open(t, file).Seek(nil)
		for c.Next() {
			n++
		}
		if n != 2 {
			t.Errorf("%s: the walk shows %d entries, want those of the first block", name, n)
		}
		checkDamage(t, name, c.Err(), int64(len(file)))
	}
}

package sortedrun

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// readEverything reads a file in every way. It may be anything: the ways end, with sound bounds, and agree about where
// nothing is wrong.
func readEverything(t *testing.T, file []byte) {
	r, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) {
			t.Fatalf("Open: %v", err)
		}
		return
	}
	verified := r.Verify(t.Context())
	if verified != nil && !errors.Is(verified, ErrDamaged) {
		t.Fatalf("Verify: %v", verified)
	}
	var keys [][]byte
	var n uint64
	c := r.Seek(nil)
	for ; c.Next(); n++ {
		if len(keys) < 100 {
			keys = append(keys, bytes.Clone(c.Key()))
		}
	}
	if verified == nil && (c.Err() != nil || n != r.Info().Entries) {
		t.Fatalf("Verify finds nothing, the walk %d of %d entries: %v", n, r.Info().Entries, c.Err())
	}
	for i, key := range append(keys, nil, []byte("\xff")) {
		value, found, err := r.Get(key)
		if verified == nil && (err != nil || i < len(keys) && !found) {
			t.Fatalf("Verify finds nothing, Get(%x) = %x, %v, %v", key, value, found, err)
		}
		c.Seek(key)
		if c.Next(); verified == nil && (c.Err() != nil || i < len(keys) && !bytes.Equal(c.Key(), key)) {
			t.Fatalf("Verify finds nothing, Seek(%x) goes to %x: %v", key, c.Key(), c.Err())
		}
	}
}

func FuzzOpen(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, o := range []Options{{}, {BlockBytes: 50}, {BlockBytes: 100, Compress: true}} {
		for _, n := range []int{0, 1, 20} {
			entries := randomEntries(rng, n)
			f.Add(build(f, o, slices.DeleteFunc(entries, func(e entry) bool { return len(e.value) > 1000 })))
		}
	}
	f.Fuzz(readEverything)
}

// FuzzBlocks has blocks with right checksums, so that what is in them gets past these: a block, an index block and a top
// as they come, and a footer that fits.
func FuzzBlocks(f *testing.F) {
	block := plainBlock(keysOnly("key 1", "key 2")...)
	at := handle{0, len(block) + frameTail}
	index := plainBlock(named("", at))
	top := plainBlock(named("", handle{at.end(), len(index) + frameTail}))
	f.Add(byte(kindPlain), block, index, top, uint64(2))
	f.Add(byte(kindPlain), block, plainBlock(named("k", at)),
		plainBlock(named("k", handle{at.end(), len(index) + 1 + frameTail})), uint64(2))
	f.Add(byte(kindPlain), plainBlock(), plainBlock(), plainBlock(), uint64(0))
	packed := binary.LittleEndian.AppendUint32(packRest().EncodeAll(block, nil), uint32(len(block)))
	f.Add(byte(kindZstd), packed, index, top, uint64(2))
	f.Fuzz(func(t *testing.T, kind byte, block, index, top []byte, entries uint64) {
		var c crafted
		foot := footer{entries: entries, blocks: 1, indexBlocks: 1}
		c.frame(kind, block)
		c.frame(kindPlain, index)
		foot.top = c.frame(kindPlain, top)
		readEverything(t, foot.append(c.file))
	})
}

// FuzzRoundTrip cuts its input into entries, writes them and reads them back.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("\x03\x02keyva\x00\x00\x04\x00keys"), uint16(0), false)
	f.Add([]byte("\x03\x02keyva\x00\x00\x04\x00keys\x01\xffz a long value"), uint16(1), true)
	f.Fuzz(func(t *testing.T, in []byte, blockBytes uint16, compress bool) {
		var entries []entry
		for len(in) >= 2 {
			k, v := int(in[0]), int(in[1])
			in = in[2:]
			k = min(k, len(in))
			v = min(v, len(in)-k)
			entries = append(entries, entry{in[:k:k], in[k : k+v : k+v], in[k : k+v/2]})
			in = in[k+v:]
		}
		slices.SortStableFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
		entries = slices.CompactFunc(entries, func(a, b entry) bool { return bytes.Equal(a.key, b.key) })
		r := open(t, build(t, Options{BlockBytes: int(blockBytes), Compress: compress}, entries))
		if err := r.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkWalk(t, r.Seek(nil), entries, len(entries)+1)
		for i, e := range entries {
			checkWalk(t, r.Seek(e.key), entries[i:], 2)
		}
	})
}

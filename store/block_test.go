package store

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func testBlocks(t testing.TB, n int) (c *codec, admission, done []byte) {
	t.Helper()
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	rng := rand.New(rand.NewPCG(32, uint64(n)))
	var a admissions
	var d doneEntries
	for i := range n {
		a.append(randomAdmission(rng, 100+uint64(i)+1))
		d.append(randomDone(rng))
	}
	return c, a.encode(c, nil, 100, 0), d.encode(c, nil, 100, 0)
}

// Any change to a block is noticed, also one that takes a column from another.
func TestBlockChanges(t *testing.T) {
	_, whole, _ := testBlocks(t, 20)
	_, other, _ := testBlocks(t, 21)
	if _, err := parseBlock(whole, admissionBlock); err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 1
		if _, err := parseBlock(data, admissionBlock); err == nil {
			t.Errorf("a change of byte %d is not noticed", i)
		}
		if _, err := parseBlock(whole[:i], admissionBlock); err == nil {
			t.Errorf("the first %d bytes are taken for the block", i)
		}
	}
	for name, data := range map[string][]byte{
		"a byte more":     append(bytes.Clone(whole), 0),
		"of another log":  whole,
		"mixed from two":  append(bytes.Clone(whole[:headBytes]), other[headBytes:]...),
		"two in one":      slices.Concat(whole, whole),
		"of a newer kind": withVersion(whole, blockVersion+1),
	} {
		kind := admissionBlock
		if name == "of another log" {
			kind = doneBlock
		}
		if _, err := parseBlock(data, kind); err == nil {
			t.Errorf("a block that is %s is taken", name)
		}
	}
}

// Sums that are right do not make an entry right.
func TestEntriesThatCannotBe(t *testing.T) {
	c, _, _ := testBlocks(t, 0)
	const first = 10 // the entry has sequence number 11
	admission := func(fields ...uint64) block {
		return parsed(t, c.encode(nil, admissionBlock, first, 1, make([]byte, 8), [][]byte{varintColumn(fields)}, [][]byte{[]byte("abc")}))
	}
	for name, b := range map[string]block{
		"depth":          admission(1<<32, 0, 0, 0, 0, 3),
		"class":          admission(0, 256, 0, 0, 0, 3),
		"referrer":       admission(0, 0, 1+zigzag(11), 0, 0, 3),
		"no referrer":    admission(0, 0, 1+zigzag(0), 0, 0, 3),
		"early referrer": admission(0, 0, 1+zigzag(-1), 0, 0, 3),
		"hop":            admission(0, 0, 0, 256, 0, 3),
		"label":          admission(0, 0, 0, 0, 1<<32, 3),
		"long URL":       admission(0, 0, 0, 0, 0, 4),
		"short URL":      admission(0, 0, 0, 0, 0, 2),
		"a field":        admission(0, 0, 0, 0, 0),
		"one more":       admission(0, 0, 0, 0, 0, 3, 0),
		"few hashes":     parsed(t, c.encode(nil, admissionBlock, first, 1, make([]byte, 7), [][]byte{varintColumn(nil)}, nil)),
	} {
		if entries, err := decodeAdmissions(c, b, nil); err == nil {
			t.Errorf("%s: an admission that cannot be is %+v", name, entries)
		}
	}
	if _, err := decodeAdmissions(c, admission(0, 0, 1+zigzag(10), 0, 0, 3), nil); err != nil {
		t.Error(err)
	}
	for name, fields := range map[string][]uint64{ // one of the first column, and the others
		"event":      {2, 4, 1, 0, 0, 0, 0, 0, 0},
		"wide event": {2, 257, 1, 0, 0, 0, 0, 0, 0},
		"outcome":    {2, 1, uint64(len(outcomeNames)), 0, 0, 0, 0, 0, 0},
		"no outcome": {2, 1, 0, 0, 0, 0, 0, 0, 0},
		"number":     {0, 1, 1, 0, 0, 0, 0, 0, 0},
		"status":     {2, 1, 1, 1 << 16, 0, 0, 0, 0, 0},
		"attempt":    {2, 1, 1, 0, 256, 0, 0, 0, 0},
		"visit":      {2, 1, 1, 0, 0, 1 << 16, 0, 0, 0},
		"a field":    {2, 1, 1, 0, 0, 0, 0, 0},
		"one more":   {2, 1, 1, 0, 0, 0, 0, 0, 0, 0},
	} {
		b, err := parseBlock(c.encode(nil, doneBlock, first, 1, nil, [][]byte{varintColumn(fields[:1])}, [][]byte{varintColumn(fields[1:])}), doneBlock)
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := decodeDone(c, b, nil); err == nil {
			t.Errorf("%s: an event that cannot be is %+v", name, entries)
		}
	}
}

func varintColumn(fields []uint64) (column []byte) {
	for _, f := range fields {
		column = binary.AppendUvarint(column, f)
	}
	return column
}

func parsed(t *testing.T, data []byte) block {
	t.Helper()
	b, err := parseBlock(data, admissionBlock)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func withVersion(block []byte, version byte) []byte {
	data := bytes.Clone(block)
	data[5] = version
	fixSums(data, admissionBlock)
	return data
}

// fixSums gives a damaged block the sums of what it holds, as far as its head can be followed.
func fixSums(data []byte, kind blockKind) {
	head := headBytes
	if len(data) < head {
		return
	}
	sum := crc32.Checksum(data[:head-sumBytes], castagnoli)
	binary.LittleEndian.PutUint32(data[head-sumBytes:], sum)
	lengths := []int{int(binary.LittleEndian.Uint32(data[20:]))}
	for i := range blockColumns {
		lengths = append(lengths, int(binary.LittleEndian.Uint32(data[fixedBytes+8*i:])))
	}
	at := head
	for _, n := range lengths {
		if at+n+sumBytes > len(data) {
			return
		}
		binary.LittleEndian.PutUint32(data[at+n:], crc32.Update(sum, castagnoli, data[at:at+n]))
		at += n + sumBytes
	}
}

// Whatever a block is made of, it is refused or gives entries that a block of their own gives back.
func FuzzBlock(f *testing.F) {
	for _, n := range []int{0, 1, 50} {
		_, a, d := testBlocks(f, n)
		f.Add(a, true)
		f.Add(d, false)
		f.Add(a[:len(a)/2], true)
	}
	c, _, _ := testBlocks(f, 0)
	f.Fuzz(func(t *testing.T, data []byte, isAdmission bool) {
		if !isAdmission {
			fixSums(data, doneBlock)
			fuzzDone(t, c, data)
			return
		}
		fixSums(data, admissionBlock)
		b, err := parseBlock(data, admissionBlock)
		if err != nil || b.first > 1<<60 {
			return
		}
		entries, err := decodeAdmissions(c, b, nil)
		if err != nil {
			return
		}
		var again admissions
		for _, a := range entries {
			again.append(a)
		}
		b2, err := parseBlock(again.encode(c, nil, b.first, 0), admissionBlock)
		if err != nil {
			t.Fatal(err)
		}
		if entries2, err := decodeAdmissions(c, b2, nil); err != nil || !slices.Equal(entries, entries2) {
			t.Errorf("%+v became %+v, %v", entries, entries2, err)
		}
	})
}

func fuzzDone(t *testing.T, c *codec, data []byte) {
	b, err := parseBlock(data, doneBlock)
	if err != nil {
		return
	}
	entries, err := decodeDone(c, b, nil)
	if err != nil {
		return
	}
	var again doneEntries
	for _, e := range entries {
		again.append(e)
	}
	b2, err := parseBlock(again.encode(c, nil, b.first, 0), doneBlock)
	if err != nil {
		t.Fatal(err)
	}
	if entries2, err := decodeDone(c, b2, nil); err != nil || !reflect.DeepEqual(entries, entries2) {
		t.Errorf("%+v became %+v, %v", entries, entries2, err)
	}
}

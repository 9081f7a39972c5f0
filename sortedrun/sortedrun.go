// Package sortedrun writes and reads runs: files of entries, key, value and a short note, sorted by key, that are written once and
// never changed, and walks several of them as one.
//
// An open run needs memory for the top of its index only: 10 to 30 bytes for every 8 KiB of the index, which stand for
// several hundred blocks. A look-up reads one block of the index and one of entries; a walk reads ahead once it has gone
// through two blocks. Everything read is checked before it is used: damage gives an error that wraps ErrDamaged to whoever
// reads the damaged block (a single error of up to 32 bits in a row always, anything else but for one chance in 2^32), and
// no length in a file is trusted with memory. The price is that nothing can be added, changed or taken away: that is a new
// run, made by a Merge of the old ones.
//
// # Format
//
// Numbers are little-endian; a uvarint is that of encoding/binary. A file is
//
//	{ block… index block }…  top  footer
//
// so an index block follows the blocks that it names, and all lie one right after the other from byte 0. The form of
// blocks, index blocks and the top is the same:
//
//	payload
//	kind    1 byte   0: the payload is the plain block; 1: two zstd frames, of the heads and of what follows them,
//	                 then the plain block's length in 4 bytes
//	sum     4 bytes  CRC-32C of payload and kind, begun not from 0 but from the block's offset, its two halves xored
//
// A plain block is
//
//	head…     of each entry
//	value…    of each entry
//	restart…  where the heads and the values of entries 0, 16, 32… begin, 4 bytes each
//	count     4 bytes: the number of restarts
//	heads     4 bytes: the length of all heads
//
// and a head is
//
//	shared   uvarint: length of the prefix shared with the key before; 0 at a restart
//	rest     uvarint: length of the rest of the key
//	note     uvarint: length of the note
//	kept     uvarint: length of the prefix shared with the value before; 0 at a restart
//	length   uvarint: length of the rest of the value
//	rest of the key, note
//
// Of a value only what differs from the one before is there. The heads are numbers more than text, and values text more
// than numbers: they are packed apart.
//
// In an index block the entries stand for blocks: the key separates a block from the one before (greater than the last
// key there, not greater than the first key here, and no longer than that needs; empty for the first block of a file), the
// value is the block's offset and its length with kind and sum, both uvarints. The top is to index blocks what these are
// to blocks; a run without entries has an empty top. Index blocks and the top are always plain.
//
// The footer is
//
//	entries        8 bytes
//	blocks         8 bytes
//	index blocks   8 bytes
//	offset of top  8 bytes
//	length of top  8 bytes, with kind and sum
//	version        4 bytes, now 2
//	sum            4 bytes  CRC-32C of what is before it in the footer
//	magic          8 bytes  "sortrun\n"
package sortedrun

// MaxEntryBytes is the length of the longest entry: key, note and value together.
const MaxEntryBytes = 1 << 20

const (
	defaultBlockBytes = 16 << 10
	maxBlockBytes     = 1 << 20
	indexBlockBytes   = 8 << 10

	// maxPlain is more than any plain block has: at most maxBlockBytes, or one entry, and the restarts.
	maxPlain = 4 << 20
	// maxTop bounds the top of an index: at the least some 10^9 blocks.
	maxTop = 64 << 20
)

// Options says how a run is written. The zero Options: 16 KiB blocks, not compressed.
type Options struct {
	BlockBytes int  // plain bytes a block, about; 0: 16 KiB. At most 1 MiB: what is above counts as that
	Compress   bool // blocks are packed with zstd, kept plain where that does not help
}

func (o Options) blockBytes() int {
	if o.BlockBytes <= 0 {
		return defaultBlockBytes
	}
	return min(o.BlockBytes, maxBlockBytes)
}

// Info is what a run is known by.
type Info struct {
	Entries uint64
	Bytes   int64 // length of the file
}

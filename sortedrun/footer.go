package sortedrun

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	footerBytes = 56
	version     = 2
	magic       = "sortrun\n"
)

// footer is the end of a file, from which everything in it is found.
type footer struct {
	entries     uint64
	blocks      uint64
	indexBlocks uint64
	top         handle
}

func (f footer) append(dst []byte) []byte {
	start, le := len(dst), binary.LittleEndian
	dst = le.AppendUint64(dst, f.entries)
	dst = le.AppendUint64(dst, f.blocks)
	dst = le.AppendUint64(dst, f.indexBlocks)
	dst = le.AppendUint64(dst, uint64(f.top.offset))
	dst = le.AppendUint64(dst, uint64(f.top.length))
	dst = le.AppendUint32(dst, version)
	dst = le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	return append(dst, magic...)
}

// readFooter reads the footer of a file of size bytes. The top that it names is one that fits.
func readFooter(r io.ReaderAt, size int64) (footer, error) {
	if size < footerBytes {
		return footer{}, damage(0, "too short for a run")
	}
	at, le := size-footerBytes, binary.LittleEndian
	var b [footerBytes]byte
	if err := readFull(r, b[:], at); err != nil {
		return footer{}, err
	}
	if string(b[48:]) != magic {
		return footer{}, damage(at, "no run ends here")
	}
	if crc32.Checksum(b[:44], castagnoli) != le.Uint32(b[44:]) {
		return footer{}, damage(at, "checksum of the footer differs")
	}
	if v := le.Uint32(b[40:]); v != version {
		return footer{}, fmt.Errorf("sortedrun: %w %d", ErrVersion, v)
	}
	f := footer{entries: le.Uint64(b[0:]), blocks: le.Uint64(b[8:]), indexBlocks: le.Uint64(b[16:])}
	offset, length := le.Uint64(b[24:]), le.Uint64(b[32:])
	if offset > uint64(at) || length != uint64(at)-offset || length > maxTop+frameTail {
		return footer{}, damage(at, "the index does not end at the footer")
	}
	f.top = handle{offset: int64(offset), length: int(length)}
	return f, nil
}

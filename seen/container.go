package seen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// What is wrong with a saved filter.
var (
	// ErrFormat: these bytes were never a saved filter of the kind asked for.
	ErrFormat = errors.New("seen: not a saved filter")
	// ErrNewer: a version of this program wrote it that has another form of it or another hash, a later one as a rule.
	ErrNewer = errors.New("seen: saved by another version")
	// ErrDamaged: bytes were changed or cut off since it was saved, or a chunk is missing.
	ErrDamaged = errors.New("seen: saved filter is damaged")
	// ErrTooLarge: it needs more memory than the cap allows.
	ErrTooLarge = errors.New("seen: saved filter is larger than allowed")
)

// A saved filter is a head and the sections that the head speaks of (sections.go). The head is magic, version, its own
// length, the kind, the hash, what the kind has to say, and a CRC-32C of all before. Numbers are little endian. What
// every version keeps is the first 16 bytes and the checksum at the end, so that a newer version is told from damage.
const (
	magic        = "\x93SEEN\r\n\x1a" // the line ends catch a transfer as text
	version      = 1
	prefixBytes  = len(magic) + 4 + 4
	sumBytes     = 4
	maxHeadBytes = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // not written

// Read reads a filter of any kind that WriteTo wrote, and not a byte more. The error is ErrFormat, ErrNewer, ErrDamaged
// (for what is cut off too) or the reader's own. Memory follows what the reader delivers: at most twice of it, and a
// little. A reader that is trusted less than that is to be limited by the caller.
func Read(r io.Reader) (Filter, error) {
	s, err := open(r)
	if err != nil {
		return nil, err
	}
	f, err := s.filter()
	if err != nil {
		s.free()
		return nil, err
	}
	return f, nil
}

// filter reads what follows the head.
func (s *source) filter() (Filter, error) {
	switch s.kind {
	case KindScalable:
		return readScalable(s)
	case KindBloom:
		return readBloom(s, Blocked)
	case KindClassic:
		return readBloom(s, Classic)
	case KindCounting:
		return readCounting(s)
	case KindWindow:
		return readWindow(s)
	case KindCuckoo:
		return readCuckoo(s)
	default:
		return nil, fmt.Errorf("%w: kind %q", ErrNewer, s.kind)
	}
}

// sealHead returns the head of a filter of a kind: fields is what that kind has to say, and the seed is in it.
func sealHead(kind Kind, fields []byte) ([]byte, error) {
	if len(kind) == 0 || len(kind) > math.MaxUint8 {
		return nil, fmt.Errorf("seen: head: kind of %d bytes", len(kind))
	}
	length := prefixBytes + 1 + len(kind) + 1 + len(HashName) + len(fields) + sumBytes
	if length > maxHeadBytes {
		return nil, fmt.Errorf("seen: head of %d bytes", length)
	}
	le := binary.LittleEndian
	b := append(make([]byte, 0, length), magic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, uint32(length))
	b = append(b, byte(len(kind)))
	b = append(b, kind...)
	b = append(b, byte(len(HashName)))
	b = append(b, HashName...)
	b = append(b, fields...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// openHead checks a whole head, and returns its kind and the fields of that kind. The error is ErrFormat, ErrNewer or
// ErrDamaged.
func openHead(b []byte) (Kind, fields, error) {
	length, err := headLength(b)
	if err != nil {
		return "", fields{}, err
	}
	if length != len(b) {
		return "", fields{}, fmt.Errorf("%w: head of %d bytes says it has %d", ErrDamaged, len(b), length)
	}
	le := binary.LittleEndian
	body, sum := b[:len(b)-sumBytes], le.Uint32(b[len(b)-sumBytes:])
	if crc32.Checksum(body, castagnoli) != sum {
		return "", fields{}, fmt.Errorf("%w: head: wrong checksum", ErrDamaged)
	}
	switch v := le.Uint32(b[len(magic):]); {
	case v > version:
		return "", fields{}, fmt.Errorf("%w: format %d, this one reads up to %d", ErrNewer, v, version)
	case v == 0:
		return "", fields{}, fmt.Errorf("%w: head: format 0", ErrDamaged)
	}
	f := fields{b: body[prefixBytes:]}
	kind := Kind(f.take(f.uint8()))
	hash := f.take(f.uint8())
	switch {
	case f.short || len(kind) == 0 || len(hash) == 0:
		return "", fields{}, fmt.Errorf("%w: head: no kind or no hash", ErrDamaged)
	case string(hash) != HashName:
		return "", fields{}, fmt.Errorf("%w: hash %q, this one has %q", ErrNewer, hash, HashName)
	}
	return kind, f, nil
}

// headLength returns the length that a head gives in its first bytes, once they are known to be those of one.
func headLength(b []byte) (int, error) {
	if n := min(len(b), len(magic)); n == 0 || !bytes.Equal(b[:n], []byte(magic)[:n]) {
		return 0, ErrFormat
	}
	if len(b) < prefixBytes {
		return 0, fmt.Errorf("%w: cut off in its head", ErrDamaged)
	}
	length := binary.LittleEndian.Uint32(b[len(magic)+4:])
	if length < uint32(prefixBytes+sumBytes) || length > maxHeadBytes {
		return 0, fmt.Errorf("%w: head says it has %d bytes", ErrDamaged, length)
	}
	return int(length), nil
}

// fields takes numbers off the front of a byte slice. Once it is too short, all that follow are zero.
type fields struct {
	b     []byte
	short bool
}

func (f *fields) take(n int) []byte {
	if len(f.b) < n {
		f.b, f.short = nil, true
		return make([]byte, n)
	}
	var head []byte
	head, f.b = f.b[:n], f.b[n:]
	return head
}

func (f *fields) uint8() int       { return int(f.take(1)[0]) }
func (f *fields) uint32() uint32   { return binary.LittleEndian.Uint32(f.take(4)) }
func (f *fields) uint64() uint64   { return binary.LittleEndian.Uint64(f.take(8)) }
func (f *fields) float64() float64 { return math.Float64frombits(f.uint64()) }

// config takes what appendConfig wrote, and checkConfig judges.
func (f *fields) config() Config {
	return Config{
		FalsePositiveRate: f.float64(), ExpectedItems: f.uint64(), MaxBytes: int64(f.uint64()), Seed: f.uint64(),
	}
}

// end returns ErrDamaged unless the fields that were taken are all there are, to the byte.
func (f *fields) end() error {
	if f.short || len(f.b) > 0 {
		return fmt.Errorf("%w: head: fields do not fill it", ErrDamaged)
	}
	return nil
}

func appendConfig(b []byte, c Config) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, math.Float64bits(c.FalsePositiveRate))
	b = le.AppendUint64(b, c.ExpectedItems)
	b = le.AppendUint64(b, uint64(c.MaxBytes))
	return le.AppendUint64(b, c.Seed)
}

// checkConfig returns ErrDamaged for settings that cannot have been in force.
func checkConfig(c Config) error {
	if !validRate(c.FalsePositiveRate) || c.ExpectedItems == 0 || c.Seed == 0 || c.MaxBytes <= 0 || c.MaxBytes > math.MaxInt {
		return fmt.Errorf("%w: head: impossible settings", ErrDamaged)
	}
	return nil
}

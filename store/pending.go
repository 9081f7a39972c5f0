package store

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Pending is a URL that waits, with all that its visit needs.
type Pending struct {
	URL      string
	Host     string // canon.URL.Host of URL, the name of the queue that it waits in
	Referrer string // URL of the referring page; empty: none, or on another host, and From says where to look
	Seq      uint64 // its sequence number
	From     uint64 // sequence number of the referring page; 0: none
	Class    uint8
	Depth    uint32
	Hop      uint8
	Seed     uint32
	Chain    []uint64 // hashes of the URLs that redirected here, the first redirect first
	Attempt  uint8    // attempts made so far in this visit
	Visit    uint16
	Former   uint64    // record of the visit before; 0: none
	Due      time.Time // not before this; zero: at once. Kept to the millisecond, read back in UTC
}

// HostKey is the place of a host in the order of hosts: a hash, so that hosts next to each other have nothing to do with
// one another. It has 48 bits: two hosts may have the same, two of ten million with a chance of one in six.
func HostKey(host string) uint64 { return xxhash.Sum64String(host) >> (64 - hostKeyBits) }

const (
	hostKeyBits  = 48
	hostKeyBytes = hostKeyBits / 8
	lastHostKey  = 1<<hostKeyBits - 1
)

// appendHostKey appends what all entries of a host begin with.
func appendHostKey(dst []byte, host uint64) []byte {
	n := len(dst)
	return binary.BigEndian.AppendUint64(dst, host<<(64-hostKeyBits))[:n+hostKeyBytes]
}

// An entry of a queue run has the key
//
//	host key 6 bytes · class 1 · depth 1, or 255 and 4 · bytes of the sequence number 1 · the number, all big-endian
//
// so that the order of bytes is the order in which a host takes its URLs. Its note is
//
//	flags, a varint: which of the fields below are there
//	distance back to From · hop · seed · attempt · visit, if it is not 1 · due, Unix milliseconds (zigzag) · record of the visit before
//	length of the host, if it is not what the URL has between :// and the next slash
//	with a referrer: length of the URL · bytes that the referrer shares with it from its start
//	the hashes of the chain, 8 bytes each, little-endian
//
// with varints for all numbers; what is zero is not there. The value is text: the URL, the host where the note has its length,
// the rest of the referrer.
//
// A referrer on another host is left out where From tells it: it shares nothing with the URL, and would take as much
// again. Whoever wants to know looks From up in the log.
const (
	withFrom = 1 << iota
	withReferrer
	withHop
	withSeed
	withAttempt
	withVisit
	withHost
	withDue
	withChain
	withFormer

	withAll = 1<<iota - 1
)

// maxQueueKey is the length of the longest key.
const maxQueueKey = hostKeyBytes + 1 + 5 + 9

// maxPendingNote is more than the note of an entry takes, the chain's hashes not counted.
const maxPendingNote = 11 * binary.MaxVarintLen64

// orderKey is the place of an entry in its host's queue: class and depth, then the sequence number.
type orderKey struct{ order, seq uint64 }

// orderEnd is past every entry.
var orderEnd = orderKey{math.MaxUint64, math.MaxUint64}

func orderOf(class uint8, depth uint32, seq uint64) orderKey {
	return orderKey{uint64(class)<<32 | uint64(depth), seq}
}

func (o orderKey) less(than orderKey) bool {
	return o.order < than.order || o.order == than.order && o.seq < than.seq
}

func (o orderKey) min(other orderKey) orderKey {
	if other.less(o) {
		return other
	}
	return o
}

// appendQueueKey appends the first key that an entry at o, which is not orderEnd, may have.
func appendQueueKey(dst []byte, host uint64, o orderKey) []byte {
	dst = append(appendHostKey(dst, host), byte(o.order>>32))
	if depth := uint32(o.order); depth < 255 {
		dst = append(dst, byte(depth))
	} else {
		dst = binary.BigEndian.AppendUint32(append(dst, 255), depth)
	}
	n := byteWidth(o.seq)
	dst = append(dst, byte(n))
	return binary.BigEndian.AppendUint64(dst, o.seq<<(64-8*n))[:len(dst)+n]
}

var errQueueKey = errors.New("an entry's key is none of a queue")

func parseQueueKey(key []byte) (host uint64, o orderKey, err error) {
	if len(key) < hostKeyBytes+1+1+1 {
		return 0, orderKey{}, errQueueKey
	}
	host = binary.BigEndian.Uint64(key) >> (64 - hostKeyBits) // there are eight bytes of it
	class, key := key[hostKeyBytes], key[hostKeyBytes+1:]
	depth, rest := uint64(key[0]), key[1:]
	if depth == 255 {
		if len(rest) < 5 {
			return 0, orderKey{}, errQueueKey
		}
		if depth, rest = uint64(binary.BigEndian.Uint32(rest)), rest[4:]; depth < 255 {
			return 0, orderKey{}, errQueueKey
		}
	}
	n := int(rest[0])
	if rest = rest[1:]; n != len(rest) || n > 8 || n > 0 && rest[0] == 0 {
		return 0, orderKey{}, errQueueKey
	}
	o.order = uint64(class)<<32 | depth
	for _, b := range rest {
		o.seq = o.seq<<8 | uint64(b)
	}
	return host, o, nil
}

// pendingBytes is the most that note and text of p can take.
func pendingBytes(p *Pending) int {
	return maxPendingNote + len(p.URL) + len(p.Host) + len(p.Referrer) + 8*len(p.Chain)
}

// appendPending appends the note of p, of the length that is returned, and its text.
func appendPending(dst []byte, p *Pending) (_ []byte, note int) {
	before := len(dst)
	start, end := hostIn(p.URL)
	shared := 0
	flags := flagsOf(p)
	if p.URL[start:end] != p.Host {
		flags |= withHost
	}
	if p.Referrer != "" {
		shared = sharedPrefix(p.URL, p.Referrer)
		if p.From == 0 || shared > end {
			flags |= withReferrer
		}
	}
	dst = binary.AppendUvarint(dst, flags)
	for _, f := range [...]struct{ flag, n uint64 }{
		{withFrom, p.Seq - p.From}, {withHop, uint64(p.Hop)}, {withSeed, uint64(p.Seed)},
		{withAttempt, uint64(p.Attempt)}, {withVisit, uint64(p.Visit)}, {withDue, zigzag(p.Due.UnixMilli())}, {withFormer, p.Former},
		{withHost, uint64(len(p.Host))}, {withReferrer, uint64(len(p.URL))}, {withReferrer, uint64(shared)},
	} {
		if flags&f.flag != 0 {
			dst = binary.AppendUvarint(dst, f.n)
		}
	}
	for _, hash := range p.Chain {
		dst = binary.LittleEndian.AppendUint64(dst, hash)
	}
	note = len(dst) - before
	dst = append(dst, p.URL...)
	if flags&withHost != 0 {
		dst = append(dst, p.Host...)
	}
	if flags&withReferrer != 0 {
		dst = append(dst, p.Referrer[shared:]...)
	}
	return dst, note
}

// flagsOf returns which numbers of p its note has.
func flagsOf(p *Pending) (flags uint64) {
	set := func(there bool, flag uint64) {
		if there {
			flags |= flag
		}
	}
	set(p.From != 0, withFrom)
	set(p.Hop != 0, withHop)
	set(p.Seed != 0, withSeed)
	set(p.Attempt != 0, withAttempt)
	set(p.Visit != 1, withVisit)
	set(!p.Due.IsZero(), withDue)
	set(len(p.Chain) > 0, withChain)
	set(p.Former != 0, withFormer)
	return flags
}

// hostIn returns where in a URL the host lies: between :// and the next slash.
func hostIn(url string) (start, end int) {
	start = strings.Index(url, "://") + len("://")
	if start < len("://") {
		return 0, 0
	}
	end = strings.IndexByte(url[start:], '/')
	if end < 0 {
		return start, len(url)
	}
	return start, start + end
}

func sharedPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// decodePending reads the entry at o into p, which keeps nothing of note and text. The strings of an entry share one piece
// of memory.
func decodePending(o orderKey, note, text []byte, p *Pending) error {
	*p = Pending{Seq: o.seq, Class: uint8(o.order >> 32), Depth: uint32(o.order), Visit: 1}
	fields := varints{note}
	flags, err := fields.next()
	if err != nil {
		return err
	}
	if flags > withAll {
		return errFieldRange
	}
	if flags&withFrom != 0 {
		distance, err := fields.next()
		if err != nil {
			return err
		}
		p.From = p.Seq - distance
	}
	if flags&^withFrom == 0 { // as most are
		if len(fields.rest) > 0 {
			return errColumnLong
		}
		p.URL = string(text)
		start, end := hostIn(p.URL)
		p.Host = p.URL[start:end]
		return nil
	}
	if err := decodeRare(flags, &fields, p); err != nil {
		return err
	}
	return decodeStrings(flags, fields, text, p)
}

// decodeRare reads the numbers that few entries have.
func decodeRare(flags uint64, fields *varints, p *Pending) error {
	var hop, seed, attempt, due uint64
	visit := uint64(1)
	for _, f := range [...]struct {
		flag, max uint64
		n         *uint64
	}{
		{withHop, math.MaxUint8, &hop}, {withSeed, math.MaxUint32, &seed}, {withAttempt, math.MaxUint8, &attempt},
		{withVisit, math.MaxUint16, &visit}, {withDue, math.MaxUint64, &due}, {withFormer, math.MaxUint64, &p.Former},
	} {
		if flags&f.flag == 0 {
			continue
		}
		n, err := fields.next()
		if err != nil {
			return err
		}
		if n > f.max {
			return errFieldRange
		}
		*f.n = n
	}
	p.Hop, p.Seed, p.Attempt, p.Visit = uint8(hop), uint32(seed), uint8(attempt), uint16(visit)
	if flags&withDue != 0 {
		p.Due = time.UnixMilli(unzigzag(due)).UTC()
	}
	return nil
}

// decodeStrings reads the text, what the note says of it, and the chain.
func decodeStrings(flags uint64, fields varints, text []byte, p *Pending) error {
	var host, shared uint64
	var err error
	if flags&withHost != 0 {
		if host, err = fields.next(); err != nil {
			return err
		}
		if host > uint64(len(text)) {
			return errColumnEnds
		}
	}
	url := uint64(len(text)) - host
	if flags&withReferrer != 0 {
		var sizes [2]uint64
		if err := fields.all(sizes[:]); err != nil {
			return err
		}
		if sizes[0] > url || sizes[1] > sizes[0] {
			return errColumnEnds
		}
		url, shared = sizes[0], sizes[1]
	}
	if len(fields.rest)%8 != 0 || (flags&withChain != 0) != (len(fields.rest) > 0) {
		return errColumnLong
	}
	for rest := fields.rest; len(rest) > 0; rest = rest[8:] {
		p.Chain = append(p.Chain, binary.LittleEndian.Uint64(rest))
	}
	all := joined(text[:url+host], text[:shared], text[url+host:])
	p.URL, p.Referrer = all[:url], all[url+host:]
	start, end := hostIn(p.URL)
	if flags&withReferrer != 0 && p.From != 0 && shared <= uint64(end) {
		return errFieldRange
	}
	p.Host = p.URL[start:end]
	if flags&withHost != 0 {
		p.Host = all[url : url+host]
	}
	return nil
}

func joined(parts ...[]byte) string {
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	var b strings.Builder
	b.Grow(n)
	for _, part := range parts {
		b.Write(part)
	}
	return b.String()
}

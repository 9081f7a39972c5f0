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
	Referrer string // URL of the referring page; empty: none, or not known, and From says where to look
	Seq      uint64 // its sequence number
	From     uint64 // sequence number of the referring page; 0: none
	Class    uint8
	Depth    uint32
	Hop      uint8
	Seed     uint32
	Chain    []uint64 // hashes of the URLs that redirected here, the first redirect first
	Attempt  uint8    // attempts made so far in this visit
	Visit    uint16
	Due      time.Time // not before this; zero: at once. Kept to the millisecond, read back in UTC
}

// HostKey is the place of a host in the order of hosts: a hash, so that hosts next to each other have nothing to do with
// one another. Two hosts may have the same.
func HostKey(host string) uint64 { return xxhash.Sum64String(host) }

// An entry of a queue run has the key
//
//	host key 8 bytes · class 1 · depth 4 · sequence number 8, all big-endian
//
// so that the order of bytes is the order in which a host takes its URLs. Its value is
//
//	flags, 1 byte: which of the fields below are there, those that are zero are not
//	distance back to From · hop · seed · attempt · visit · due, Unix milliseconds (zigzag) · hashes of the chain
//	length of the URL · where in it the host begins, or 0 · length of the host
//	the URL · the host, where that was 0 · the hashes, 8 bytes each, little-endian
//	bytes that the referrer shares with the URL from its start · the rest of the referrer, to the end
//
// with varints for all numbers. Most referrers are on the URL's own host.
const (
	withFrom = 1 << iota
	withHop
	withSeed
	withAttempt
	withVisit
	withDue
	withChain
	withReferrer
)

const queueKeyBytes = 8 + 1 + 4 + 8

// maxPendingFields is more than the numbers of a value take, the chain's hashes not counted.
const maxPendingFields = 1 + 11*binary.MaxVarintLen64

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
	dst = binary.BigEndian.AppendUint64(dst, host)
	dst = append(dst, byte(o.order>>32))
	dst = binary.BigEndian.AppendUint32(dst, uint32(o.order))
	return binary.BigEndian.AppendUint64(dst, o.seq)
}

var errQueueKey = errors.New("an entry's key has a wrong length")

func parseQueueKey(key []byte) (host uint64, o orderKey, err error) {
	if len(key) != queueKeyBytes {
		return 0, orderKey{}, errQueueKey
	}
	_ = key[queueKeyBytes-1]
	return binary.BigEndian.Uint64(key), orderKey{
		order: uint64(key[8])<<32 | uint64(binary.BigEndian.Uint32(key[9:])),
		seq:   binary.BigEndian.Uint64(key[13:]),
	}, nil
}

// pendingBytes is the most that the value of p can take.
func pendingBytes(p *Pending) int {
	return maxPendingFields + len(p.URL) + len(p.Host) + len(p.Referrer) + 8*len(p.Chain)
}

// appendPending appends the value of p.
func appendPending(dst []byte, p *Pending) []byte {
	at := len(dst)
	dst = append(dst, 0)
	var flags byte
	number := func(flag byte, n uint64) {
		if n != 0 {
			flags |= flag
			dst = binary.AppendUvarint(dst, n)
		}
	}
	if p.From != 0 {
		flags |= withFrom
		dst = binary.AppendUvarint(dst, p.Seq-p.From)
	}
	number(withHop, uint64(p.Hop))
	number(withSeed, uint64(p.Seed))
	number(withAttempt, uint64(p.Attempt))
	number(withVisit, uint64(p.Visit))
	if !p.Due.IsZero() {
		flags |= withDue
		dst = binary.AppendUvarint(dst, zigzag(p.Due.UnixMilli()))
	}
	number(withChain, uint64(len(p.Chain)))
	dst = appendURL(dst, p)
	for _, hash := range p.Chain {
		dst = binary.LittleEndian.AppendUint64(dst, hash)
	}
	if p.Referrer != "" {
		flags |= withReferrer
		shared := sharedPrefix(p.URL, p.Referrer)
		dst = binary.AppendUvarint(dst, uint64(shared))
		dst = append(dst, p.Referrer[shared:]...)
	}
	dst[at] = flags
	return dst
}

func appendURL(dst []byte, p *Pending) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(p.URL)))
	start := strings.Index(p.URL, "://") + len("://")
	if start < len("://") || !strings.HasPrefix(p.URL[start:], p.Host) {
		start = 0
	}
	dst = binary.AppendUvarint(dst, uint64(start))
	dst = binary.AppendUvarint(dst, uint64(len(p.Host)))
	dst = append(dst, p.URL...)
	if start == 0 {
		dst = append(dst, p.Host...)
	}
	return dst
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

// decodePending reads the entry at o into p, which keeps nothing of value. The strings of an entry share one piece of
// memory.
func decodePending(o orderKey, value []byte, p *Pending) error {
	if len(value) == 0 {
		return errColumnEnds
	}
	*p = Pending{Seq: o.seq, Class: uint8(o.order >> 32), Depth: uint32(o.order)}
	flags := value[0]
	fields := varints{value[1:]}
	var from, hop, seed, attempt, visit, due, chain uint64
	for _, f := range [...]struct {
		flag byte
		max  uint64
		n    *uint64
	}{
		{withFrom, math.MaxUint64, &from}, {withHop, math.MaxUint8, &hop}, {withSeed, math.MaxUint32, &seed},
		{withAttempt, math.MaxUint8, &attempt}, {withVisit, math.MaxUint16, &visit}, {withDue, math.MaxUint64, &due},
		{withChain, uint64(len(value) / 8), &chain},
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
	if flags&withFrom != 0 {
		p.From = p.Seq - from
	}
	p.Hop, p.Seed, p.Attempt, p.Visit = uint8(hop), uint32(seed), uint8(attempt), uint16(visit)
	if flags&withDue != 0 {
		p.Due = time.UnixMilli(unzigzag(due)).UTC()
	}
	return decodeStrings(fields, int(chain), flags&withReferrer != 0, p)
}

// decodeStrings reads what follows the numbers.
func decodeStrings(fields varints, chain int, referrer bool, p *Pending) error {
	var sizes [3]uint64
	if err := fields.all(sizes[:]); err != nil {
		return err
	}
	left := uint64(len(fields.rest))
	url, start, host := sizes[0], sizes[1], sizes[2]
	if url > left || start > url || host > left || start != 0 && host > url-start {
		return errColumnEnds
	}
	names := url // bytes of the URL, and of a host that is not in it
	if start == 0 {
		names += host
		start = url
	}
	if names > left || uint64(chain) > (left-names)/8 {
		return errColumnEnds
	}
	text, rest := fields.rest[:names], fields.rest[names:]
	if chain > 0 {
		p.Chain = make([]uint64, chain)
		for i := range p.Chain {
			p.Chain[i] = binary.LittleEndian.Uint64(rest[8*i:])
		}
		rest = rest[8*chain:]
	}
	if !referrer && len(rest) > 0 {
		return errColumnLong
	}
	shared, rest, err := sharedBytes(rest, referrer, url)
	if err != nil {
		return err
	}
	all := joined(text, text[:shared], rest)
	p.URL, p.Host, p.Referrer = all[:url], all[start:start+host], all[names:]
	return nil
}

// sharedBytes reads how much of the URL the referrer starts with.
func sharedBytes(rest []byte, referrer bool, url uint64) (uint64, []byte, error) {
	if !referrer {
		return 0, nil, nil
	}
	fields := varints{rest}
	shared, err := fields.next()
	if err == nil && shared > url {
		err = errFieldRange
	}
	return shared, fields.rest, err
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

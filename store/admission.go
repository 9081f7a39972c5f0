package store

import (
	"encoding/binary"
	"fmt"
)

// An Admission says that a URL was met, passed scope and was new. Its number in the log, the sequence number, is the
// URL's name everywhere else; the first is 1.
type Admission struct {
	URL   string // as it will be requested
	Hash  uint64 // keyed hash of its canonical key
	Depth uint32 // links followed from a seed, as first met
	Class uint8  // its class in its host's queue; the numbers are part of the log and never change
	From  uint64 // sequence number of the referring page; 0: none
	Hop   uint8  // redirects followed on the way from From's chain
	Seed  uint32 // number of the seed label it descends from; 0: none
}

// MaxURLBytes is the longest URL that the admission log takes: a block of such URLs can still be unpacked.
const MaxURLBytes = maxColumn / BlockEntries

// AdmissionLog appends admissions and reads them back by number.
type AdmissionLog struct {
	blocks  *blockLog
	tail    admissions
	shared  bool                  // somebody has a snapshot of tail
	encoded []byte                // a full block, on its way into the file
	recent  blockCache[Admission] // full blocks that Get read
}

// recentBlocks is how many blocks Get keeps unpacked: 4,096 entries each, half a megabyte of usual URLs.
const recentBlocks = 16

// openAdmissionLog goes on with a log at a checkpoint's end. healed is as blockLog.open has it.
func openAdmissionLog(d directory, c *codec, segBytes int64, end LogMark) (l *AdmissionLog, healed, err error) {
	l = readAdmissionLog(d, c)
	if healed, err = l.blocks.open(segBytes, end, l); err != nil {
		return nil, nil, err
	}
	return l, healed, nil
}

// readAdmissionLog returns a log that is only read, beside the crawl that appends to it.
func readAdmissionLog(d directory, c *codec) *AdmissionLog {
	return &AdmissionLog{
		blocks: newBlockLog(d.fs, d.log(), admissionBlock, c), recent: blockCache[Admission]{limit: recentBlocks},
	}
}

// restoreTail is of a tailOwner.
func (l *AdmissionLog) restoreTail(end LogMark) (length int64, err error) {
	c := l.blocks.codec
	entries, length, err := tailOf(&l.blocks.blockReader, end, unpackAdmissions, func(b block) ([]Admission, error) {
		return decodeAdmissions(c, b, nil)
	})
	for _, a := range entries {
		l.tail.append(a)
	}
	return length, err
}

func (l *AdmissionLog) tailLen() int { return l.tail.len() }

func (l *AdmissionLog) wholeTail(first uint64) []byte {
	return l.tail.encode(l.blocks.codec, nil, first, 0)
}

// takeTail returns the open tail as it is now. Its memory is never written again, only appended to.
func (l *AdmissionLog) takeTail() pendingTail {
	l.shared = true
	tail, c, block := l.tail, l.blocks.codec, uint64(len(l.blocks.blocks))
	return pendingTail{
		file: l.blocks.tail, block: block, entries: tail.len(),
		chunk: func(after int) []byte { return tail.encode(c, nil, block*BlockEntries, after) },
	}
}

// Len returns the number of admissions, which is the newest sequence number.
func (l *AdmissionLog) Len() uint64 {
	return uint64(len(l.blocks.blocks))*BlockEntries + uint64(l.tail.len())
}

// Append adds an admission and returns its sequence number. An admission that the log could not give back is refused
// and leaves no trace: a URL longer than MaxURLBytes, or a referrer that comes later. Any other error is a *WriteError,
// and final.
func (l *AdmissionLog) Append(a Admission) (seq uint64, err error) {
	if l.blocks.series.failed != nil {
		return 0, l.blocks.series.failed
	}
	seq = l.Len() + 1
	if a.From >= seq {
		return 0, fmt.Errorf("admission %d of %s: its referrer %d comes later", seq, a.URL, a.From)
	}
	if len(a.URL) > MaxURLBytes {
		return 0, fmt.Errorf("admission %d: a URL of %d bytes is longer than %d", seq, len(a.URL), MaxURLBytes)
	}
	l.tail.append(a)
	if l.tail.len() < BlockEntries {
		return seq, nil
	}
	l.encoded = l.tail.encode(l.blocks.codec, l.encoded[:0], seq-BlockEntries, 0)
	if err := l.blocks.add(l.encoded); err != nil {
		return 0, err
	}
	l.tail, l.shared = l.tail.next(l.shared), false
	return seq, nil
}

// Get returns the admission with the given number. One that is in none of the last few blocks that were read costs the
// reading of 4,096.
func (l *AdmissionLog) Get(seq uint64) (Admission, error) {
	if seq == 0 || seq > l.Len() {
		return Admission{}, fmt.Errorf("sequence number %d was never given: the last is %d", seq, l.Len())
	}
	number, i := int((seq-1)/BlockEntries), int((seq-1)%BlockEntries)
	if number == len(l.blocks.blocks) {
		return l.tail.at(i, seq)
	}
	entries, err := l.recent.get(number, l.block)
	if err != nil {
		return Admission{}, err
	}
	return entries[i], nil
}

// Each calls fn for every admission numbered from and above, in order.
func (l *AdmissionLog) Each(from uint64, fn func(seq uint64, a Admission) error) error {
	from = max(from, 1)
	entries := make([]Admission, 0, BlockEntries)
	for number := int((from - 1) / BlockEntries); number < len(l.blocks.blocks); number++ {
		var err error
		if entries, err = l.block(number, entries[:0]); err != nil {
			return err
		}
		first := uint64(number)*BlockEntries + 1
		for i, a := range entries {
			if seq := first + uint64(i); seq >= from {
				if err := fn(seq, a); err != nil {
					return err
				}
			}
		}
	}
	return l.eachOfTail(from, fn)
}

func (l *AdmissionLog) eachOfTail(from uint64, fn func(seq uint64, a Admission) error) error {
	first := uint64(len(l.blocks.blocks))*BlockEntries + 1
	for seq := max(from, first); seq <= l.Len(); seq++ {
		a, err := l.tail.at(int(seq-first), seq)
		if err != nil {
			return err
		}
		if err := fn(seq, a); err != nil {
			return err
		}
	}
	return nil
}

// EachHashes calls fn with the hashes of consecutive admissions, in order, without touching their URLs. The first call
// starts with the admission numbered from; the slice is reused.
func (l *AdmissionLog) EachHashes(from uint64, fn func(first uint64, hashes []uint64) error) error {
	from = max(from, 1)
	hashes := make([]uint64, 0, BlockEntries)
	for number := int((from - 1) / BlockEntries); number <= len(l.blocks.blocks); number++ {
		raw, err := l.rawHashes(number)
		if err != nil {
			return err
		}
		first := uint64(number)*BlockEntries + 1
		if from > first {
			raw, first = raw[min(8*(from-first), uint64(len(raw))):], from
		}
		hashes = appendHashes(hashes[:0], raw)
		if len(hashes) == 0 {
			continue
		}
		if err := fn(first, hashes); err != nil {
			return err
		}
	}
	return nil
}

// appendHashes appends those of a raw column to dst.
func appendHashes(dst []uint64, raw []byte) []uint64 {
	for ; len(raw) >= 8; raw = raw[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(raw))
	}
	return dst
}

func (l *AdmissionLog) rawHashes(number int) ([]byte, error) {
	if number == len(l.blocks.blocks) {
		return l.tail.hashes, nil
	}
	return l.blocks.readRaw(number)
}

// block appends the entries of a full block to dst.
func (l *AdmissionLog) block(number int, dst []Admission) ([]Admission, error) {
	b, err := l.blocks.read(number)
	if err != nil {
		return nil, err
	}
	entries, err := decodeAdmissions(l.blocks.codec, b, dst)
	if err != nil {
		return nil, l.blocks.damage(number, err)
	}
	return entries, nil
}

func (l *AdmissionLog) mark() LogMark { return l.blocks.mark(l.tail.len()) }

func (l *AdmissionLog) close() error { return l.blocks.close() }

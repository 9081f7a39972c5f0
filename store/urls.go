package store

import (
	"slices"
	"sync"
)

// URLs looks up the URLs of numbers, beside the committer and for any goroutine: what Admissions, which is the committer's,
// cannot be asked for without holding commits up.
//
// A number that was not asked for lately costs the unpacking of 512 URLs, unless they are those that were unpacked last; and the
// reading of a block, unless that is one of the last few.
type URLs struct {
	log *AdmissionLog

	mu     sync.Mutex // guards all below
	reader *blockReader
	blocks []urlBlock        // the one that was asked for last first
	known  map[uint64]string // what was asked for lately
	recent []uint64          // the numbers in known, a ring
	oldest int               // in recent
}

const (
	urlBlocks = 4
	// knownURLs is how many URLs are kept: hosts are visited in turns, and several pages of one have the same referrer.
	knownURLs = 1 << 13
)

// urlBlock is the texts of a full block: packed, but for a part.
type urlBlock struct {
	number int
	packed []byte
	ends   []int  // of each text
	text   []byte // of the part that was asked for last
	from   int    // where it begins in all of them
}

func newURLs(log *AdmissionLog) *URLs {
	return &URLs{log: log, reader: log.blocks.scan(), known: make(map[uint64]string)}
}

// Of returns the URL of a number; false where it is in no full block yet, or that block cannot be read. The committer
// may then ask Admissions.
func (u *URLs) Of(seq uint64) (url string, found bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if url, found := u.known[seq]; found {
		return url, true
	}
	if seq == 0 || seq > u.log.blocks.fullEntries() {
		return "", false
	}
	b, err := u.block(int((seq - 1) / BlockEntries))
	if err != nil {
		return "", false
	}
	i, start := int((seq-1)%BlockEntries), 0
	if i > 0 {
		start = b.ends[i-1]
	}
	text, err := u.within(b, start, b.ends[i])
	if err != nil {
		return "", false
	}
	url = string(text)
	u.remember(seq, url)
	return url, true
}

// remember keeps a URL, in the place of the one that came first.
func (u *URLs) remember(seq uint64, url string) {
	u.known[seq] = url
	if len(u.recent) < knownURLs {
		u.recent = append(u.recent, seq)
		return
	}
	delete(u.known, u.recent[u.oldest])
	u.recent[u.oldest] = seq
	u.oldest = (u.oldest + 1) % knownURLs
}

// block returns the texts of a full block.
func (u *URLs) block(number int) (*urlBlock, error) {
	at := slices.IndexFunc(u.blocks, func(b urlBlock) bool { return b.number == number })
	if at < 0 {
		if len(u.blocks) < urlBlocks {
			u.blocks = append(u.blocks, urlBlock{})
		}
		at = len(u.blocks) - 1 // the one that was not asked for the longest
		if err := u.read(number, &u.blocks[at]); err != nil {
			u.blocks = slices.Delete(u.blocks, at, at+1)
			return nil, err
		}
	}
	found := u.blocks[at]
	copy(u.blocks[1:at+1], u.blocks[:at])
	u.blocks[0] = found
	return &u.blocks[0], nil
}

// read unpacks a block into the memory of another.
func (u *URLs) read(number int, to *urlBlock) error {
	if number >= len(u.reader.blocks) {
		u.reader.blocks = *u.log.blocks.full.Load()
	}
	b, err := u.reader.read(number)
	if err != nil {
		return err
	}
	meta, err := u.reader.codec.column(b, 0, nil)
	if err != nil {
		return err
	}
	to.packed = append(to.packed[:0], b.packed[1]...)
	to.number, to.ends, to.text, to.from = number, to.ends[:0], to.text[:0], 0
	size := uint64(b.columns[1].plain)
	fields, end := varints{meta}, uint64(0)
	for range b.entries {
		if err := fields.skip(admissionFields - 1); err != nil {
			return err
		}
		length, err := fields.next()
		if err != nil {
			return err
		}
		if end += length; end > size || length > MaxURLBytes {
			return errColumnEnds
		}
		to.ends = append(to.ends, int(end))
	}
	return nil
}

// within returns a stretch of a block's texts, after unpacking the frames that have it.
func (u *URLs) within(b *urlBlock, start, end int) ([]byte, error) {
	if start == end {
		return nil, nil
	}
	if start < b.from || end > b.from+len(b.text) {
		if err := u.unpack(b, start, end); err != nil {
			return nil, err
		}
	}
	return b.text[start-b.from : end-b.from], nil
}

func (u *URLs) unpack(b *urlBlock, start, end int) error {
	b.from, b.text = 0, b.text[:0]
	rest := b.packed
	for at := 0; at < end; { // of the next frame
		f, after, err := nextFrame(rest)
		if err != nil {
			return err
		}
		if at <= start {
			b.from = at
		}
		if rest, at = after, at+f.plain; at <= start {
			continue
		}
		if b.text, err = u.reader.codec.unpack(f, b.text); err != nil {
			return err
		}
	}
	return nil
}

// close ends the reading.
func (u *URLs) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.reader.closeReading()
}

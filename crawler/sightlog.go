package crawler

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"crawl/internal/vfs"
	"crawl/store"
)

// sightLog is the log of first sights: what the window is made of again. It is segments, each for a part of the window's
// time, which go as a whole when they are too old. A record, all integers little-endian:
//
//	CRC-32C of what follows, 4 bytes · hashes 4 bytes · the crawl's time in ns 8 bytes · number of the page 8 bytes · hashes
//
// It belongs to the holder of the committer's lock, but for sync.
type sightLog struct {
	dir   string
	span  time.Duration
	file  *os.File // the last segment; nil: none yet
	mark  sightMark
	began time.Duration // of the last segment
	ends  []sightEnd    // of those before, the oldest first
	ready []byte        // not written yet

	oldest  uint64     // segment that is there, of who makes checkpoints
	syncing sync.Mutex // held while file is synced or replaced
}

// sightMark is what a checkpoint says of the log.
type sightMark struct {
	First uint64 `json:"first"` // segments before it are not needed any longer
	Last  uint64 `json:"last"`  // 0: there is none
	Bytes int64  `json:"bytes"` // of the last one
}

// sightEnd is when a segment had its last record, at most.
type sightEnd struct {
	number uint64
	at     time.Duration
}

const (
	sightHead = 4 + 4 + 8 + 8
	// sightSegments is how many segments a window's time is cut into.
	sightSegments = 8
)

var sightSum = crc32.MakeTable(crc32.Castagnoli) // not written

// sightsLost: first sights cannot be read back.
type sightsLost struct {
	file string
	err  error
}

func (e *sightsLost) Error() string { return fmt.Sprintf("%s: %v", e.file, e.err) }
func (e *sightsLost) Unwrap() error { return e.err }

func (g *sightLog) path(number uint64) string {
	return filepath.Join(g.dir, fmt.Sprintf("%010d.sights", number))
}

// open reads the log as far as mark says and cuts it there. A *sightsLost says what is missing; then the log goes on with
// another segment.
func (g *sightLog) open(mark sightMark, take func(at time.Duration, page uint64, hashes []uint64)) error {
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		return g.failed(err)
	}
	g.mark, g.oldest = mark, max(mark.First, 1)
	if err := g.removeOthers(); err != nil {
		return err
	}
	var lost error
	for number := max(mark.First, 1); number <= mark.Last; number++ {
		most := int64(-1)
		if number == mark.Last {
			most = mark.Bytes
		}
		last, whole, err := readSights(g.path(number), most, take)
		if err != nil {
			lost = &sightsLost{g.path(number), err}
			if err := g.mend(number, whole); err != nil {
				return err
			}
		}
		g.ends = append(g.ends, sightEnd{number, last})
		g.began = max(g.began, last)
	}
	if lost != nil || mark.Last == 0 {
		return errors.Join(lost, g.begin(g.began))
	}
	g.ends = g.ends[:len(g.ends)-1]
	f, err := os.OpenFile(g.path(mark.Last), os.O_WRONLY, 0)
	if err != nil {
		return g.failed(err)
	}
	g.file = f
	if err := f.Truncate(mark.Bytes); err != nil {
		return g.failed(err)
	}
	if _, err := f.Seek(mark.Bytes, io.SeekStart); err != nil {
		return g.failed(err)
	}
	return nil
}

// mend cuts off what cannot be read of a segment: the log goes on in another.
func (g *sightLog) mend(number uint64, whole int64) error {
	f, err := os.OpenFile(g.path(number), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return g.failed(err)
	}
	return g.failed(errors.Join(f.Truncate(whole), f.Sync(), f.Close()))
}

// readSights reads the records of a segment, up to so many bytes; -1: all. It returns the time of the last one, and how
// many bytes can be read.
func readSights(path string, most int64, take func(at time.Duration, page uint64, hashes []uint64)) (last time.Duration, whole int64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, bareOf(err)
	}
	if most >= 0 && most < int64(len(text)) {
		text = text[:most]
	}
	var hashes []uint64
	for at := 0; at < len(text); {
		rest := text[at:]
		if len(rest) < sightHead {
			return last, int64(at), fmt.Errorf("byte %d: a record is cut off", at)
		}
		n := int(binary.LittleEndian.Uint32(rest[4:]))
		size := sightHead + 8*n
		if n > len(rest)/8 || size > len(rest) || crc32.Checksum(rest[4:size], sightSum) != binary.LittleEndian.Uint32(rest) {
			return last, int64(at), fmt.Errorf("byte %d: a record is damaged", at)
		}
		hashes = hashes[:0]
		for i := sightHead; i < size; i += 8 {
			hashes = append(hashes, binary.LittleEndian.Uint64(rest[i:]))
		}
		last = time.Duration(binary.LittleEndian.Uint64(rest[8:]))
		take(last, binary.LittleEndian.Uint64(rest[16:]), hashes)
		at += size
	}
	if most > int64(len(text)) {
		err = fmt.Errorf("it has %d bytes, and should have %d", len(text), most)
	}
	return last, int64(len(text)), err
}

// append adds a record, which is written with the next checkpoint.
func (g *sightLog) append(at time.Duration, page uint64, hashes []uint64) {
	from := len(g.ready)
	le := binary.LittleEndian
	g.ready = le.AppendUint32(g.ready, 0)
	g.ready = le.AppendUint32(g.ready, uint32(len(hashes)))
	g.ready = le.AppendUint64(g.ready, uint64(at))
	g.ready = le.AppendUint64(g.ready, page)
	for _, h := range hashes {
		g.ready = le.AppendUint64(g.ready, h)
	}
	le.PutUint32(g.ready[from:], crc32.Checksum(g.ready[from+4:], sightSum))
}

// maxReady is how much of the log is kept in memory between two checkpoints.
const maxReady = 1 << 20

// full reports whether what is to be written should be.
func (g *sightLog) full() bool { return len(g.ready) >= maxReady }

// flush writes what was appended. Nothing of it counts before a checkpoint names it.
func (g *sightLog) flush() error {
	if len(g.ready) == 0 {
		return nil
	}
	n, err := g.file.Write(g.ready)
	g.mark.Bytes += int64(n)
	g.ready = g.ready[:0]
	return g.failed(err)
}

// cut writes all, begins another segment when it is time, and returns what the checkpoint is to say.
func (g *sightLog) cut(now time.Duration) (sightMark, error) {
	if err := g.flush(); err != nil {
		return sightMark{}, err
	}
	if now-g.began >= g.span/sightSegments && g.mark.Bytes > 0 {
		if err := g.begin(now); err != nil {
			return sightMark{}, err
		}
	}
	for len(g.ends) > 0 && now-g.ends[0].at > g.span {
		g.ends = g.ends[1:]
	}
	g.mark.First = g.mark.Last
	if len(g.ends) > 0 {
		g.mark.First = g.ends[0].number
	}
	return g.mark, nil
}

// begin closes the last segment, durably, and begins another.
func (g *sightLog) begin(now time.Duration) error {
	g.syncing.Lock()
	defer g.syncing.Unlock()
	if g.file != nil {
		if err := errors.Join(g.file.Sync(), g.file.Close()); err != nil {
			return g.failed(err)
		}
		g.ends = append(g.ends, sightEnd{g.mark.Last, now})
	}
	g.mark.Last++
	f, err := os.OpenFile(g.path(g.mark.Last), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return g.failed(err)
	}
	g.file, g.mark.Bytes, g.began = f, 0, now
	g.mark.First = max(g.mark.First, 1)
	return nil
}

// sync makes durable what was written. It may be called beside everything else.
func (g *sightLog) sync() error {
	g.syncing.Lock()
	defer g.syncing.Unlock()
	if g.file == nil {
		return nil
	}
	return g.failed(errors.Join(g.file.Sync(), (vfs.OS{}).SyncDir(g.dir)))
}

// removeOthers removes segments that the mark does not name.
func (g *sightLog) removeOthers() error {
	files, err := os.ReadDir(g.dir)
	if err != nil {
		return g.failed(err)
	}
	for _, f := range files {
		digits, ours := strings.CutSuffix(f.Name(), ".sights")
		number, err := strconv.ParseUint(digits, 10, 64)
		if !ours || err != nil || number >= g.mark.First && number <= g.mark.Last {
			continue
		}
		if err := os.Remove(filepath.Join(g.dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return g.failed(err)
		}
	}
	return nil
}

// forget removes the segments before one, which the durable checkpoint does not name. Whoever makes checkpoints calls it.
func (g *sightLog) forget(first uint64) error {
	for ; g.oldest < first; g.oldest++ {
		if err := os.Remove(g.path(g.oldest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return g.failed(err)
		}
	}
	return nil
}

func (g *sightLog) close() error {
	if g.file == nil {
		return nil
	}
	return g.file.Close()
}

func (g *sightLog) failed(err error) error {
	if err == nil {
		return nil
	}
	return &store.WriteError{File: g.dir, Err: err}
}

// dropSights removes the log of a crawl that needs none.
func dropSights(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return &store.WriteError{File: dir, Err: err}
	}
	return nil
}

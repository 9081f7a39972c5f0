package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"
)

// A run is ascending hashes in pages, the first hash of each page (the fence), and a trailer. It is written once, from
// front to end, and stands at the end of a file: a file of its own, or a table's behind its filter.
const (
	runMagic   = "\x93SRUN\r\n\x1a"
	runVersion = 1
	trailBytes = len(runMagic) + 4 + 4 + 4*8 + 4 + 4
	fenceBytes = 8 // a page
	// readPages is how many pages are read and written together where the run is gone through in order: 128 KiB.
	readPages = 32
)

// runWriter writes a run.
type runWriter struct {
	w      io.Writer
	hashes []uint64 // of the page that is being filled
	fence  []uint64
	keys   uint64
	total  uint64
	last   uint64
	out    []byte // pages not written yet
	page   pageBuf
}

func newRunWriter(w io.Writer) *runWriter {
	return &runWriter{w: w, out: make([]byte, 0, readPages*pageBytes)}
}

// add appends a hash. One that equals the last one is left out; they must not descend.
func (w *runWriter) add(h uint64) error {
	if w.keys > 0 && h <= w.last {
		if h == w.last {
			return nil
		}
		return fmt.Errorf("seen: hash %#x follows %#x in a run", h, w.last)
	}
	if n := len(w.hashes); n >= fitsAlways && !pageFits(n, h-w.hashes[0]) {
		if err := w.endPage(); err != nil {
			return err
		}
	}
	w.hashes = append(w.hashes, h)
	w.last = h
	w.keys++
	w.total += h
	return nil
}

func (w *runWriter) endPage() error {
	encodePage(&w.page, uint64(len(w.fence)), w.hashes)
	w.fence = append(w.fence, w.hashes[0])
	w.hashes = w.hashes[:0]
	w.out = append(w.out, w.page[:pageBytes]...)
	if len(w.out) < cap(w.out) {
		return nil
	}
	return w.drain()
}

func (w *runWriter) drain() error {
	_, err := w.w.Write(w.out)
	w.out = w.out[:0]
	return err
}

// finish writes what is left, the fence and the trailer.
func (w *runWriter) finish() error {
	if len(w.hashes) > 0 {
		if err := w.endPage(); err != nil {
			return err
		}
	}
	le := binary.LittleEndian
	var sum uint32
	for part := range slices.Chunk(w.fence, cap(w.out)/fenceBytes) {
		if err := w.drain(); err != nil {
			return err
		}
		w.out = appendWords(w.out, part)
		sum = crc32.Update(sum, castagnoli, w.out)
	}
	trail := append(make([]byte, 0, trailBytes), runMagic...)
	trail = le.AppendUint32(trail, runVersion)
	trail = le.AppendUint32(trail, pageBytes)
	for _, v := range []uint64{w.keys, uint64(len(w.fence)), w.last, w.total} {
		trail = le.AppendUint64(trail, v)
	}
	trail = le.AppendUint32(trail, sum)
	w.out = append(w.out, le.AppendUint32(trail, crc32.Checksum(trail, castagnoli))...)
	return w.drain()
}

// run is a run that can be asked: its fence is in memory, its pages are read when they are needed. It is not written
// after openRun, so any number of goroutines may ask, each with a pageReader of its own.
type run struct {
	file  io.ReaderAt
	name  string // of the file, for errors
	base  int64  // where the run begins in it
	keys  uint64
	total uint64 // of the hashes, modulo 2^64
	last  uint64
	sum   uint32 // of the trailer, which has that of the fence in it
	fence []uint64
}

// openRun opens the run from base to the file's end. The error is ErrFormat, ErrNewer, ErrDamaged or the reader's own,
// and names the file. Pages are checked when they are read.
func openRun(file io.ReaderAt, name string, base, size int64) (*run, error) {
	r := &run{file: file, name: name, base: base}
	at := size - int64(trailBytes)
	if at < base {
		return nil, r.damaged(size, errors.New("cut off"))
	}
	trail := make([]byte, trailBytes)
	if err := r.read(trail, at); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	switch body := trail[:trailBytes-4]; {
	case string(trail[:len(runMagic)]) != runMagic:
		return nil, r.damaged(at, errors.New("no trailer: cut off, or another kind of file"))
	case crc32.Checksum(body, castagnoli) != le.Uint32(trail[trailBytes-4:]):
		return nil, r.damaged(at, errors.New("trailer: wrong checksum"))
	}
	f := fields{b: trail[len(runMagic) : trailBytes-4]}
	if v := f.uint32(); v != runVersion {
		return nil, fmt.Errorf("%w: %s: format %d of its hashes, this one reads up to %d", ErrNewer, name, v, runVersion)
	}
	pageSize := f.uint32()
	r.keys = f.uint64()
	pages := f.uint64()
	r.last = f.uint64()
	r.total = f.uint64()
	r.sum = le.Uint32(trail[trailBytes-4:])
	if room := uint64(at - base); pageSize != pageBytes || pages > room || pages*(pageBytes+fenceBytes) != room ||
		r.keys < pages || r.keys > pages*8*pageBytes || (r.keys == 0) != (pages == 0) {
		return nil, r.damaged(at, errors.New("impossible trailer"))
	}
	return r, r.readFence(int(pages), f.uint32())
}

// readFence reads the first hashes. Their memory is a 512th of a file that is there, whatever the trailer says.
func (r *run) readFence(pages int, sum uint32) error {
	at := r.offset(pages)
	buf := make([]byte, min(pages*fenceBytes, readPages*pageBytes))
	r.fence = make([]uint64, 0, pages)
	var got uint32
	for off := at; len(r.fence) < pages; off += int64(len(buf)) {
		buf = buf[:min(len(buf), (pages-len(r.fence))*fenceBytes)]
		if err := r.read(buf, off); err != nil {
			return err
		}
		got = crc32.Update(got, castagnoli, buf)
		for b := buf; len(b) > 0; b = b[fenceBytes:] {
			r.fence = append(r.fence, binary.LittleEndian.Uint64(b))
		}
	}
	switch {
	case got != sum:
		return r.damaged(at, errors.New("fence: wrong checksum"))
	case !slices.IsSorted(r.fence) || pages > 0 && r.last < r.fence[pages-1]:
		return r.damaged(at, errors.New("fence: does not ascend"))
	}
	return nil
}

func (r *run) offset(page int) int64 { return r.base + int64(page)*pageBytes }

// bytes returns what the run takes on the disk.
func (r *run) bytes() int64 { return int64(len(r.fence))*(pageBytes+fenceBytes) + int64(trailBytes) }

// read fills b from the file's byte at.
func (r *run) read(b []byte, at int64) error {
	n, err := r.file.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case isCut(err):
		return r.damaged(at, errors.New("cut off"))
	default:
		return fmt.Errorf("seen: read: %w", err) // names the file
	}
}

func (r *run) damaged(at int64, err error) error {
	return fmt.Errorf("%w: %s: byte %d: %w", ErrDamaged, r.name, at, err)
}

// open checks page i, whose bytes are in b.
func (r *run) open(b *pageBuf, i int) (page, error) {
	p, err := openPage(b, uint64(i))
	if err == nil && p.first != r.fence[i] {
		err = errors.New("the page does not begin as the fence says")
	}
	if err != nil {
		return page{}, r.damaged(r.offset(i), err)
	}
	return p, nil
}

// pageOf returns the only page that can hold h, or -1. Hashes are spread evenly: the guess by proportion is a few pages
// off at most, and where they are not, the search from there still takes no more than twice the steps of a binary one.
func (r *run) pageOf(h uint64) int {
	n := len(r.fence)
	if n == 0 || h < r.fence[0] || h > r.last {
		return -1
	}
	guess, _ := bits.Mul64(h, uint64(n))
	low, high, step := int(guess), int(guess)+1, 1 // fence[low] <= h < fence[high] once both ends are moved out
	for r.fence[low] > h {
		high = low
		low = max(0, low-step)
		step *= 2
	}
	for step = 1; high < n && r.fence[high] <= h; step *= 2 {
		low = high
		high = min(n, high+step)
	}
	for high-low > 1 {
		if mid := int(uint(low+high) / 2); r.fence[mid] <= h {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// pageReader holds the page that was read last.
type pageReader struct {
	run   *run
	at    int
	page  page
	buf   pageBuf
	reads uint64
}

// load makes page i of r the one that is held.
func (p *pageReader) load(r *run, i int) (err error) {
	if p.run == r && p.at == i {
		return nil
	}
	p.run = nil // until it is whole
	if err := r.read(p.buf[:pageBytes], r.offset(i)); err != nil {
		return err
	}
	p.reads++
	if p.page, err = r.open(&p.buf, i); err != nil {
		return err
	}
	p.run, p.at = r, i
	return nil
}

// forget lets go of the run, which may be closed now.
func (p *pageReader) forget() { p.run = nil }

// find looks for those hashes whose places are in order, sets found for each that is there, and returns the order of the
// others, in the memory of the first.
func (r *run) find(p *pageReader, hashes []uint64, order []uint64, found []bool) ([]uint64, error) {
	left := order[:0]
	for _, o := range order {
		i := placeOf(o)
		h := hashes[i]
		at := r.pageOf(h)
		if at < 0 {
			left = append(left, o)
			continue
		}
		if err := p.load(r, at); err != nil {
			return nil, err
		}
		if p.page.has(h) {
			found[i] = true
		} else {
			left = append(left, o)
		}
	}
	return left, nil
}

// maxOrder is how many hashes are put in order together: 8 MiB of memory.
const maxOrder = 1 << 20

// appendOrder appends the places of the hashes that are not found yet, in the order of the hashes' high halves: so each
// page is read once for all the hashes that it may hold. Only of two with one high half the order is left open.
func appendOrder(order []uint64, hashes []uint64, found []bool) []uint64 {
	for i, h := range hashes {
		if !found[i] {
			order = append(order, h&^(1<<32-1)|uint64(i))
		}
	}
	slices.Sort(order)
	return order
}

func placeOf(order uint64) int { return int(uint32(order)) }

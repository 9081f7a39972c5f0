package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

const (
	// blockBytes is how much is read at once.
	blockBytes = 1 << 20
	// diskBlockBytes is the same where lines are looked up on the disk: those that are on one page there cost one read.
	diskBlockBytes = 8 << 20
	// maxLineBytes bounds what a stream without newlines takes: some five times of it, with the buffers that were outgrown.
	maxLineBytes = 256 << 20
)

// errLongLine: a line has more than maxLineBytes.
var errLongLine = fmt.Errorf("is longer than %s", size(maxLineBytes))

// lineBlocks cuts a stream into blocks of whole lines. Each line ends with a newline; the last one gets its own where it
// has none. Nothing else is changed: carriage returns and NULs are bytes of their line.
type lineBlocks struct {
	in   io.Reader
	size int    // of a buffer, in bytes, unless a line needs a larger one
	most int    // bytes of a line, its newline not counted
	rest []byte // of the buffer before: the beginning of a line
	err  error  // of in; rest comes first
}

// next reads until there is a whole line, and returns what is whole by then: so lines that come one at a time are passed on
// one at a time. The block lies in buf, or in a larger buffer when a line needs one; the caller may write to it. After the
// last block the error is io.EOF. Before any other error all whole lines have been returned.
func (b *lineBlocks) next(buf []byte) (block, buffer []byte, err error) {
	buf = b.fitting(buf)
	n := copy(buf, b.rest)
	b.rest = nil
	for {
		if n > b.most {
			b.err = errLongLine
			return nil, buf, b.err
		}
		if n == len(buf)-1 { // the last byte is for a missing newline
			larger := make([]byte, min(2*len(buf), b.most+2))
			copy(larger, buf)
			buf = larger
		}
		read := 0
		if b.err == nil {
			read, b.err = readSome(b.in, buf[n:len(buf)-1])
		}
		if i := bytes.LastIndexByte(buf[n:n+read], '\n'); i >= 0 {
			end := n + i + 1
			b.rest = buf[end : n+read]
			return buf[:end], buf, nil
		}
		n += read
		switch {
		case b.err == io.EOF && n > 0:
			buf[n] = '\n'
			return buf[:n+1], buf, nil
		case b.err != nil:
			return nil, buf, b.err
		}
	}
}

// fitting returns a buffer with room for more than the rest: buf, unless it is too small or was grown for a line that has
// passed.
func (b *lineBlocks) fitting(buf []byte) []byte {
	want := max(b.size, len(b.rest)+2)
	if len(buf) < want || len(buf) > b.size && want == b.size {
		return make([]byte, want)
	}
	return buf
}

// readSome reads at least a byte, unless there is an error.
func readSome(in io.Reader, buf []byte) (int, error) {
	for range 100 {
		if n, err := in.Read(buf); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// filled is a block on its way to whoever takes it.
type filled struct {
	block, buffer []byte
	err           error
}

// readAhead returns the blocks of in, each of which may be written to until the next is asked for. It reads the next ones
// meanwhile. The last pair may have an error: that of in, or why ctx ended. A read from a pipe or a terminal cannot be
// called off: when ctx ends within one, the goroutine that reads ends after it.
func readAhead(ctx context.Context, in io.Reader, blockBytes int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		const buffers = 2
		empty, full, over := make(chan []byte, buffers), make(chan filled), make(chan struct{})
		defer close(over)
		for range buffers {
			empty <- make([]byte, blockBytes)
		}
		go fill(&lineBlocks{in: in, size: blockBytes, most: maxLineBytes}, empty, full, over)
		for {
			var f filled
			select {
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			case f = <-full:
			}
			if f.err == io.EOF || !yield(f.block, f.err) || f.err != nil {
				return
			}
			empty <- f.buffer
		}
	}
}

// fill sends blocks in the buffers that it is given, up to an error or until over.
func fill(blocks *lineBlocks, empty <-chan []byte, full chan<- filled, over <-chan struct{}) {
	for {
		var f filled
		select {
		case <-over:
			return
		case f.buffer = <-empty:
		}
		f.block, f.buffer, f.err = blocks.next(f.buffer)
		select {
		case <-over:
			return
		case full <- f:
		}
		if f.err != nil {
			return
		}
	}
}

// batchBytes is how long a line has to be on average for a batch to be a whole block.
const batchBytes = 64

// lineBatch is the next lines of a block, and what a filter says of them.
type lineBatch struct {
	text    []byte
	ends    []int // of the lines in text, behind their newlines
	hashes  []uint64
	answers []bool
}

// newLineBatch returns room for so many lines.
func newLineBatch(lines int) *lineBatch {
	return &lineBatch{ends: make([]int, 0, lines), hashes: make([]uint64, 0, lines), answers: make([]bool, lines)}
}

// take takes lines off a block, hashes them without their newlines, and returns what is left.
func (b *lineBatch) take(block []byte, hash func([]byte) uint64) (rest []byte) {
	b.ends, b.hashes = b.ends[:0], b.hashes[:0]
	at := 0
	for at < len(block) && len(b.ends) < cap(b.ends) {
		n := bytes.IndexByte(block[at:], '\n') // there is one: blocks are of whole lines
		b.hashes = append(b.hashes, hash(block[at:at+n]))
		at += n + 1
		b.ends = append(b.ends, at)
	}
	b.text, b.answers = block[:at], b.answers[:len(b.ends)]
	return block[at:]
}

// keep moves the lines whose answer is the wanted one to the beginning of the batch's text, and returns them. Lines that
// stand together are moved together, and those that stand in their place already are not.
func (b *lineBatch) keep(wanted bool) []byte {
	kept := 0
	start, from := 0, 0 // of this line, and of the first one that is to be moved
	move := func(to int) {
		if kept != from {
			copy(b.text[kept:], b.text[from:to])
		}
		kept += to - from
	}
	for i, end := range b.ends {
		if b.answers[i] != wanted {
			move(start)
			from = end
		}
		start = end
	}
	move(start)
	return b.text[:kept]
}

// sieve reads lines and asks for each whether it is one of those that are written.
type sieve struct {
	hash   func(key []byte) uint64
	answer func(hashes []uint64, answers []bool) error
	wanted bool
	out    io.Writer // nil: nothing is written
	disk   bool      // answers come from the disk
	shown  func(s *sieve)

	lines, kept, bytes uint64
}

// run passes all lines. What was written ends with a whole line, unless out fails.
func (s *sieve) run(ctx context.Context, in io.Reader) error {
	atOnce := blockBytes
	if s.disk {
		atOnce = diskBlockBytes
	}
	batch := newLineBatch(atOnce / batchBytes)
	for block, err := range readAhead(ctx, in, atOnce) {
		if errors.Is(err, errLongLine) {
			return fmt.Errorf("line %s %w", count(s.lines+1), err)
		}
		if err != nil {
			return err
		}
		if err := s.pass(block, batch); err != nil {
			return err
		}
		if s.shown != nil {
			s.shown(s)
		}
	}
	return nil
}

// pass asks for the lines of a block, a batch at a time, and writes those that are wanted before it asks for more: so a
// filter that outlives the process never has lines that were not written, but for the last batch's.
func (s *sieve) pass(block []byte, batch *lineBatch) error {
	for rest := block; len(rest) > 0; {
		rest = batch.take(rest, s.hash)
		if err := s.answer(batch.hashes, batch.answers); err != nil {
			return &answerError{err}
		}
		s.lines += uint64(len(batch.ends))
		s.bytes += uint64(len(batch.text))
		for _, answer := range batch.answers {
			if answer == s.wanted {
				s.kept++
			}
		}
		if s.out == nil {
			continue
		}
		if kept := batch.keep(s.wanted); len(kept) > 0 {
			if _, err := s.out.Write(kept); err != nil {
				return &outputError{err}
			}
		}
	}
	return nil
}

// answerError: the filter could not say what it knows of lines.
type answerError struct{ err error }

func (e *answerError) Error() string { return e.err.Error() }
func (e *answerError) Unwrap() error { return e.err }

// outputError: lines could not be written.
type outputError struct{ err error }

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

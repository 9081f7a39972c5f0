package fetch

import (
	"errors"
	"fmt"
)

// Caps on what is no payload in a chunked body.
const (
	maxChunkLine = 4 << 10 // of a size with its extensions
	maxTrailers  = 8 << 10

	// Framing may be so many bytes, and so many times as much as the payload: chunks of one byte each are odd, and allowed.
	freeFraming = 16 << 10
	mostFraming = 16
)

var (
	errChunkSize   = errors.New("chunk without a size")
	errChunkEnd    = errors.New("chunk longer than its size")
	errChunkLine   = fmt.Errorf("line of a chunk longer than %d bytes", maxChunkLine)
	errManyTrailer = fmt.Errorf("trailers of more than %d bytes", maxTrailers)
	errFraming     = errors.New("chunks that hold next to nothing")
)

// dechunker takes the chunked transfer coding (RFC 9112, section 7.1) off a body as it comes, in place. Extensions and
// trailers mean nothing to it, and lines may end by LF alone.
type dechunker struct {
	state   chunkState
	digits  bool  // the size has begun
	size    int64 // of the chunk: what was read of the number, then what is to come of the data
	line    int   // bytes of this line, or of all trailers
	framing int64 // bytes in all
	payload int64

	// record, if set, is given the framing bytes: what came after so many bytes of payload. It may fail.
	record func(payload int64, framing []byte) error
}

type chunkState uint8

const (
	chunkSize      chunkState = iota // in the number
	chunkPadding                     // in the blanks behind it
	chunkExtension                   // up to the end of the line
	chunkData                        //
	chunkDataEnd                     // at the end of a chunk's data
	chunkDataLF                      // behind its CR
	trailerStart                     // at the start of a line behind the last chunk
	trailerCR                        // behind a CR there
	trailerLine                      // within one
	chunksDone
)

// take moves the payload in p, which follows what was taken before, to the start of p. used is how much of p belongs to the
// body.
func (d *dechunker) take(p []byte) (payload, used int, err error) {
	for used < len(p) && d.state != chunksDone {
		if d.state == chunkData {
			n := int(min(d.size, int64(len(p)-used)))
			copy(p[payload:], p[used:used+n])
			payload += n
			used += n
			d.payload += int64(n)
			if d.size -= int64(n); d.size == 0 {
				d.state = chunkDataEnd
			}
			continue
		}
		start := used
		for used < len(p) && d.state != chunkData && d.state != chunksDone && err == nil {
			err = d.step(p[used])
			used++
		}
		d.framing += int64(used - start)
		if err == nil && d.framing > freeFraming+mostFraming*d.payload {
			err = errFraming
		}
		if err == nil && d.record != nil {
			err = d.record(d.payload, p[start:used])
		}
		if err != nil {
			return payload, used, err
		}
	}
	return payload, used, nil
}

// step takes a byte of framing.
func (d *dechunker) step(c byte) error {
	switch d.state {
	case chunkSize, chunkPadding, chunkExtension:
		if d.line++; d.line > maxChunkLine {
			return errChunkLine
		}
		return d.sizeLine(c)
	case chunkDataEnd, chunkDataLF:
		return d.dataEnd(c)
	}
	if d.line++; d.line > maxTrailers {
		return errManyTrailer
	}
	d.trailer(c)
	return nil
}

func (d *dechunker) sizeLine(c byte) error {
	switch {
	case c == '\n' && d.digits:
		if d.state, d.line, d.digits = chunkData, 0, false; d.size == 0 {
			d.state = trailerStart
		}
	case d.state == chunkExtension && c != '\n':
	case isHex(c) && d.state == chunkSize:
		if d.size >= 1<<58 {
			return errChunkSize
		}
		d.size, d.digits = d.size<<4|int64(unhex(c)), true
	case c == ';' && d.digits:
		d.state = chunkExtension
	case (c == ' ' || c == '\t' || c == '\r') && d.digits:
		d.state = chunkPadding
	case c == ' ' || c == '\t':
	default:
		return errChunkSize
	}
	return nil
}

func (d *dechunker) dataEnd(c byte) error {
	switch {
	case c == '\n':
		d.state = chunkSize
	case c == '\r' && d.state == chunkDataEnd:
		d.state = chunkDataLF
	default:
		return errChunkEnd
	}
	return nil
}

func (d *dechunker) trailer(c byte) {
	switch {
	case c == '\n' && d.state != trailerLine:
		d.state = chunksDone
	case c == '\n':
		d.state = trailerStart
	case c == '\r' && d.state == trailerStart:
		d.state = trailerCR
	default:
		d.state = trailerLine
	}
}

// complete reports whether the last chunk has come, be it without the empty line behind it: the payload is whole then.
func (d *dechunker) complete() bool {
	return d.state == trailerStart || d.state == trailerCR || d.state == trailerLine || d.state == chunksDone
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

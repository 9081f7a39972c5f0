package deny

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// maxLine bounds a line of a list, in bytes: four times the longest URL that is fetched.
	maxLine = 64 << 10
	// namedBad is how many lines that are none of a list are named.
	namedBad = 3
	// firstLines are read before it is judged whether a text is a list at all.
	firstLines = 1 << 10
)

// Summary is what was found in a list.
type Summary struct {
	Shape Shape
	Lines uint64   // blank ones and comments included
	Bad   uint64   // lines that are none of a list
	Named []string // the first of them: number, text and what is wrong
}

// ErrNoList: a text is no denylist, since more than one line in ten is none of one.
var ErrNoList = errors.New("no denylist")

var errLong = fmt.Errorf("longer than %d bytes", maxLine)

// Read reads a list, and takes its entries to take, each with the number of its line. Lines that are none of a list are
// passed over and counted; what has too many of them, as a page that says that the list has moved, is no list: ErrNoList.
// Another error is that of the reader, or of take.
func Read(r io.Reader, key Key, take func(line uint64, e Entry) error) (Summary, error) {
	var sum Summary
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		text, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return sum, err
		}
		if len(text) == 0 && errors.Is(err, io.EOF) {
			return sum, sum.judge()
		}
		sum.Lines++
		if failure := sum.line(text, errors.Is(err, bufio.ErrBufferFull), key, take); failure != nil {
			return sum, failure
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			if err := skipLine(lines); err != nil {
				return sum, err
			}
		}
		if sum.Lines == firstLines {
			if err := sum.judge(); err != nil {
				return sum, err
			}
		}
	}
}

// line takes in a line. The error is that of take.
func (s *Summary) line(text []byte, long bool, key Key, take func(uint64, Entry) error) error {
	if s.Lines == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	err := errLong
	if c := content(text); !long || len(c) == 0 { // a long comment is one
		var failed error
		err = Line(text, key, func(e Entry) error {
			s.Shape.Add(e)
			failed = take(s.Lines, e)
			return failed
		})
		if failed != nil {
			return failed
		}
	}
	if err == nil {
		return nil
	}
	if s.Bad++; len(s.Named) < namedBad {
		s.Named = append(s.Named, fmt.Sprintf("line %d: %q: %v", s.Lines, shortened(bytes.TrimSpace(text)), err))
	}
	return nil
}

// judge says whether what was read so far is a list.
func (s *Summary) judge() error {
	if s.Bad > 0 && s.Bad*10 > s.Lines {
		return fmt.Errorf("%w: %d of %d lines are none of one; %s", ErrNoList, s.Bad, s.Lines, s.Named[0])
	}
	return nil
}

func shortened(text []byte) string {
	const most = 60
	if len(text) > most {
		text = append(text[:most:most], "…"...)
	}
	return string(bytes.ToValidUTF8(text, []byte("?")))
}

// skipLine reads the rest of a long line.
func skipLine(r *bufio.Reader) error {
	for {
		_, err := r.ReadSlice('\n')
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// errFound ends Find.
var errFound = errors.New("found")

// Find returns the number of the first line of a list that has an entry; 0: none has.
func Find(r io.Reader, key Key, want Entry) (line uint64, err error) {
	_, err = Read(r, key, func(n uint64, e Entry) error {
		if e == want {
			line = n
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return line, err
}

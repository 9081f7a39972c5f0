package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// recordReader takes page records off a file.
type recordReader struct {
	file *bufio.Reader
	line []byte
}

// next returns the line of the record with the given number, valid until the next call. io.EOF: the file has ended.
func (r *recordReader) next(number uint64) ([]byte, error) {
	r.line = r.line[:0]
	for {
		part, err := r.file.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			return r.line, checkRecord(r.line, number)
		case errors.Is(err, bufio.ErrBufferFull):
			if len(r.line) > maxRecordBytes {
				return nil, fmt.Errorf("record %d goes on for more than %d bytes", number, maxRecordBytes)
			}
		case !errors.Is(err, io.EOF):
			return nil, err
		case len(r.line) > 0:
			return nil, fmt.Errorf("record %d is cut short", number)
		default:
			return nil, io.EOF
		}
	}
}

// checkRecord reads the number at the start of a line, which costs less than decoding the line.
func checkRecord(line []byte, want uint64) error {
	digits, found := recordDigits(line)
	if !found {
		return errNoRecord
	}
	if got, err := strconv.ParseUint(string(digits), 10, 64); err != nil || got != want {
		return fmt.Errorf("record %.20q stands where %d is due", digits, want)
	}
	return nil
}

var errNoRecord = errors.New("no page record starts here")

// recordDigits returns where a line of a page record has its number.
func recordDigits(line []byte) (digits []byte, found bool) {
	rest, found := bytes.CutPrefix(line, []byte(recordKey))
	digits, _, foundEnd := bytes.Cut(rest, []byte(","))
	return digits, found && foundEnd
}

// recordNumber returns the number of the record that starts here, 0 where none does.
func recordNumber(line []byte) uint64 {
	digits, found := recordDigits(line)
	if n, err := strconv.ParseUint(string(digits), 10, 64); found && err == nil {
		return n
	}
	return 0
}

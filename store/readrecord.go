package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"crawl/internal/vfs"
)

// Record returns the page record with the given number, which the checkpoint must hold. It looks for the line by halves, in
// the one file that can have it: a few dozen reads, whatever the file's size. An error is a *DamageError or one of reading.
func (r *Reader) Record(number uint64) (*Page, error) {
	if number == 0 || number > r.at.Pages.Records {
		return nil, fmt.Errorf("page record %d: the checkpoint has %d", number, r.at.Pages.Records)
	}
	files, err := numbered(r.dir.fs, r.dir.pages(), pageExt)
	if err != nil {
		return nil, err
	}
	i, exact := slices.BinarySearch(files, number)
	if !exact {
		i--
	}
	if i < 0 || files[i] == 0 {
		return nil, &DamageError{File: r.pageFile(1), Offset: -1, Err: fmt.Errorf("record %d is in no file", number)}
	}
	return r.recordOf(files[i], number)
}

func (r *Reader) recordOf(file, number uint64) (*Page, error) {
	name := r.pageFile(file)
	f, err := vfs.Open(r.dir.fs, name)
	if err != nil {
		return nil, cannotOpen(name, err)
	}
	defer f.Close()
	s := recordSearch{file: f, record: file} // a file is named by its first record
	if s.end, err = f.Seek(0, io.SeekEnd); err != nil {
		return nil, err
	}
	if file == r.at.Pages.File {
		s.end = min(s.end, r.at.Pages.Offset)
	}
	line, err := s.find(number)
	var page *Page
	if err == nil {
		err = json.Unmarshal(line, &page)
	}
	if err != nil {
		return nil, &DamageError{File: name, Offset: s.start, Err: err}
	}
	return page, nil
}

// recordSearch looks for a record between the start of one that does not come after it, and a place past its start.
type recordSearch struct {
	file       vfs.File
	start, end int64
	record     uint64 // that starts at start
}

// searchEnds is the stretch of a file that is rather read than halved.
const searchEnds = 64 << 10

func (s *recordSearch) find(number uint64) ([]byte, error) {
	for s.end-s.start > searchEnds {
		if err := s.halve(number); err != nil {
			return nil, err
		}
	}
	lines, err := s.from(s.start)
	if err != nil {
		return nil, err
	}
	for n := s.record; ; n++ {
		line, err := lines.next(n)
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the file ends before record %d", number)
		}
		if err != nil || n == number {
			return line, err
		}
		s.start += int64(len(line))
	}
}

func (s *recordSearch) from(offset int64) (*recordReader, error) {
	_, err := s.file.Seek(offset, io.SeekStart)
	return &recordReader{file: bufio.NewReaderSize(s.file, 4<<10)}, err
}

// halve looks at the first record that starts past the middle.
func (s *recordSearch) halve(number uint64) error {
	middle := s.start + (s.end-s.start)/2
	lines, err := s.from(middle)
	if err != nil {
		return err
	}
	skipped, err := skipLine(lines.file)
	next := middle + skipped
	if errors.Is(err, io.EOF) || err == nil && next >= s.end {
		s.end = middle // one record reaches from here to the end
		return nil
	}
	if err != nil {
		return err
	}
	found, err := peekNumber(lines.file)
	switch {
	case err != nil:
		return err
	case found > number:
		s.end = middle // between here and there is the rest of one record
	default:
		s.start, s.record = next, found
	}
	return nil
}

// skipLine passes over the rest of a line, and returns how long it was.
func skipLine(r *bufio.Reader) (n int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		n += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, err
		}
		if n > maxRecordBytes {
			return n, fmt.Errorf("a record goes on for more than %d bytes", maxRecordBytes)
		}
	}
}

// peekNumber returns the number of the record that r stands at.
func peekNumber(r *bufio.Reader) (uint64, error) {
	const longest = 20 // digits
	head, err := r.Peek(len(recordKey) + longest + len(","))
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	digits, found := recordDigits(head)
	if !found {
		return 0, errNoRecord
	}
	return strconv.ParseUint(string(digits), 10, 64)
}

package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"crawl/internal/vfs"
)

// Pages returns every page record that can be read, in order. Damage comes with no page, and records are missing then. Any
// other error ends it.
func (i *Inspection) Pages(ctx context.Context) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		w := pageWalk{dir: i.dir, end: i.at.Pages, yield: yield, next: 1}
		if err := w.all(ctx); err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// pageWalk goes through the files of page records.
type pageWalk struct {
	dir   directory
	end   PageMark
	yield func(*Page, error) bool
	next  uint64 // record that is due
}

func (w *pageWalk) all(ctx context.Context) error {
	files, err := numbered(w.dir.fs, w.dir.pages(), pageExt)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(n uint64) bool { return n == 0 || n > w.end.Records })
	for _, n := range files {
		if err := w.lose(n-1, numberedName(w.dir.pages(), w.next, pageExt), -1, errMissing); err != nil {
			return err
		}
		if err := w.file(ctx, n); err != nil {
			return err
		}
	}
	return w.lose(w.end.Records, numberedName(w.dir.pages(), w.next, pageExt), -1, errMissing)
}

// lose tells that the records up to one are not there.
func (w *pageWalk) lose(upto uint64, file string, offset int64, cause error) error {
	if upto < w.next {
		return nil
	}
	first := w.next
	w.next = upto + 1
	return w.found(nil, &DamageError{File: file, Offset: offset, Err: fmt.Errorf("page records %d to %d: %w", first, upto, cause)})
}

func (w *pageWalk) found(p *Page, err error) error {
	if !w.yield(p, err) {
		return errEnough
	}
	return nil
}

// file goes through the file that begins with record n, as far as the checkpoint goes.
func (w *pageWalk) file(ctx context.Context, n uint64) error {
	name := numberedName(w.dir.pages(), n, pageExt)
	f, err := vfs.Open(w.dir.fs, name)
	if err != nil {
		return err
	}
	defer f.Close()
	left := int64(-1)
	var from io.Reader = f
	if n == max(w.end.File, 1) {
		left = w.end.Offset
		from = io.LimitReader(f, left)
	}
	lines := bufio.NewReaderSize(from, 64<<10)
	for offset := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) == 0 {
			return w.fileEnds(name, offset, left)
		}
		after, _ := lines.Peek(len(recordKey) + 21) // of a file's last record there is less
		if err := w.line(name, offset, line, recordNumber(after)); err != nil {
			return err
		}
		offset += int64(len(line))
	}
}

// fileEnds judges the end of a file; left is how many bytes the last one has to have, -1 for the others.
func (w *pageWalk) fileEnds(name string, offset, left int64) error {
	if left < 0 || offset == left {
		return nil
	}
	return w.lose(w.end.Records, name, offset, fmt.Errorf("the file ends here, the last checkpoint has %d bytes", left))
}

// line takes what should be the next record. after is the number of the one behind it, 0 where that has none.
func (w *pageWalk) line(name string, offset int64, line []byte, after uint64) error {
	number := recordNumber(line)
	switch {
	case number == w.next:
	case number > w.next && number <= w.end.Records && (after == number+1 || after == 0):
		if err := w.lose(number-1, name, offset, errors.New("they are not where they were")); err != nil {
			return err
		}
	case number > 0 && number < w.next && after <= w.next:
		return w.found(nil, &DamageError{File: name, Offset: offset, Err: fmt.Errorf("page record %d stands here again", number)})
	default:
		return w.lose(w.next, name, offset, errNoRecord)
	}
	var p *Page
	if err := json.Unmarshal(line, &p); err != nil {
		return w.lose(w.next, name, offset, err)
	}
	w.next++
	return w.found(p, nil)
}

// readLine reads a line as long as a record may be, or what is left of the file.
func readLine(from *bufio.Reader) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(line) <= maxRecordBytes {
			continue
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		return line, err
	}
}

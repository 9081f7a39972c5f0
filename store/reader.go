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

// Reader reads a crawl's directory through the file `checkpoint`, without a lock: it is safe beside a running crawl, and
// sees what the last checkpoint holds. It is for one goroutine.
type Reader struct {
	dir  directory
	at   point // the checkpoint that is read
	last place // where the last record that Pages returned ends

	views *views // of the checkpoint; nil: nobody has looked anything up in them
	codec *codec // of views; nil: there never were any
}

// place is a position between two page records.
type place struct {
	Position
	record uint64 // the one before it
}

// OpenReader fails with ErrNotCrawl, a *VersionError or a *DamageError.
func OpenReader(dir string) (*Reader, error) {
	if _, err := ReadFormat(dir); err != nil {
		return nil, err
	}
	r := &Reader{dir: onDisk(dir), last: place{Position: Position{File: 1}}}
	if err := r.Refresh(); err != nil {
		return nil, err
	}
	return r, nil
}

// Refresh reads the newest checkpoint. After an error the reader keeps the one that it had.
func (r *Reader) Refresh() error {
	p, err := r.dir.readTwin()
	if err != nil {
		return err
	}
	if p.Number != r.at.Number {
		err = r.closeViews()
	}
	r.at = p
	return err
}

// Cut returns the checkpoint that is read.
func (r *Reader) Cut() Cut { return r.at.Cut }

// errEnough ends a walk early.
var errEnough = errors.New("the caller has enough")

// Query selects page records.
type Query struct {
	After uint64 // records with greater numbers
}

// Pages returns the selected page records in commit order, as far as the checkpoint goes. What comes before the file of
// the first one is not read; and asking for what follows the last record that was returned reads nothing again. An error
// is the last thing it returns.
func (r *Reader) Pages(ctx context.Context, q Query) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		err := r.pages(ctx, q, func(p *Page) bool { return yield(p, nil) })
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

func (r *Reader) pages(ctx context.Context, q Query, yield func(*Page) bool) error {
	if q.After >= r.at.Pages.Records {
		return nil
	}
	files, err := numbered(r.dir.fs, r.dir.pages(), pageExt)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(n uint64) bool { return n == 0 || n > r.at.Pages.File })
	at := r.start(files, q.After)
	for {
		if err := r.pagesOfFile(ctx, &at, q, yield); err != nil || at.record == r.at.Pages.Records {
			return err
		}
		next := at.record + 1
		if next == at.File || !slices.Contains(files, next) {
			return &DamageError{File: r.pageFile(at.File), Offset: at.Offset,
				Err: fmt.Errorf("the file ends before record %d, the last checkpoint has %d", next, r.at.Pages.Records)}
		}
		at.Position = Position{File: next}
	}
}

// start is the nearest place at or before the record after the given one: where this reader stopped, or the start of a
// file, which is named by its first record.
func (r *Reader) start(files []uint64, after uint64) place {
	at := place{Position: Position{File: 1}}
	if i, exact := slices.BinarySearch(files, after+1); exact {
		at = place{Position{File: files[i]}, after}
	} else if i > 0 {
		at = place{Position{File: files[i-1]}, files[i-1] - 1}
	}
	if r.last.record <= after && r.last.record > at.record {
		return r.last
	}
	return at
}

func (r *Reader) pageFile(n uint64) string { return numberedName(r.dir.pages(), n, pageExt) }

// pagesOfFile moves at through its file: to the file's end, or to the checkpoint's.
func (r *Reader) pagesOfFile(ctx context.Context, at *place, q Query, yield func(*Page) bool) error {
	name := r.pageFile(at.File)
	f, err := vfs.Open(r.dir.fs, name)
	if err != nil {
		return cannotOpen(name, err)
	}
	defer f.Close()
	if _, err := f.Seek(at.Offset, io.SeekStart); err != nil {
		return err
	}
	lines := recordReader{file: bufio.NewReaderSize(f, 64<<10)}
	for at.record < r.at.Pages.Records {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.next(at.record + 1)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var page *Page
		if err == nil && at.record >= q.After {
			err = json.Unmarshal(line, &page)
		}
		if err != nil {
			return &DamageError{File: name, Offset: at.Offset, Err: err}
		}
		at.Offset += int64(len(line))
		at.record++
		if page == nil {
			continue
		}
		r.last = *at
		if !yield(page) {
			return errEnough
		}
	}
	return nil
}

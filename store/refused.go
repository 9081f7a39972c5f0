package store

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"crawl/internal/vfs"
)

// Refused is a link that a rule of the crawl kept out: a line of refused/*.jsonl. Keys are only ever added.
type Refused struct {
	URL      string    `json:"url"`
	Reason   string    `json:"reason"` // under which the link is counted
	Rule     string    `json:"rule"`
	From     string    `json:"from,omitempty"` // the first page that was met with it; empty: a robots.txt names it
	Referrer uint64    `json:"referrer"`       // the page's number; 0: none
	Depth    int       `json:"depth"`          // that it would have had
	At       time.Time `json:"at"`
}

// RefusedMark is the end of the list of refused links at a cut.
type RefusedMark struct {
	Position
	Links uint64 `json:"links"`
}

// RefusedLog appends refused links to a file of JSON lines. It is a record for people: nothing of the crawl depends on it,
// so one that is damaged is begun anew. How long it gets is its writer's to bound.
type RefusedLog struct {
	series *series
	buffer *bufio.Writer
	links  uint64
}

// openRefusedLog returns the damage for which the list is begun anew.
func openRefusedLog(fsys vfs.FS, dir string, end RefusedMark) (l *RefusedLog, lost, err error) {
	end.File = max(end.File, 1)
	s, err := openSeries(fsys, dir, refusedExt, end.Position)
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		lost, end = err, RefusedMark{Position: Position{File: end.File + 1}}
		s, err = openSeries(fsys, dir, refusedExt, end.Position)
	}
	if err != nil {
		return nil, nil, err
	}
	return &RefusedLog{series: s, buffer: bufio.NewWriterSize(seriesWriter{s}, 16<<10), links: end.Links}, lost, nil
}

// Append writes a link. An error is a *WriteError, and final.
func (l *RefusedLog) Append(r *Refused) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line) // ends each value with a line feed
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("encode the refused link %s: %w", r.URL, err)
	}
	if _, err := l.buffer.Write(line.Bytes()); err != nil {
		return err
	}
	l.links++
	return nil
}

func (l *RefusedLog) mark() (RefusedMark, error) {
	if err := l.buffer.Flush(); err != nil {
		return RefusedMark{}, err
	}
	return RefusedMark{Position: l.series.position(), Links: l.links}, nil
}

func (l *RefusedLog) close() error { return l.series.close() }

// Refused returns the refused links that the checkpoint holds, in the order in which they were met. An error is the last
// thing it returns.
func (r *Reader) Refused(ctx context.Context) iter.Seq2[*Refused, error] {
	return func(yield func(*Refused, error) bool) {
		if err := r.refused(ctx, yield); err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

func (r *Reader) refused(ctx context.Context, yield func(*Refused, error) bool) error {
	end := r.at.Refused
	if end.Links == 0 {
		return nil
	}
	name := numberedName(r.dir.refused(), end.File, refusedExt)
	f, err := vfs.Open(r.dir.fs, name)
	if err != nil {
		return cannotOpen(name, err)
	}
	defer f.Close()
	lines := bufio.NewReaderSize(io.LimitReader(f, end.Offset), 64<<10)
	for n := range end.Links {
		line, err := lines.ReadBytes('\n')
		var link Refused
		if err == nil {
			err = json.Unmarshal(line, &link)
		}
		if err != nil {
			return &DamageError{File: name, Offset: -1, Err: fmt.Errorf("refused link %d of %d: %w", n+1, end.Links, err)}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !yield(&link, nil) {
			return errEnough
		}
	}
	return nil
}

// RefusedLost returns the damage for which the list of refused links was begun anew; nil: there was none.
func (s *Store) RefusedLost() error { return s.refusedLost }

// mark of both outputs at a cut. An error is a *WriteError, and final.
func (s *Store) outputMarks() (PageMark, RefusedMark, error) {
	pages, err := s.Pages.mark()
	refused, err2 := s.Refused.mark()
	return pages, refused, cmp.Or(err, err2)
}

package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"crawl/internal/vfs"
)

// PageMark is the end of the page records at a cut.
type PageMark struct {
	Position
	Records uint64 `json:"records"`
}

// PageLog appends page records to files of JSON lines. A file is numbered by its first record, so that a reader finds a
// record's file by its name, and sees when one has lost its end.
type PageLog struct {
	series   *series
	buffer   *bufio.Writer
	maxBytes int64
	records  uint64
}

// maxRecordBytes is the longest page record. A reader that meets a longer line has met damage, and reads no further.
const maxRecordBytes = 64 << 20

func openPageLog(fsys vfs.FS, dir string, maxBytes int64, end PageMark) (*PageLog, error) {
	end.File = max(end.File, 1)
	s, err := openSeries(fsys, dir, pageExt, end.Position)
	if err != nil {
		return nil, err
	}
	l := &PageLog{series: s, maxBytes: maxBytes, records: end.Records}
	l.buffer = bufio.NewWriterSize(seriesWriter{s}, 256<<10)
	return l, nil
}

// seriesWriter lets a buffered writer feed a series.
type seriesWriter struct{ *series }

func (w seriesWriter) Write(p []byte) (int, error) {
	if err := w.append(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// An EncodedPage is a page record that lacks only its number: all the work of encoding is done before the commit.
type EncodedPage []byte

const recordKey = `{"record":` // what a record starts with; its number follows

// EncodePage encodes a page. Its Record is ignored.
func EncodePage(p *Page) (EncodedPage, error) {
	unnumbered := *p
	unnumbered.Record = 0
	var out bytes.Buffer
	enc := json.NewEncoder(&out) // ends each value with a line feed
	enc.SetEscapeHTML(false)
	if err := enc.Encode(unnumbered); err != nil {
		return nil, fmt.Errorf("encode the record of %s: %w", p.URL, err)
	}
	if out.Len() > maxRecordBytes-20 {
		return nil, fmt.Errorf("encode the record of %s: %d bytes are more than a record may have", p.URL, out.Len())
	}
	return EncodedPage(bytes.TrimPrefix(out.Bytes(), []byte(recordKey+"0"))), nil
}

// Append gives the page the next record number and writes it. What is no EncodedPage is refused and leaves no trace. Any
// other error is a *WriteError, and final.
func (l *PageLog) Append(page EncodedPage) (record uint64, err error) {
	if !bytes.HasPrefix(page, []byte(",")) || !bytes.HasSuffix(page, []byte("\n")) {
		return 0, errors.New("a page record that EncodePage did not make")
	}
	if err := l.rollWhenFull(); err != nil {
		return 0, err
	}
	head := append(l.buffer.AvailableBuffer(), recordKey...)
	head = strconv.AppendUint(head, l.records+1, 10)
	if _, err := l.buffer.Write(head); err != nil {
		return 0, err
	}
	if _, err := l.buffer.Write(page); err != nil {
		return 0, err
	}
	l.records++
	return l.records, nil
}

// rollWhenFull begins a new file at a record's start, so that no record spans two files.
func (l *PageLog) rollWhenFull() error {
	if l.series.offset+int64(l.buffer.Buffered()) < l.maxBytes {
		return nil
	}
	if err := l.buffer.Flush(); err != nil {
		return err
	}
	l.series.roll(l.records + 1)
	return nil
}

// Records returns the number of records so far.
func (l *PageLog) Records() uint64 { return l.records }

// mark writes what is buffered. An error is a *WriteError, and final.
func (l *PageLog) mark() (PageMark, error) {
	if err := l.buffer.Flush(); err != nil {
		return PageMark{}, err
	}
	return PageMark{Position: l.series.position(), Records: l.records}, nil
}

func (l *PageLog) close() error { return l.series.close() }

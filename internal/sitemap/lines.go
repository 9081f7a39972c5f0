package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"time"

	"crawl/canon"
)

// maxLine is the longest line of a text sitemap that can be a URL.
const maxLine = 32 << 10

// readLines reads a text sitemap: one absolute URL a line, in whatever kind of line ends; comments and blank lines say
// nothing. A file whose first line is no URL is something else.
func (l *list) readLines(text *bufio.Reader) error {
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	lines.Split(splitLines)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if err := l.add(Page, canon.URL{}, string(line), time.Time{}); err != nil {
			return err
		}
		if l.sum.Entries == 0 {
			l.sum = Summary{}
			return ErrForeign
		}
	}
	if err := lines.Err(); err != nil || l.sum.Entries > 0 {
		return err
	}
	return ErrForeign
}

// splitLines is a bufio.SplitFunc for lines that end in CR, LF or both. It passes over the rest of a line that is longer
// than the buffer in pieces, none of which is a URL.
func splitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexAny(data, "\r\n"); i >= 0 {
		return i + 1, data[:i], nil
	}
	switch {
	case len(data) >= maxLine:
		return len(data), nil, nil
	case atEOF && len(data) > 0:
		return len(data), data, nil
	case atEOF:
		return 0, nil, io.EOF
	}
	return 0, nil, nil
}

// Package sitemap reads lists of pages that a site keeps for crawlers: sitemaps and their indexes (sitemaps.org protocol
// 0.9, as XML or as text), and feeds (RSS 0.9 to 2.0, Atom).
//
// It reads what is there, not what ought to be: any namespace or none, a file that is gzipped whatever it is called, text
// that is not escaped, bytes that are not in the encoding they claim, elements that are never closed, dates that are none.
// A file that is cut or broken gives what stands before the fault. Only the addresses of pages count: those of images,
// videos and other extensions do not.
//
// The price: one pass without a tree, so that memory is that of one element, and no validation. Nothing tells whether a
// site may list a page of another one: the crawl's scope does.
package sitemap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"crawl/canon"
)

// The protocol's limits for one file. What is beyond MaxEntries is counted and left out, what is beyond MaxBytes, once
// decompressed, is not read.
const (
	MaxEntries = 50_000
	MaxBytes   = 50 << 20
)

var (
	// ErrForeign says that a file is no sitemap and no feed.
	ErrForeign = errors.New("neither a sitemap nor a feed")

	// ErrTooLong says that a file has more than MaxBytes.
	ErrTooLong = fmt.Errorf("longer than %d bytes", MaxBytes)
)

// Kind says what an entry leads to.
type Kind uint8

// The kinds.
const (
	Page    Kind = iota // a page
	Sitemap             // a further sitemap, named by an index
	Feed                // the next part of a feed (RFC 5005, section 3)
)

// String returns the kind in a word: url, sitemap, feed.
func (k Kind) String() string { return [...]string{"url", "sitemap", "feed"}[k] }

// Entry is what one element of a list leads to.
type Entry struct {
	URL     canon.URL
	Kind    Kind
	LastMod time.Time // when it last changed; zero where the list does not say, or not in a way that can be read
}

// Input is a file as it was fetched.
type Input struct {
	URL         canon.URL    // the file's own
	ContentType string       // its charset counts, its media type does not
	Body        io.Reader    // free of content codings
	Rules       *canon.Rules // nil: the safe rules
}

// Summary counts what gave no entry.
type Summary struct {
	Entries     int // that were given
	Malformed   int // no URL
	Unsupported int // a scheme other than http and https
	Beyond      int // past MaxEntries
}

// Read gives the entries of a file to yield, in their order and as often as they stand there, until that returns false.
// An error says why the file was not read to its end, or why nothing of it was: ErrForeign, ErrTooLong, or what reading
// Body failed with. The entries before it count.
func Read(in Input, yield func(Entry) bool) (Summary, error) {
	l := &list{in: in, base: in.URL, yield: yield}
	plain, err := unwrap(in.Body)
	if err != nil {
		return l.sum, err
	}
	text := decoded(plain, in.ContentType)
	if isXML(text) {
		err = l.readXML(text)
	} else {
		err = l.readLines(text)
	}
	if errors.Is(err, errStopped) {
		err = nil
	}
	return l.sum, err
}

// errStopped ends reading because yield wants no more.
var errStopped = errors.New("stopped")

// isXML reports whether the first character that is no white space opens a tag. It passes over the white space.
func isXML(text *bufio.Reader) bool {
	for {
		head, err := text.Peek(1)
		switch {
		case err != nil:
			return false
		case strings.IndexByte(space, head[0]) < 0:
			return head[0] == '<'
		}
		text.Discard(1)
	}
}

// space is what XML takes for white space.
const space = " \t\r\n"

// list is a file under way.
type list struct {
	in    Input
	base  canon.URL
	yield func(Entry) bool
	sum   Summary
}

// add gives one entry on, or counts why there is none.
func (l *list) add(kind Kind, base canon.URL, ref string, lastMod time.Time) error {
	ref = strings.Trim(ref, space)
	if ref == "" {
		return nil // an element without content says nothing
	}
	if l.sum.Entries == MaxEntries {
		l.sum.Beyond++
		return nil
	}
	u, err := l.in.Rules.Parse(base, ref)
	if err != nil {
		if e, ok := errors.AsType[*canon.Error](err); ok && e.Reason == canon.UnsupportedScheme {
			l.sum.Unsupported++
		} else {
			l.sum.Malformed++
		}
		return nil
	}
	l.sum.Entries++
	if !l.yield(Entry{URL: u, Kind: kind, LastMod: lastMod}) {
		return errStopped
	}
	return nil
}

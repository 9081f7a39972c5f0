package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"syscall"

	"crawl/store"
)

// errClosedPipe: who read our output has gone. That is a clean end.
var errClosedPipe = errors.New("standard output was closed")

// printer streams page records to standard output: as they are committed, or as checkpoints make them safe.
type printer struct {
	what string // urls or pages
	wake chan struct{}

	mu     sync.Mutex // guards all below
	out    *bufio.Writer
	broken error
}

func newPrinter(out io.Writer, what string) *printer {
	return &printer{what: what, wake: make(chan struct{}, 1), out: bufio.NewWriter(out)}
}

// page prints a record at its commit.
func (p *printer) page(page *store.Page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		p.broken = p.write(page)
	}
	if p.broken == nil {
		p.broken = closedPipe(p.out.Flush())
	}
	if p.broken != nil {
		p.nudge()
	}
}

// checkpoint notes that more records are safe.
func (p *printer) checkpoint(store.Cut) { p.nudge() }

func (p *printer) nudge() {
	select {
	case p.wake <- struct{}{}:
	default: // it is awake already
	}
}

// watch returns errClosedPipe as soon as page finds that nobody reads.
func (p *printer) watch(over <-chan struct{}) error {
	select {
	case <-p.wake:
	case <-over:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}

// follow prints the records after the given one as checkpoints hold them, until over.
func (p *printer) follow(dir string, after uint64, over <-chan struct{}) error {
	reader, err := store.OpenReader(dir)
	if err != nil {
		return err
	}
	for ended := false; !ended; {
		select {
		case <-p.wake:
		case <-over:
			ended = true
		}
		if after, err = p.printAfter(reader, after); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) printAfter(reader *store.Reader, after uint64) (uint64, error) {
	if err := reader.Refresh(); err != nil {
		return after, err
	}
	for page, err := range reader.Pages(context.Background(), store.Query{After: after}) {
		if err != nil {
			return after, err
		}
		if err := p.write(page); err != nil {
			return after, err
		}
		after = page.Record
	}
	return after, closedPipe(p.out.Flush())
}

// write prints a record. Of urls it prints what was fetched: a page that robots.txt forbids, or that gave no answer, is
// among the records alone.
func (p *printer) write(page *store.Page) error {
	if p.what == "urls" {
		if page.Status == 0 {
			return nil
		}
		_, err := p.out.WriteString(page.URL + "\n")
		return closedPipe(err)
	}
	return closedPipe(json.NewEncoder(p.out).Encode(page))
}

// closedPipe tells a reader that has gone from a disk that is full.
func closedPipe(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return errClosedPipe
	}
	return err
}

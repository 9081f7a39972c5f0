package main

import (
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"crawl/canon"
	"crawl/crawler"
)

// seedSource is where a new crawl's seeds come from.
type seedSource struct {
	file  string // "-" is standard input, "" none
	urls  []string
	stdin io.Reader
}

// seedsOf decides: a file, the command line, both, or else what is piped in.
func (a *app) seedsOf(file string, urls []string) (seedSource, error) {
	if file == "" && len(urls) == 0 {
		if isTerminal(a.stdin) {
			return seedSource{}, usagef("no seeds: name URLs, or a file of them with --seeds FILE")
		}
		file = "-"
	}
	return seedSource{file: file, urls: urls, stdin: a.stdin}, nil
}

// open returns the seeds and what closes them. The file is opened at once, so that a wrong name is told before anything
// is made.
func (s seedSource) open() (iter.Seq2[crawler.Seed, error], io.Closer, error) {
	in, closer := io.Reader(strings.NewReader("")), io.NopCloser(nil)
	switch s.file {
	case "":
	case "-":
		in = s.stdin
	default:
		f, err := os.Open(s.file)
		if err != nil {
			return nil, nil, &usageError{err}
		}
		in, closer = f, f
	}
	return func(yield func(crawler.Seed, error) bool) {
		for _, url := range s.urls {
			if !yield(crawler.Seed{URL: url}, nil) {
				return
			}
		}
		for seed, err := range crawler.ReadSeeds(in) {
			if !yield(seed, err) {
				return
			}
		}
	}, closer, nil
}

// name returns what a crawl of these seeds is called: the file's base name or the first seed's host.
func (s seedSource) name() string {
	if s.file != "" && s.file != "-" {
		base := filepath.Base(s.file)
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	for _, text := range s.urls {
		if !strings.Contains(text, "://") {
			text = "https://" + text
		}
		if u, err := canon.Parse(text); err == nil {
			return u.Hostname()
		}
	}
	return "stdin"
}

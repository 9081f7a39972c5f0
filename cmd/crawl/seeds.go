package main

import (
	"cmp"
	"errors"
	"fmt"
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

	implied bool // standard input, since nothing else was named
}

// howToSeed is how a crawl is given its seeds.
const howToSeed = "name URLs, as in crawl run https://example.org/, or a file of them with --seeds FILE"

// none adds to crawler.ErrNoSeed where the seeds were looked for, and how they are given.
func (s seedSource) none(err error) error {
	switch {
	case s.implied:
		return usagef("no seeds: %s; standard input has none", howToSeed)
	case s.file == "-":
		return fmt.Errorf("%w in standard input", err)
	case s.file != "":
		return fmt.Errorf("%w in %s", err, s.file)
	}
	return err
}

// seedsOf decides: a file, the command line, both, or else what is piped in.
func (a *app) seedsOf(file string, urls []string) (seedSource, error) {
	if file == "" && len(urls) == 0 {
		if isTerminal(a.stdin) {
			return seedSource{}, usagef("no seeds: %s", howToSeed)
		}
		return seedSource{file: "-", stdin: a.stdin, implied: true}, nil
	}
	if file == "" && len(urls) == 1 && urls[0] == "-" { // as `crawl add -`
		file, urls = "-", nil
	}
	for _, url := range urls {
		if url == "true" || url == "false" {
			return seedSource{}, switchedApart(url)
		}
		if info, err := os.Stat(url); err == nil && info.Mode().IsRegular() && !strings.Contains(url, "://") {
			return seedSource{}, usagef("%s is a file: name it with --seeds %s, or write https://%s/ for the host of that name", url, url, url)
		}
	}
	return seedSource{file: file, urls: urls, stdin: a.stdin}, nil
}

// switchedApart refuses a seed that was meant for the flag before it: --http2 false is --http2, and a host named false.
func switchedApart(url string) error {
	return usagef("%s is no URL: a switch takes its value behind =, as in --http2=%s; a host of that name is https://%s/", url, url, url)
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
			if _, passedOver := errors.AsType[*crawler.SeedError](err); err != nil && !passedOver {
				err = &usageError{err}
			}
			if !yield(seed, err) {
				return
			}
		}
	}, closer, nil
}

// fits refuses a directory that cannot take these seeds.
func (s seedSource) fits(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil // it is made
	}
	if !info.IsDir() {
		return usagef("%s is no directory: name another --dir", dir)
	}
	given, err := os.Stat(s.file)
	if err != nil {
		return nil // opening it says more
	}
	if kept, err := os.Stat(filepath.Join(dir, "seeds")); err == nil && os.SameFile(given, kept) {
		return usagef("%s is where the crawl keeps its own copy of the seeds: name another --seeds or --dir", s.file)
	}
	return nil
}

// name returns what a crawl of these seeds is called: the file's base name or the first seed's host.
func (s seedSource) name() string {
	if s.file != "" && s.file != "-" {
		base := filepath.Base(s.file)
		return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), "seeds")
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

package main

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"crawl/crawler"
	"crawl/store"
)

func TestExitCodes(t *testing.T) {
	notMade := func(file string, cause error) error {
		return &store.WriteError{File: file, Err: &fs.PathError{Op: "mkdir", Path: file, Err: cause}}
	}
	for _, tt := range []struct {
		name string
		err  error
		want int
	}{
		{"no space for too long", &crawler.SpaceError{Dir: "a.crawl"}, exitDisk},
		{"read-only disk", fmt.Errorf("lock a.crawl: %w", syscall.EROFS), exitDisk},
		{"damaged", fmt.Errorf("a.crawl %w", errDamaged), exitDisk},
		{"files of others", fmt.Errorf("a.crawl/log %w", store.ErrForeign), exitUsage},
		{"no permission for the directory", notMade("b/a.crawl", syscall.EACCES), exitUsage},
		{"a file above the directory", notMade("b", syscall.ENOTDIR), exitUsage},
		{"no room for the directory", notMade("b/a.crawl", syscall.ENOSPC), exitDisk},
		{"a promise to a host", &crawler.PromiseError{Host: "a.example"}, exitFailed},
		{"no permission within the directory", notMade("b/a.crawl/log", syscall.EACCES), exitDisk},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := codeOf(explain(tt.err, "b/a.crawl")); got != tt.want {
				t.Errorf("%v exits with %d, want %d", tt.err, got, tt.want)
			}
		})
	}
}

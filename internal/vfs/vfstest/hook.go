package vfstest

import (
	"sync/atomic"

	"crawl/internal/vfs"
)

// Hook is a file system that looks at every call that changes something.
type Hook struct {
	vfs.FS
	calls atomic.Int64
}

// NewHook returns fsys with before called before, and after called after, each call that changes something; either may be
// nil. They are called by whoever makes the call, with no lock held, and may use fsys.
func NewHook(fsys vfs.FS, before func(Op), after func(Op, error)) *Hook {
	h := &Hook{}
	h.FS = &tap{fs: fsys, around: func(kind Kind, name string, size int, do func(int) error) error {
		if kind.reads() {
			return do(size)
		}
		op := Op{Kind: kind, Name: name, N: int(h.calls.Add(1))}
		if before != nil {
			before(op)
		}
		err := do(size)
		if after != nil {
			after(op, err)
		}
		return err
	}}
	return h
}

// Calls returns how many calls began so far that change something.
func (h *Hook) Calls() int { return int(h.calls.Load()) }

package vfstest

import (
	"io/fs"
	"sync"

	"crawl/internal/vfs"
)

// Failure says which call fails, and how. Calls are counted from 1, those that change something, or with Reading those that
// only read.
type Failure struct {
	N       int // 0: none fails
	Err     error
	Forever bool    // all calls from the N-th on fail, not it alone
	Reading bool    // count and fail reading calls
	Part    float64 // how much of its bytes a failing Write writes, from 0 to 1

	// Only, when not nil, chooses the calls that count. The Op's N counts all of their sort.
	Only func(Op) bool
}

// Fail is a file system in which a chosen call fails. It then does nothing, but for a Write's Part. Its error is an
// *fs.PathError or *os.LinkError with Failure.Err, as package os would have it.
type Fail struct {
	vfs.FS
	failure Failure

	mu     sync.Mutex // guards all below
	all    int        // calls of the counted sort
	calls  int        // of them, those that Only chose
	failed *Op        // the first that failed
}

// NewFail returns fsys with a call that fails.
func NewFail(fsys vfs.FS, failure Failure) *Fail {
	f := &Fail{failure: failure}
	f.FS = &tap{fs: fsys, around: f.call}
	return f
}

// Calls returns how many calls were counted so far.
func (f *Fail) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Failed returns the first call that failed, if any has.
func (f *Fail) Failed() (Op, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		return Op{}, false
	}
	return *f.failed, true
}

func (f *Fail) call(kind Kind, name string, size int, do func(int) error) error {
	if kind.reads() != f.failure.Reading || !f.fails(kind, name) {
		return do(size)
	}
	if n := part(f.failure.Part, size); n > 0 {
		if err := do(n); err != nil {
			return err
		}
	}
	return &fs.PathError{Op: string(kind), Path: name, Err: f.failure.Err}
}

// fails counts a call.
func (f *Fail) fails(kind Kind, name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all++
	op := Op{Kind: kind, Name: name, N: f.all}
	if f.failure.Only != nil && !f.failure.Only(op) {
		return false
	}
	f.calls++
	n := f.failure.N
	if n == 0 || f.calls < n || f.calls > n && !f.failure.Forever {
		return false
	}
	if f.failed == nil {
		f.failed = &op
	}
	return true
}

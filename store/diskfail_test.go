package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"crawl/internal/vfs/vfstest"
)

// Whichever call fails that changes something, with a full disk or a broken one: the caller gets a *WriteError with the
// cause, no later checkpoint is tried, and what opens again is exactly the last checkpoint that reached state.db.
func TestEachCallFails(t *testing.T) {
	l := newLife(t)
	for _, tt := range []struct {
		name    string
		failure vfstest.Failure
		first   int // call that fails, in short runs
	}{
		{"full", vfstest.Failure{Err: syscall.ENOSPC, Part: 0.5}, 1},
		{"broken", vfstest.Failure{Err: syscall.EIO, Forever: true}, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first, step, calls := 1, 1, 0
			if testing.Short() {
				first, step = tt.first, 9
			}
			for n := first; ; n += step {
				tt.failure.N = n
				dir := filepath.Join(memoryDir(t), "a.crawl")
				failing := vfstest.NewFail(unsynced(), tt.failure)
				err := l.failedLife(dir, failing, tt.failure.Err)
				op, failed := failing.Failed()
				if err != nil {
					t.Errorf("call %d, %s of %s: %v", n, op.Kind, op.Name, err)
				}
				if !failed {
					calls = failing.Calls()
					break
				}
			}
			if calls < 100 {
				t.Errorf("a life is only %d calls long", calls)
			}
		})
	}
}

// failedLife lives a life in which a call fails, and says what is wrong with what comes of it.
func (l *life) failedLife(dir string, failing *vfstest.Fail, cause error) error {
	l = l.again()
	err := l.live(dir, failing)
	if _, failed := failing.Failed(); !failed {
		return err
	}
	if _, ok := errors.AsType[*WriteError](err); !ok || !errors.Is(err, cause) {
		return fmt.Errorf("the error is %v, want a *WriteError with %v", err, cause)
	}
	stands := l.committed
	if l.store != nil {
		p, err := l.store.state.point()
		if err != nil {
			return err
		}
		stands = int(p.Number)
		if _, again := l.store.Prepare(nil, "never seen"); !errors.Is(again, cause) {
			return fmt.Errorf("the next checkpoint says %v, want the cause", again)
		}
		_ = l.store.Close() // says what it could not close
	}
	number, err := l.lost(dir, l.committed)
	if err == nil && number != stands && l.committed > 0 {
		err = fmt.Errorf("checkpoint %d stands, and %d opens", stands, number)
	}
	return err
}

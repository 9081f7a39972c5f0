package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// A write error names its file once, whatever the error under it says.
func TestWriteErrorNamesItsFileOnce(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("full"), "write a/x: full"},
		{&fs.PathError{Op: "write", Path: "a/x", Err: syscall.ENOSPC}, "write a/x: no space left on device"},
		{&fs.PathError{Op: "sync", Path: "a/x", Err: syscall.EIO}, "write a/x: sync: input/output error"},
		{&fs.PathError{Op: "open", Path: "a/x.new", Err: syscall.EROFS}, "write a/x: open: read-only file system"},
		{errors.Join(&fs.PathError{Op: "sync", Path: "a/x", Err: syscall.EIO}), "write a/x: sync: input/output error"},
		{fmt.Errorf("open a/x: %w", &fs.PathError{Op: "open", Path: "a/x", Err: syscall.EMFILE}),
			"write a/x: open: too many open files"},
		{&os.LinkError{Op: "rename", Old: "a/x.new", New: "a/x", Err: syscall.EACCES},
			"write a/x: rename: permission denied"},
	} {
		err := &WriteError{File: "a/x", Err: tt.err}
		if got := err.Error(); got != tt.want {
			t.Errorf("%v reads %q, want %q", tt.err, got, tt.want)
		}
		if !errors.Is(err, tt.err) {
			t.Errorf("%v is lost", tt.err)
		}
	}
}

package vfstest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"crawl/internal/vfs"
)

// story makes each call that changes something once.
const story = "mkdir d\nwrite d/a 123456\nsync d/a\ncut d/a 3\nrename d/a d/b\nsyncdir d\nremove d/b"

var storyCalls = []string{
	"1 mkdir d", "2 create d/a", "3 write d/a", "4 sync d/a", "5 truncate d/a", "6 rename d/b", "7 syncdir d", "8 remove d/b",
}

func TestHook(t *testing.T) {
	root := t.TempDir()
	var before, after []string
	text := func(op Op) string {
		name, _ := filepath.Rel(root, op.Name)
		return fmt.Sprintf("%d %s %s", op.N, op.Kind, filepath.ToSlash(name))
	}
	h := NewHook(vfs.OS{}, func(op Op) { before = append(before, text(op)) }, func(op Op, err error) {
		if err != nil {
			after = append(after, "failed:")
		}
		after = append(after, text(op))
	})
	script(t, h, root, story)
	if !slices.Equal(before, storyCalls) || !slices.Equal(after, storyCalls) || h.Calls() != len(storyCalls) {
		t.Errorf("met %q and %q, %d calls, want %q", before, after, h.Calls(), storyCalls)
	}
	before, after = nil, nil
	if err := h.Remove(filepath.Join(root, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removal of nothing says %v", err)
	}
	if want := []string{"failed:", "9 remove none"}; !slices.Equal(after, want) {
		t.Errorf("met %q, want %q", after, want)
	}
	readAll(t, h, root)
	if h.Calls() != 9 {
		t.Errorf("%d calls: reading counts", h.Calls())
	}
	script(t, NewHook(vfs.OS{}, nil, nil), root, "write x 1")
}

// readAll makes each call that only reads once, but for Free, and returns their errors.
func readAll(t *testing.T, fsys vfs.FS, root string) (errs []error) {
	t.Helper()
	name := filepath.Join(root, "read")
	if err := os.WriteFile(name, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.Open(fsys, name)
	errs = append(errs, err)
	if err != nil {
		return errs
	}
	_, readErr := f.Read(make([]byte, 2))
	_, readAtErr := f.ReadAt(make([]byte, 2), 1)
	_, statErr := f.Stat()
	_, nameErr := fsys.Stat(name)
	_, listErr := fsys.ReadDir(root)
	_, freeErr := fsys.Free(root)
	return append(errs, readErr, readAtErr, statErr, nameErr, listErr, freeErr, f.Close())
}

func TestFailEachCall(t *testing.T) {
	for n := range len(storyCalls) {
		root := t.TempDir()
		f := NewFail(vfs.OS{}, Failure{N: n + 1, Err: syscall.ENOSPC})
		failed := 0
		for line := range strings.Lines(story) {
			words := strings.Fields(line)
			if err := step(f, root, filepath.Join(root, words[1]), words); errors.Is(err, syscall.ENOSPC) {
				failed++
				if text := err.Error(); !strings.Contains(text, root) || !strings.HasSuffix(text, ": "+syscall.ENOSPC.Error()) {
					t.Errorf("call %d says %q", n+1, text)
				}
			}
		}
		op, ok := f.Failed()
		if got := fmt.Sprintf("%d %s", op.N, op.Kind); failed != 1 || !ok || !strings.HasPrefix(storyCalls[n], got) {
			t.Errorf("%d calls failed, the first was %q, want %q", failed, got, storyCalls[n])
		}
	}
}

func TestFailForever(t *testing.T) {
	root := t.TempDir()
	f := NewFail(vfs.OS{}, Failure{N: 2, Err: syscall.EROFS, Forever: true})
	script(t, f, root, "mkdir d")
	for range 3 {
		if err := vfs.WriteFile(f, filepath.Join(root, "a"), nil, 0o644); !errors.Is(err, syscall.EROFS) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a call that failed made the file")
	}
	if f.Calls() != 4 {
		t.Errorf("%d calls, want 4", f.Calls())
	}
}

func TestFailWritesAPart(t *testing.T) {
	for part, want := range map[float64]string{0: "", 0.5: "1234", 1: "12345678"} {
		name := filepath.Join(t.TempDir(), "a")
		f := NewFail(vfs.OS{}, Failure{N: 2, Err: syscall.ENOSPC, Part: part})
		file, err := f.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		n, err := file.Write([]byte("12345678"))
		if n != len(want) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("part %v: %d bytes, %v", part, n, err)
		}
		if _, err := file.Write([]byte("!")); err != nil {
			t.Error(err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != want+"!" {
			t.Errorf("part %v leaves %q, %v", part, text, err)
		}
	}
}

func TestFailReading(t *testing.T) {
	root := t.TempDir()
	want := []Kind{Open, Read, Read, Stat, Stat, List}
	for n, kind := range want {
		f := NewFail(vfs.OS{}, Failure{N: n + 1, Err: syscall.EIO, Reading: true})
		errs := readAll(t, f, root)
		for i, err := range errs {
			if got := errors.Is(err, syscall.EIO); got != (i == n) {
				t.Errorf("with call %d failing, call %d says %v", n+1, i+1, err)
			}
		}
		if op, ok := f.Failed(); !ok || op.Kind != kind {
			t.Errorf("call %d is %q, want %q", n+1, op.Kind, kind)
		}
		script(t, f, root, story)
	}
}

func TestFailOnly(t *testing.T) {
	root := t.TempDir()
	f := NewFail(vfs.OS{}, Failure{N: 1, Err: syscall.EIO, Only: func(op Op) bool { return op.Kind == Sync }})
	script(t, f, root, "write a 1\nwrite b 2")
	words := []string{"sync", "b"}
	if err := step(f, root, filepath.Join(root, "b"), words); !errors.Is(err, syscall.EIO) {
		t.Errorf("the sync says %v", err)
	}
	if op, _ := f.Failed(); op.N != 5 || f.Calls() != 1 {
		t.Errorf("call %d failed, want 5; %d were chosen", op.N, f.Calls())
	}
}

func TestIgnore(t *testing.T) {
	c, root := newCrash(t)
	fsys := Ignore(c, func(op Op) bool { return filepath.Base(op.Name) == "a" || op.N > 3 })
	script(t, fsys, root, "write a 1\nwrite b 2\nsync a\nsync b\nsyncdir .\nwrite c 3\nsyncdir .")
	if got, want := clone(t, c, nothing), "a= b=2 old=o1"; got != want {
		t.Errorf("a power cut leaves %q, want %q", got, want)
	}
}

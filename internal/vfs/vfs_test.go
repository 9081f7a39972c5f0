package vfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// OS does what package os does, and a failed open gives no File that is not nil.
func TestOS(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	var fsys FS = OS{}
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "x")
	if f, err := Open(fsys, name); f != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there opens as %v, %v", f, err)
	}
	if err := WriteFile(fsys, name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, writeErr := f.Write([]byte("T"))
	_, seekErr := f.Seek(0, io.SeekStart)
	text, readErr := io.ReadAll(f)
	if err := errors.Join(writeErr, seekErr, readErr, f.Truncate(3), f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if string(text) != "Text" {
		t.Errorf("read %q", text)
	}
	if err := errors.Join(fsys.Rename(name, name+"2"), fsys.SyncDir(dir)); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadFile(fsys, name+"2"); err != nil || string(text) != "Tex" {
		t.Errorf("the file reads %q, %v", text, err)
	}
	info, err := fsys.Stat(name + "2")
	if err != nil || info.Size() != 3 {
		t.Errorf("Stat says %v, %v", info, err)
	}
	if entries, err := fsys.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "x2" {
		t.Errorf("the folder lists %v, %v", entries, err)
	}
	if err := fsys.Remove(name + "2"); err != nil {
		t.Error(err)
	}
	if err := fsys.SyncDir(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the sync of a folder that is not there says %v", err)
	}
	if free, err := fsys.Free(dir); err != nil || free == 0 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	if _, err := fsys.Free(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Free of a path that is not there says %v", err)
	}
}

// ReadFile reads files of all lengths, also one that is shorter by the time it is read.
func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	for _, n := range []int{0, 1, 4096, 100_000} {
		want := bytes.Repeat([]byte("y"), n)
		if err := WriteFile(OS{}, name, want, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(OS{}, name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes read as %d, %v", n, len(got), err)
		}
	}
	if got, err := ReadFile(shrinking{}, name); err != nil || len(got) != 50_000 {
		t.Errorf("a file that is cut meanwhile reads as %d bytes, %v", len(got), err)
	}
	if _, err := ReadFile(OS{}, filepath.Dir(name)); err == nil {
		t.Error("a folder reads as a file")
	}
}

// shrinking cuts a file between its Stat and its first Read.
type shrinking struct{ OS }

func (s shrinking) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := s.OS.OpenFile(name, os.O_RDWR, perm)
	return shrinkingFile{f}, err
}

type shrinkingFile struct{ File }

func (f shrinkingFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return info, errors.Join(err, f.Truncate(50_000))
}

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// One has the lock; who gives it up leaves a file only where there was one.
func TestStateLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	first, err := lockState(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockState(path); err == nil {
		t.Error("it is locked twice")
	}
	if err := first.undo(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after undo: %v", err)
	}
	second, err := lockState(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	third, err := lockState(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := third.undo(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Errorf("the lock of the run before is gone: %v", err)
	}
}

package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"one", "two, longer", ""} {
		if err := WriteWhole(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(got) != text || info.Mode().Perm() != 0o600 {
			t.Errorf("got %q, %v, %v, want %q for its owner only", got, err, statErr, text)
		}
	}
	if err := os.Mkdir(path+".d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path+".d", "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := WriteWhole(path+".d", []byte("over a directory"), 0o600)
	if w, ok := errors.AsType[*WriteError](err); !ok || w.File != path+".d" {
		t.Errorf("got %v, want a *WriteError that names the file", err)
	}
	if _, err := os.Stat(path + ".d.new"); err == nil {
		t.Error("a failed write leaves its partial file")
	}
}

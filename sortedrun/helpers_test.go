package sortedrun

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

type entry struct{ key, value, note []byte }

// build returns a run of the entries.
func build(t testing.TB, o Options, entries []entry) []byte {
	t.Helper()
	var file bytes.Buffer
	w := NewWriter(&file, o)
	for _, e := range entries {
		if err := w.AddNoted(e.key, e.note, e.value); err != nil {
			t.Fatal(err)
		}
	}
	info, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if want := (Info{Entries: uint64(len(entries)), Bytes: int64(file.Len())}); info != want {
		t.Fatalf("Finish: %+v, want %+v", info, want)
	}
	return file.Bytes()
}

// open opens a run in memory.
func open(t testing.TB, file []byte) *Run {
	t.Helper()
	r, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// openFile opens a run in a file.
func openFile(t testing.TB, content []byte) *Run {
	t.Helper()
	name := filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r, err := Open(f, int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

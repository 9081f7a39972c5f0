package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// createSteps are what Create does, a step at a time. Before the last one the directory holds no crawl.
func createSteps(t *testing.T, dir string) []func() error {
	s := &Store{dir: onDisk(dir), state: newState(onDisk(dir))}
	t.Cleanup(func() {
		if s.lock != nil {
			_ = s.Close()
		}
	})
	return []func() error{
		func() (err error) {
			s.lock, err = s.dir.claim()
			return err
		},
		func() error {
			f, err := s.dir.writeFormat()
			s.crawlID = f.CrawlID
			return err
		},
		func() error { return s.openFiles(small, point{}) },
		s.state.begin,
		func() error {
			first, err := s.Prepare([]Row{{"row", []byte("of a killed run")}}, "books of a killed run")
			if err != nil {
				return err
			}
			return first.Commit()
		},
		func() error {
			return os.WriteFile(filepath.Join(s.dir.log(), "0000000000.log"), []byte("rubbish"), 0o644)
		},
		func() error { return os.WriteFile(s.dir.seenDB(), []byte("rubbish"), 0o644) },
	}
}

// A Create that is killed before state.db appears leaves no crawl, and its directory can be used.
func TestKilledCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "killed.crawl")
	for i, step := range createSteps(t, dir) {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		left := copyDir(t, dir)
		if Holds(left) {
			t.Errorf("after step %d the directory holds a crawl", i)
		}
		if _, err := Open(left, small); !errors.Is(err, ErrNotCrawl) {
			t.Errorf("after step %d Open says %v, want ErrNotCrawl", i, err)
		}
		if _, err := OpenReader(left); !errors.Is(err, ErrNotCrawl) {
			t.Errorf("after step %d OpenReader says %v, want ErrNotCrawl", i, err)
		}
		s, err := createOf(left, small, nil, 0)
		if err != nil {
			t.Errorf("after step %d: %v", i, err)
			continue
		}
		newModel().check(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		newModel().check(t, open(t, left, small))
		if found, err := s.Filter().Read(nil, nil); found || err != nil {
			t.Errorf("after step %d a filter is found: %v", i, err)
		}
	}
}

// What an unfinished run left is removed; all else in the directory stays.
func TestCreateRemovesOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	ours := []string{"seen.db", "log/0000000005.log", "done/0000000000.log", "state.db.new"}
	others := []string{
		"notes.txt", "pages/0000000001.bak", "pages/1.jsonl", "log/0000000005.jsonl", "log/0000000005.log.gz",
		"log/x000000005.log", "pages/00000000001.jsonl", "log/0000000005",
	}
	for _, name := range append(ours, others...) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "pages", "0000000003.jsonl"), 0o755); err != nil { // no file of ours
		t.Fatal(err)
	}
	if _, err := onDisk(dir).writeFormat(); err != nil { // which an unfinished run wrote before them
		t.Fatal(err)
	}
	s, err := createOf(dir, small, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	newModel().check(t, open(t, dir, small))
	for _, name := range others {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != name {
			t.Errorf("%s is gone or changed: %q, %v", name, text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pages", "0000000003.jsonl")); err != nil {
		t.Error(err)
	}
	for _, name := range ours {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there: %q", name, text)
		}
	}
}

// A file in the place of a crawl's that no crawl made is neither written over nor removed.
func TestCreateRefusesForeignFiles(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"seeds", "tomato"},
		{"config.yaml", "theme: dark"},
		{"control", "knobs"},
		{"checkpoint", "of a game"},
		{"seen.db", "birds"},
		{"state.db.new", "of another program"},
		{"log/0000000005.log", "of a server"},
		{"log/0000000005.tail", "of a cat"},
		{"done/0000000000.log", "of a server"},
		{"pages/0000000001.jsonl", "{}"},
		{"format.json", "{}"},
		{"format.json", versioned(formatVersion, "")},
		{"format.json", "tabs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, tt.name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := createOf(dir, small, nil, 0)
			if !errors.Is(err, ErrForeign) || !strings.HasPrefix(err.Error(), path+" ") {
				t.Errorf("Create says %v, want ErrForeign with the name of %s", err, path)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != tt.text {
				t.Errorf("%s is gone or changed: %q, %v", tt.name, text, err)
			}
		})
	}
}

// What an unfinished run of a newer program left may be under names that this one does not know.
func TestCreateAfterUnfinishedRunOfNewerVersion(t *testing.T) {
	dir := t.TempDir()
	text := []byte(`{"version":99,"crawl_id":"X"}`)
	if err := os.WriteFile(onDisk(dir).format(), text, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := createOf(dir, small, nil, 0)
	if v, ok := errors.AsType[*VersionError](err); !ok || v.Got != 99 {
		t.Errorf("got %v, want a *VersionError for 99", err)
	}
}

func TestCreateKeepsRowsAndBooks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	s, err := createOf(dir, small, []Row{{"a", []byte("b")}}, map[string]int{"pages": 7})
	if err != nil {
		t.Fatal(err)
	}
	check := func(s *Store) {
		t.Helper()
		rows := 0
		err := s.Rows("", func(key string, value []byte) error {
			rows++
			if key != "a" || string(value) != "b" {
				t.Errorf("row %s: %s", key, value)
			}
			return nil
		})
		if err != nil || rows != 1 || string(s.Last().Books) != `{"pages":7}` || s.Last().Number != 1 || s.Dir() != dir {
			t.Errorf("%d rows, %v, books %s, checkpoint %d", rows, err, s.Last().Books, s.Last().Number)
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(open(t, dir, small))
}

// What fill makes is part of the new crawl; when it fails there is none, and nobody else can begin one meanwhile.
func TestCreateFills(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	broken := errors.New("no seeds")
	_, err := Create(dir, small, func() ([]Row, any, error) { return nil, nil, broken })
	if !errors.Is(err, broken) || Holds(dir) {
		t.Errorf("a state that cannot be made gives %v, and a crawl: %t", err, Holds(dir))
	}
	s, err := Create(dir, small, func() ([]Row, any, error) {
		if _, err := createOf(dir, small, nil, 0); err == nil {
			t.Error("another Create comes between")
		}
		return []Row{{"a", []byte("b")}}, 7, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := newModel()
	want.rows["a"], want.books = "b", 7
	want.check(t, open(t, dir, small))
}

func TestExistsAndNotCrawl(t *testing.T) {
	s := create(t, small)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := sizes(t, s.Dir())
	if _, err := createOf(s.Dir(), small, nil, 0); !errors.Is(err, ErrExists) {
		t.Errorf("Create over a crawl says %v, want ErrExists", err)
	}
	if after := sizes(t, s.Dir()); after != before {
		t.Errorf("a refused Create leaves %s, want %s", after, before)
	}
	empty := t.TempDir()
	for _, dir := range []string{empty, filepath.Join(empty, "none")} {
		if _, err := Open(dir, small); !errors.Is(err, ErrNotCrawl) {
			t.Errorf("Open says %v, want ErrNotCrawl", err)
		}
		if _, err := OpenReader(dir); !errors.Is(err, ErrNotCrawl) {
			t.Errorf("OpenReader says %v, want ErrNotCrawl", err)
		}
		if _, err := ReadFormat(dir); !errors.Is(err, ErrNotCrawl) || Holds(dir) {
			t.Errorf("ReadFormat says %v, want ErrNotCrawl", err)
		}
	}
	if text := sizes(t, empty); text != "" {
		t.Errorf("looking for a crawl made %s", text)
	}
}

// A crawl that has lost its state.db is neither opened nor overwritten.
func TestLostState(t *testing.T) {
	s, m := create(t, small), newModel()
	m.commit(t, s, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.dir.stateDB()); err != nil {
		t.Fatal(err)
	}
	before := sizes(t, s.Dir())
	_, err := Open(s.Dir(), small)
	wantDamage(t, err, s.dir.stateDB(), -1)
	_, err = OpenReader(s.Dir())
	wantDamage(t, err, s.dir.stateDB(), -1)
	_, err = createOf(s.Dir(), small, nil, 0)
	wantDamage(t, err, s.dir.stateDB(), -1)
	if after := sizes(t, s.Dir()); after != before {
		t.Errorf("a refusal leaves %s, want %s", after, before)
	}
}

func TestLock(t *testing.T) {
	s := create(t, small)
	for name, try := range map[string]func() (*Store, error){
		"Open":   func() (*Store, error) { return Open(s.Dir(), small) },
		"Create": func() (*Store, error) { return createOf(s.Dir(), small, nil, 0) },
	} {
		_, err := try()
		locked, ok := errors.AsType[*LockedError](err)
		if !ok || locked.Dir != s.Dir() || locked.Holder != fmt.Sprintf("process %d", os.Getpid()) {
			t.Errorf("%s of an open crawl says %v, want a *LockedError that names this process", name, err)
		}
	}
	newModel().commit(t, s, nil) // the refused ones did no harm
	if err := os.Remove(s.dir.lockNote()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.Dir(), small); err == nil || !strings.HasSuffix(err.Error(), "is in use by another process") {
		t.Errorf("without a note Open says %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, s.Dir(), small).Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.dir.lockNote()); err == nil {
		t.Error("the note outlives its holder")
	}
}

// versioned is a format.json.
func versioned(version int, rest string) string {
	return fmt.Sprintf(`{"version":%d%s}`, version, rest)
}

func TestFormat(t *testing.T) {
	s := create(t, small)
	format, err := ReadFormat(s.Dir())
	if err != nil || format.Version != formatVersion || len(format.CrawlID) < 20 {
		t.Errorf("a new crawl has format %+v, %v", format, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text  string
		damaged     bool
		version     int
		errorEnding string
	}{
		{"newer", versioned(formatVersion+1, `,"new":1`), false, formatVersion + 1,
			fmt.Sprintf("has format %d, this program knows %d: use a newer crawl", formatVersion+1, formatVersion)},
		{"older", versioned(1, ""), false, 1,
			fmt.Sprintf("has format 1, this program knows only %d: go on with the version that began it, or begin anew", formatVersion)},
		{"not JSON", `{"version":`, true, 0, ""},
		{"empty", ``, true, 0, ""},
		{"of another crawl", versioned(formatVersion, `,"crawl_id":"X"`), true, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(s.dir.format(), []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Open(s.Dir(), small)
			if tt.damaged {
				wantDamage(t, err, s.dir.format(), -1)
				return
			}
			for _, err := range []error{err, second(OpenReader(s.Dir())), second(ReadFormat(s.Dir()))} {
				v, ok := errors.AsType[*VersionError](err)
				if !ok || v.Got != tt.version || !strings.HasSuffix(err.Error(), tt.errorEnding) {
					t.Errorf("got %v, want a *VersionError for %d", err, tt.version)
				}
			}
		})
	}
	if err := os.Remove(s.dir.format()); err != nil {
		t.Fatal(err)
	}
	_, err = Open(s.Dir(), small)
	wantDamage(t, err, s.dir.format(), -1)
}

func second[T any](_ T, err error) error { return err }

// TestCreateKeepsPageRecords: a crawl that has lost both its checkpoints is no empty place for a new one.
func TestCreateKeepsPageRecords(t *testing.T) {
	dir := t.TempDir()
	s, err := createOf(dir, small, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	record, err := EncodePage(&Page{URL: "https://a.example/"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pages.Append(record); err != nil {
		t.Fatal(err)
	}
	checkpoint(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []string{"state.db", "checkpoint"} {
		if err := os.Remove(filepath.Join(dir, lost)); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(filepath.Join(dir, "pages", "0000000001.jsonl"))
	if err != nil || len(before) == 0 {
		t.Fatalf("%d bytes of page records, %v", len(before), err)
	}
	for name, open := range map[string]func() error{
		"Create": func() error { _, err := createOf(dir, small, nil, nil); return err },
		"Open":   func() error { _, err := Open(dir, small); return err },
	} {
		err := open()
		if _, damaged := errors.AsType[*DamageError](err); !damaged {
			t.Errorf("%s says %v, want a *DamageError", name, err)
		}
	}
	if after, err := os.ReadFile(filepath.Join(dir, "pages", "0000000001.jsonl")); err != nil || string(after) != string(before) {
		t.Errorf("the page records were touched: %v", err)
	}
}

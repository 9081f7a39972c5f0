package vfstest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crawl/internal/vfs"
)

func nothing() float64 { return 0 }
func all() float64     { return 1 }
func half() float64    { return 0.499 }

// script is a small language for what happens to a folder: a line a call.
//
//	write FILE TEXT · append FILE TEXT · at FILE OFFSET TEXT · cut FILE SIZE · sync FILE · rename A B · remove A
//	mkdir DIR · syncdir DIR · outside FILE TEXT (past the Crash)
func script(t testing.TB, fsys vfs.FS, root, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		path := filepath.Join(root, words[1])
		if err := step(fsys, root, path, words); err != nil {
			t.Fatalf("%s: %v", strings.TrimSpace(line), err)
		}
	}
}

func step(fsys vfs.FS, root, path string, words []string) error {
	var number int64
	switch words[0] {
	case "write":
		return vfs.WriteFile(fsys, path, []byte(words[2]), 0o644)
	case "append":
		return with(fsys, path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, func(f vfs.File) error {
			return second(f.Write([]byte(words[2])))
		})
	case "at":
		fmt.Sscan(words[2], &number)
		return with(fsys, path, os.O_RDWR, func(f vfs.File) error {
			_, err := f.Seek(number, io.SeekStart)
			return errors.Join(err, second(f.Write([]byte(words[3]))))
		})
	case "cut":
		fmt.Sscan(words[2], &number)
		return with(fsys, path, os.O_RDWR, func(f vfs.File) error { return f.Truncate(number) })
	case "sync":
		return with(fsys, path, os.O_RDWR, func(f vfs.File) error { return f.Sync() })
	case "rename":
		return fsys.Rename(path, filepath.Join(root, words[2]))
	case "remove":
		return fsys.Remove(path)
	case "mkdir":
		return fsys.MkdirAll(path, 0o755)
	case "syncdir":
		return fsys.SyncDir(path)
	case "outside":
		return os.WriteFile(path, []byte(words[2]), 0o644)
	}
	return fmt.Errorf("no such step: %s", words[0])
}

func with(fsys vfs.FS, path string, flag int, do func(vfs.File) error) error {
	f, err := fsys.OpenFile(path, flag, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

func second[T any](_ T, err error) error { return err }

// tree lists the files and folders under dir as "name=content" and "name/".
func tree(t testing.TB, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			out = append(out, name+"/")
			return nil
		}
		text, err := os.ReadFile(path)
		out = append(out, name+"="+strings.ReplaceAll(string(text), "\x00", "0"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func clone(t testing.TB, c *Crash, keep func() float64) string {
	t.Helper()
	to := t.TempDir()
	if err := c.CloneTo(to, keep); err != nil {
		t.Fatal(err)
	}
	return tree(t, to)
}

func newCrash(t testing.TB) (*Crash, string) {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "old"), []byte("o1"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := NewCrash(root)
	if err != nil {
		t.Fatal(err)
	}
	return c, root
}

func TestCrashKeepsWhatIsDurable(t *testing.T) {
	for _, tt := range []struct {
		name, script       string
		nothing, half, all string
	}{
		{"nothing happened", "", "old=o1", "old=o1", "old=o1"},
		{"a new file has neither name nor bytes", "write a 12345678",
			"old=o1", "old=o1", "a=12345678 old=o1"},
		{"a folder's sync keeps the name", "write a 12345678\nsyncdir .",
			"a= old=o1", "a=1234 old=o1", "a=12345678 old=o1"},
		{"a file's sync keeps the bytes", "write a 12345678\nsync a",
			"old=o1", "old=o1", "a=12345678 old=o1"},
		{"both", "write a 12345678\nsync a\nsyncdir .",
			"a=12345678 old=o1", "a=12345678 old=o1", "a=12345678 old=o1"},
		{"an unsynced tail", "write a 12\nsync a\nsyncdir .\nappend a 3456\nappend a 78",
			"a=12 old=o1", "a=12345 old=o1", "a=12345678 old=o1"},
		{"an overwrite", "at old 0 XY", "old=o1", "old=X1", "old=XY"},
		{"a cut", "cut old 1", "old=o1", "old=o1", "old=o"},
		{"a cut and a tail", "cut old 0\nappend old 789", "old=o1", "old=7", "old=789"},
		{"a cut and a synced tail", "cut old 0\nappend old 789\nsync old", "old=789", "old=789", "old=789"},
		{"an extension", "cut old 4\nsync old", "old=o100", "old=o100", "old=o100"},
		{"a file that is written anew", "write old new", "old=o1", "old=n", "old=new"},
		{"a removal", "remove old", "old=o1", "old=o1", ""},
		{"a synced removal", "remove old\nsyncdir .", "", "", ""},
		{"a whole file that replaces one", "write old.new o2\nsync old.new\nrename old.new old",
			"old=o1", "old=o1 old.new=o2", "old=o2"},
		{"the same, synced", "write old.new o2\nsync old.new\nrename old.new old\nsyncdir .",
			"old=o2", "old=o2", "old=o2"},
		{"the same, only its folder synced", "write old.new o2\nrename old.new old\nsyncdir .",
			"old=", "old=o", "old=o2"},
		{"a name that is used again", "remove old\nwrite old 99\nsync old", "old=o1", "", "old=99"},
		{"folders", "mkdir d/e\nwrite d/e/f 1\nsync d/e/f\nsyncdir d/e\nsyncdir d", "old=o1", "old=o1",
			"d/ d/e/ d/e/f=1 old=o1"},
		{"synced folders", "mkdir d/e\nwrite d/e/f 1\nsync d/e/f\nsyncdir d/e\nsyncdir d\nsyncdir .",
			"d/ d/e/ d/e/f=1 old=o1", "d/ d/e/ d/e/f=1 old=o1", "d/ d/e/ d/e/f=1 old=o1"},
		{"a file of another's", "outside x.db 1", "old=o1 x.db=1", "old=o1 x.db=1", "old=o1 x.db=1"},
		{"its rename", "outside x.db.new 1\nrename x.db.new x.db", "old=o1", "old=o1 x.db.new=1", "old=o1 x.db=1"},
		{"its synced rename, and it is still written", "outside x.db.new 1\nrename x.db.new x.db\nsyncdir .\noutside x.db 2",
			"old=o1 x.db=2", "old=o1 x.db=2", "old=o1 x.db=2"},
		{"its removal", "outside x.db 1\nremove x.db", "old=o1 x.db=1", "old=o1 x.db=1", "old=o1"},
		{"its replacement", "outside x.db.new 1\nrename x.db.new x.db\nsyncdir .\noutside x.db.new 2\nrename x.db.new x.db",
			"old=o1 x.db=1", "old=o1 x.db=1 x.db.new=2", "old=o1 x.db=2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, root := newCrash(t)
			script(t, c, root, tt.script)
			for _, way := range []struct {
				keep func() float64
				want string
			}{{nothing, tt.nothing}, {half, tt.half}, {all, tt.all}} {
				if got := clone(t, c, way.keep); got != way.want {
					t.Errorf("keeping %v leaves %q, want %q", way.keep(), got, way.want)
				}
			}
			if got := tree(t, root); got != tt.all {
				t.Errorf("the folder itself has %q, want %q", got, tt.all)
			}
		})
	}
}

// Bytes that were lost may leave their length. What was durable stays, whatever was to be written over it.
func TestCrashTearsTails(t *testing.T) {
	c, root := newCrash(t)
	c.Torn = true
	script(t, c, root, "at old 0 XYabcdef")
	for _, tt := range []struct {
		draws []float64 // kept, length that stays, zeros or rubbish
		want  string
	}{
		{[]float64{0, 0}, "old=o1"},
		{[]float64{0, 1, 0}, "old=o1000000"},
		{[]float64{0.499, 0.5, 0}, "old=XYab00"},
		{[]float64{1}, "old=XYabcdef"},
	} {
		left := slices.Clone(tt.draws)
		got := clone(t, c, func() float64 {
			draw := left[0]
			left = left[1:]
			return draw
		})
		if got != tt.want || len(left) > 0 {
			t.Errorf("draws %v leave %q, want %q; unused draws: %v", tt.draws, got, tt.want, left)
		}
	}
	draws := []float64{0, 1, 1}
	to := t.TempDir()
	err := c.CloneTo(to, func() float64 { d := draws[0]; draws = draws[1:]; return d })
	text, readErr := os.ReadFile(filepath.Join(to, "old"))
	if err := errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	if len(text) != 8 || string(text[:2]) != "o1" || strings.ContainsAny(string(text[2:]), "abcdef\x00") {
		t.Errorf("rubbish reads %q", text)
	}
}

// Reading and writing through one handle share one place, and a second handle's Sync counts for all.
func TestCrashFilePlaces(t *testing.T) {
	c, root := newCrash(t)
	name := filepath.Join(root, "old")
	f, err := c.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(f, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("23")); err != nil {
		t.Fatal(err)
	}
	if got := clone(t, c, nothing); got != "old=o1" {
		t.Errorf("before the sync: %q", got)
	}
	script(t, c, root, "sync old")
	if got := clone(t, c, nothing); got != "old=o23" {
		t.Errorf("after the sync: %q", got)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Sync of a closed file says %v", err)
	}
	if f, err := vfs.Open(c, name); err != nil || f.Name() != name || f.Close() != nil {
		t.Errorf("a file opened for reading: %v", err)
	}
}

func TestCrashRefuses(t *testing.T) {
	c, root := newCrash(t)
	script(t, c, root, "mkdir d\nwrite d/f 1")
	away := filepath.Join(t.TempDir(), "away")
	for what, tt := range map[string]struct{ got, want error }{
		"a path outside":          {vfs.WriteFile(c, away, nil, 0o644), fs.ErrInvalid},
		"a folder outside":        {c.MkdirAll(away, 0o755), fs.ErrInvalid},
		"a rename across folders": {c.Rename(filepath.Join(root, "old"), filepath.Join(root, "d", "old")), errors.ErrUnsupported},
		"a rename of a folder":    {c.Rename(filepath.Join(root, "d"), filepath.Join(root, "e")), errors.ErrUnsupported},
		"a rename of nothing":     {c.Rename(filepath.Join(root, "x"), filepath.Join(root, "y")), fs.ErrNotExist},
		"a removal of nothing":    {c.Remove(filepath.Join(root, "x")), fs.ErrNotExist},
		"a folder in nothing":     {c.SyncDir(filepath.Join(root, "x")), fs.ErrNotExist},
		"a file in nothing":       {vfs.WriteFile(c, filepath.Join(root, "x", "y"), nil, 0o644), fs.ErrNotExist},
	} {
		if !errors.Is(tt.got, tt.want) {
			t.Errorf("%s: got %v, want %v", what, tt.got, tt.want)
		}
	}
	if err := c.SyncDir(filepath.Dir(root)); err != nil {
		t.Errorf("the sync of the folder above says %v", err)
	}
	if got, want := tree(t, root), "d/ d/f=1 old=o1"; got != want {
		t.Errorf("refused calls leave %q, want %q", got, want)
	}
	if _, err := NewCrash(filepath.Join(root, "old")); err == nil {
		t.Error("a file passes for a folder")
	}
}

// Under random calls: keeping all gives what is there, a folder whose everything is synced loses nothing, and whatever is
// kept of the rest, each file starts with some content that it had since its last sync.
func TestCrashModel(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c, root := newCrash(t)
		names := []string{"a", "b", "d/a", "d/b"}
		script(t, c, root, "mkdir d\nsyncdir .")
		for range 40 {
			name, other := names[rng.IntN(4)], ""
			for other = names[rng.IntN(4)]; filepath.Dir(other) != filepath.Dir(name); {
				other = names[rng.IntN(4)]
			}
			calls := []string{
				"write " + name + " " + strings.Repeat("w", 1+rng.IntN(9)), "append " + name + " tail",
				"cut " + name + " 2", "sync " + name, "rename " + name + " " + other, "remove " + name,
				"syncdir " + filepath.Dir(name),
			}
			words := strings.Fields(calls[rng.IntN(len(calls))])
			err := step(c, root, filepath.Join(root, words[1]), words)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if got, want := clone(t, c, all), tree(t, root); got != want {
				t.Fatalf("seed %d: keeping all leaves %q, want %q", seed, got, want)
			}
			c.Torn = rng.IntN(2) == 0
			clone(t, c, rng.Float64)
			c.Torn = false
		}
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(root, name)); err == nil {
				script(t, c, root, "sync "+name)
			}
		}
		script(t, c, root, "syncdir .\nsyncdir d")
		if got, want := clone(t, c, nothing), tree(t, root); got != want {
			t.Fatalf("seed %d: all is synced, and a power cut leaves %q, want %q", seed, got, want)
		}
	}
}

// Changes of names that have nothing to do with one another are kept or lost each for itself; those of one chain in order.
func TestCrashNamesAreKeptApart(t *testing.T) {
	c, root := newCrash(t)
	script(t, c, root, "write a 1\nsync a\nwrite b 2\nsync b\nrename b c")
	met := make(map[string]bool)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		met[clone(t, c, rng.Float64)] = true
	}
	want := []string{"a=1 b=2 old=o1", "a=1 c=2 old=o1", "a=1 old=o1", "b=2 old=o1", "c=2 old=o1", "old=o1"}
	if got := slices.Sorted(maps.Keys(met)); !slices.Equal(got, want) {
		t.Errorf("a power cut leaves one of %q, want %q", got, want)
	}
}

// A clone of a folder of 2 MB.
func BenchmarkClone(b *testing.B) {
	root := b.TempDir()
	c, err := NewCrash(root)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("x", 200<<10)
	script(b, c, root, "mkdir log\nmkdir pages")
	for i := range 10 {
		name := fmt.Sprintf("%s/%d", []string{"log", "pages"}[i%2], i)
		script(b, c, root, "write "+name+" "+text+"\nsync "+name+"\nappend "+name+" "+text[:1000])
	}
	script(b, c, root, "syncdir log\nsyncdir pages\nsyncdir .")
	to := b.TempDir()
	for b.Loop() {
		if err := c.CloneTo(to, half); err != nil {
			b.Fatal(err)
		}
	}
}

package crawler

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func sightsIn(t *testing.T, dir string, mark sightMark) *sights {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Seen.Seed = 7
	cfg.AdmitAfter = AdmitAfter{Pages: 2, Window: 8 * time.Hour}
	s, err := openSights(dir, cfg, mark, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	return s
}

// sees has a page link to a URL at a time, and reports whether that is its second sight.
func (s *sights) sees(t *testing.T, at time.Duration, h, page uint64) bool {
	t.Helper()
	s.now = at
	second, err := s.second(h*0x9e3779b97f4a7c15, page)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.admitted(page); err != nil {
		t.Fatal(err)
	}
	return second
}

func (s *sights) cut(t *testing.T, at time.Duration) sightMark {
	t.Helper()
	mark, err := s.log.cut(at)
	if err == nil {
		err = s.log.sync()
	}
	if err == nil {
		err = s.log.forget(mark.First)
	}
	if err != nil {
		t.Fatal(err)
	}
	return mark
}

func segments(t *testing.T, dir string) int {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(dir, sightFolder))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// A second sight is that of another page, within the window; what is older is forgotten, in memory and on the disk.
func TestSecondSight(t *testing.T) {
	dir := t.TempDir()
	s := sightsIn(t, dir, sightMark{})
	for _, tt := range []struct {
		name    string
		at      time.Duration
		h, page uint64
		want    bool
	}{
		{"a first sight", 0, 1, 1, false},
		{"the same page", time.Hour, 1, 1, false},
		{"another URL", time.Hour, 2, 1, false},
		{"another page", 2 * time.Hour, 1, 2, true},
		{"just in time", 8 * time.Hour, 2, 2, true},
		{"too late", 20 * time.Hour, 1, 3, false},
		{"soon after that", 21 * time.Hour, 1, 4, true},
	} {
		if got := s.sees(t, tt.at, tt.h, tt.page); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
		s.cut(t, tt.at)
	}
	for at := 22 * time.Hour; at < 60*time.Hour; at += 30 * time.Minute {
		s.sees(t, at, uint64(at), 9)
		s.cut(t, at)
	}
	if n := segments(t, dir); n > sightSegments+2 {
		t.Errorf("%d segments are left", n)
	}
}

// What a checkpoint names is there again, and nothing that came after it, wherever segments end.
func TestSightsAreReadBack(t *testing.T) {
	dir := t.TempDir()
	s := sightsIn(t, dir, sightMark{})
	var mark sightMark
	for i := range uint64(100) {
		at := time.Duration(i) * 3 * time.Minute
		s.sees(t, at, i, i)
		if i == 60 {
			mark = s.cut(t, at)
		} else if i < 60 && i%7 == 0 {
			s.cut(t, at)
		}
	}
	if err := s.log.flush(); err != nil {
		t.Fatal(err)
	}
	if segments(t, dir) < 3 {
		t.Fatalf("%d segments", segments(t, dir))
	}
	s = sightsIn(t, dir, mark)
	for i := range uint64(100) {
		if got := s.sees(t, 3*time.Hour, i, 1000); got != (i <= 60) {
			t.Errorf("URL %d of 100, 61 of them before the checkpoint: %v", i, got)
		}
	}
}

// Of a log that is damaged what stands before the damage counts; the rest is named once, and the log goes on.
func TestSightLogDamaged(t *testing.T) {
	for name, damage := range map[string]func(path string, text []byte) error{
		"gone":    func(path string, _ []byte) error { return os.Remove(path) },
		"cut":     func(path string, text []byte) error { return os.WriteFile(path, text[:len(text)-9], 0o644) },
		"flipped": func(path string, text []byte) error { text[len(text)-1] ^= 1; return os.WriteFile(path, text, 0o644) },
		"a length": func(path string, text []byte) error {
			text[7] = 0xff
			return os.WriteFile(path, text, 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := sightsIn(t, dir, sightMark{})
			for i := range uint64(10) {
				s.sees(t, time.Minute, i, i)
			}
			mark := s.cut(t, time.Minute)
			path := s.log.path(mark.Last)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(path, text); err != nil {
				t.Fatal(err)
			}
			nothing := func(time.Duration, uint64, []uint64) {}
			g := sightLog{dir: s.log.dir, span: s.log.span}
			err = g.open(mark, nothing)
			if lost, ok := errors.AsType[*sightsLost](err); !ok || lost.file != path {
				t.Fatalf("%v", err)
			}
			g.append(2*time.Minute, 1, []uint64{1})
			if mark, err = g.cut(2 * time.Minute); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(g.sync(), g.close()); err != nil {
				t.Fatal(err)
			}
			again, n := sightLog{dir: s.log.dir, span: s.log.span}, 0
			err = again.open(mark, func(_ time.Duration, _ uint64, hashes []uint64) { n += len(hashes) })
			if err != nil || n < 1 || n > 10 {
				t.Errorf("%d first sights, %v", n, err)
			}
			if err := again.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

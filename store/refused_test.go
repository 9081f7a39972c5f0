package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"crawl/internal/vfs"
)

func appendRefused(t *testing.T, l *RefusedLog, from, upto int) {
	t.Helper()
	for i := from; i < upto; i++ {
		r := &Refused{URL: fmt.Sprintf("http://a.test/%d?<&>", i), Reason: "out_of_scope", Rule: "exclude x", At: time.Unix(1, 0).UTC()}
		if err := l.Append(r); err != nil {
			t.Fatal(err)
		}
	}
}

// What is behind the last cut is cut off when the list is opened again.
func TestRefusedLogCutBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "refused")
	l, lost, err := openRefusedLog(vfs.OS{}, dir, RefusedMark{})
	if err != nil || lost != nil {
		t.Fatal(lost, err)
	}
	appendRefused(t, l, 0, 3)
	cut, err := l.mark()
	if err != nil || cut.Links != 3 {
		t.Fatalf("cut %+v, %v", cut, err)
	}
	appendRefused(t, l, 3, 1000)
	if _, err := l.mark(); err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	again, lost, err := openRefusedLog(vfs.OS{}, dir, cut)
	if err != nil || lost != nil {
		t.Fatal(lost, err)
	}
	defer again.close()
	if now, err := again.mark(); err != nil || now != cut {
		t.Errorf("opened at %+v, %v, want %+v", now, err, cut)
	}
	if info, err := os.Stat(numberedName(dir, 1, refusedExt)); err != nil || info.Size() != cut.Offset {
		t.Errorf("the file: %v, %v, want %d bytes", info, err, cut.Offset)
	}
}

// A list that has lost its end is begun anew in another file, and the damage is told.
func TestRefusedLogDamaged(t *testing.T) {
	for name, harm := range map[string]func(file string) error{
		"gone": os.Remove,
		"cut":  func(file string) error { return os.Truncate(file, 10) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "refused")
			l, _, err := openRefusedLog(vfs.OS{}, dir, RefusedMark{})
			if err != nil {
				t.Fatal(err)
			}
			appendRefused(t, l, 0, 3)
			cut, err := l.mark()
			if err := errors.Join(err, l.close(), harm(numberedName(dir, 1, refusedExt))); err != nil {
				t.Fatal(err)
			}
			again, lost, err := openRefusedLog(vfs.OS{}, dir, cut)
			if err != nil {
				t.Fatal(err)
			}
			defer again.close()
			if _, ok := errors.AsType[*DamageError](lost); !ok {
				t.Errorf("lost: %v, want damage", lost)
			}
			if now, err := again.mark(); err != nil || now.Links != 0 || now.File != 2 || now.Offset != 0 {
				t.Errorf("opened at %+v, %v", now, err)
			}
		})
	}
}

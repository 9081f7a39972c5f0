package crawler

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"crawl/store"
)

// A disk that really fills, at whatever byte: whichever file it hits, bbolt's too, the crawl ends with an error that names
// it, and goes on once there is room.
func TestFullDisk(t *testing.T) {
	mount := smallDisk(t)
	hit := make(map[string]bool)
	for room := int64(24); room < 500; room += 36 {
		if file := fillDisk(t, mount, room<<10); file != "" {
			hit[file] = true
		}
	}
	t.Log("full at: ", hit)
	if len(hit) == 0 {
		t.Error("the disk was never full")
	}
}

// smallDisk mounts a disk of 8 MiB, in memory.
func smallDisk(t *testing.T) (mount string) {
	t.Helper()
	mount = t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("only the system's administrator may mount a small disk: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return mount
}

// A crawl on a disk that takes no writes is not gone on with, and said to be so; to verify it changes nothing, and needs no
// lock: nobody can run it.
func TestReadOnlyDisk(t *testing.T) {
	mount := smallDisk(t)
	web := newListWeb(30)
	dir := filepath.Join(mount, "a.crawl")
	if err := os.CopyFS(dir, os.DirFS(listCrawl(t, web, 10))); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=8m"); err != nil {
		t.Fatal(err)
	}
	if _, err := goOn(dir, web, nil); !errors.Is(err, syscall.EROFS) {
		t.Errorf("going on says %v, want %v", err, syscall.EROFS)
	}
	sound(t, dir)
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	goesOn(t, dir, web)
}

// fillDisk crawls on a disk that has so many bytes of room when the crawl is made, and returns which part of it was hit.
func fillDisk(t *testing.T, mount string, room int64) string {
	t.Helper()
	web := newListWeb(600)
	dir, ballast := filepath.Join(mount, "a.crawl"), filepath.Join(mount, "ballast")
	defer os.RemoveAll(dir)
	cfg := listConfig(web)
	cfg.CheckpointInterval = 5 * time.Millisecond
	cfg.Seen.ExpectedItems, cfg.Seen.FalsePositiveRate = 60_000, 1e-6 // large beside the rest
	c, err := Create(dir, cfg, seedList(Seed{URL: "http://a.test/"}))
	if err != nil {
		t.Fatal(err)
	}
	free, _ := c.committer.store.Space()
	if err := os.WriteFile(ballast, make([]byte, max(int64(free)-room, 0)), 0o644); err != nil {
		t.Fatal(err)
	}
	err = c.Run(t.Context())
	_ = c.Close()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	file := ""
	if err != nil {
		failed, ok := errors.AsType[*store.WriteError](err)
		if !ok || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("with %d bytes of room it ends with %v, want a *store.WriteError", room, err)
		}
		file = partOf(dir, failed.File)
	}
	sound(t, dir)
	c, err = goOn(dir, web, nil)
	if err == nil {
		err = finish(t, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	if report := sound(t, dir); report.Done != uint64(web.pages)+1 {
		t.Errorf("with %d bytes of room, hit at %s: %d URLs are done", room, file, report.Done)
	}
	return file
}

package seen

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
)

var errStopped = errors.New("stopped here")

func mustOpenHashes(t *testing.T, dir string, gather int, before func(step, file string) error) *Hashes {
	t.Helper()
	s, err := openHashes(dir, 7, before)
	if err != nil {
		t.Fatal(err)
	}
	s.Gather(gather)
	return s
}

// wantFound looks for hashes that were added and for some that were not.
func wantFound(t *testing.T, s *Hashes, added, others []uint64) {
	t.Helper()
	all := slices.Concat(added, others)
	found := make([]bool, len(all))
	if err := s.Find(all, found); err != nil {
		t.Fatal(err)
	}
	for i, f := range found {
		if f != (i < len(added)) {
			t.Fatalf("hash %d of %d that were added: found %t", i, len(added), f)
		}
	}
}

// wantSum checks that a set tells its hashes on the disk from others.
func wantSum(t *testing.T, s *Hashes, hashes []uint64) {
	t.Helper()
	var sum uint64
	for _, h := range hashes {
		sum += h
	}
	if got := s.Sum(); got != sum {
		t.Fatalf("sum of %d hashes on disk: %#x, want %#x", len(hashes), got, sum)
	}
}

// TestHashesFollowALog stops SyncTo at every step that it does, and goes on with what the folder then holds: always the
// first hashes of the log, and no more than SyncTo was told.
func TestHashesFollowALog(t *testing.T) {
	log, others := randomHashes(1, 1500), randomHashes(2, 300)
	for stopAt := int64(0); ; stopAt += 1 + stopAt/8 {
		dir := t.TempDir()
		var opened, stopped atomic.Bool
		var steps atomic.Int64
		s := mustOpenHashes(t, dir, 100, func(string, string) error {
			if opened.Load() && steps.Add(1) > stopAt {
				stopped.Store(true)
				return errStopped
			}
			return nil
		})
		opened.Store(true)
		rnd := rand.New(rand.NewPCG(3, uint64(stopAt)))
		told, failed := uint64(0), false
		for at := 0; at < len(log) && !failed; {
			n := min(1+rnd.IntN(600), len(log)-at)
			for _, h := range log[at : at+n] {
				s.Add(h)
			}
			at += n
			told = uint64(at - rnd.IntN(n)) // the last few are not in the durable log yet
			failed = s.SyncTo(told) != nil
			wantFound(t, s, log[:at], others)
		}
		if err := s.Close(); err != nil { // which makes nothing durable
			t.Fatal(err)
		}
		again := mustOpenHashes(t, dir, 100, nil)
		kept := again.Len()
		if kept > told {
			t.Fatalf("stopped at step %d: %d hashes on disk, %d were to be durable", stopAt, kept, told)
		}
		wantFound(t, again, log[:kept], others)
		wantSum(t, again, log[:kept])
		for _, h := range log[kept:] {
			again.Add(h)
		}
		if err := again.SyncTo(uint64(len(log))); err != nil {
			t.Fatal(err)
		}
		wantFound(t, again, log, others)
		wantSum(t, again, log[:again.Durable()])
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if !stopped.Load() {
			break
		}
	}
}

func TestHashesAreOpenedForOneHash(t *testing.T) {
	dir := t.TempDir()
	s := mustOpenHashes(t, dir, 1, nil)
	if _, err := OpenHashes(dir, 7); !errors.Is(err, ErrLocked) {
		t.Errorf("a second one: %v, want ErrLocked", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHashes(dir, 8); !errors.Is(err, ErrMismatch) {
		t.Errorf("another seed: %v, want ErrMismatch", err)
	}
}

// TestHashesAreSyncedBeside has them written while they are added and looked for.
func TestHashesAreSyncedBeside(t *testing.T) {
	log := randomHashes(1, 60_000)
	s := mustOpenHashes(t, t.TempDir(), 1000, nil)
	var syncing errgroup.Group
	upTo := make(chan uint64, 1)
	syncing.Go(func() error {
		for n := range upTo {
			if err := s.SyncTo(n); err != nil {
				return err
			}
		}
		return nil
	})
	for at := 0; at < len(log); at += 100 {
		for _, h := range log[at : at+100] {
			s.Add(h)
		}
		wantFound(t, s, log[max(0, at-1000):at+100], log[at+100:min(at+200, len(log))])
		select {
		case upTo <- uint64(at + 100):
		default:
		}
	}
	close(upTo)
	if err := syncing.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := s.SyncTo(uint64(len(log))); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestForeignFoldersAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHashes(dir, 7); !errors.Is(err, ErrFormat) {
		t.Errorf("%v, want ErrFormat", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%d files are there, %v", len(files), err)
	}
}

// FuzzManifest opens a set under a manifest that names what it likes, with seal under a checksum that is right: it is an
// error that says what is wrong, or a set that answers, holds what its runs hold, and can be opened again.
func FuzzManifest(f *testing.F) {
	dir := f.TempDir()
	s, err := openHashes(dir, 7, nil)
	if err != nil {
		f.Fatal(err)
	}
	s.Gather(1)
	for i := range uint64(3) {
		s.Add(randomHashes(i, 40)...)
		if err := s.SyncTo(s.Len()); err != nil {
			f.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			f.Fatal(err)
		}
	}
	whole := files[manifestName]
	for _, seal := range []bool{false, true} {
		f.Add(whole, seal)
		f.Add(whole[:len(whole)-16], seal)
		f.Add(append(slices.Clone(whole), whole[len(whole)-20:]...), seal)
		f.Add([]byte(magic), seal)
		f.Add([]byte{}, seal)
	}
	f.Fuzz(func(t *testing.T, manifest []byte, seal bool) {
		if seal && len(manifest) > prefixBytes+sumBytes {
			manifest = slices.Clone(manifest)
			le, end := binary.LittleEndian, len(manifest)-sumBytes
			copy(manifest, magic)
			le.PutUint32(manifest[len(magic):], version)
			le.PutUint32(manifest[len(magic)+4:], uint32(len(manifest)))
			le.PutUint32(manifest[end:], crc32.Checksum(manifest[:end], castagnoli))
		}
		dir := t.TempDir()
		for name, text := range files {
			if name == manifestName {
				text = manifest
			}
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			s, err := openHashes(dir, 7, nil)
			if err != nil {
				for _, known := range []error{ErrFormat, ErrNewer, ErrDamaged, ErrMismatch, os.ErrNotExist} {
					if errors.Is(err, known) {
						return
					}
				}
				t.Fatal(err)
			}
			for i := range s.Len()/40 + 1 {
				ask := randomHashes(i, 40)
				if err := s.Find(ask, make([]bool, len(ask))); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

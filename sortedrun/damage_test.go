package sortedrun

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

// damageEntries make a run of several index blocks in few bytes.
func damageEntries() []entry {
	var entries []entry
	for i := range 1200 {
		entries = append(entries, entry{fmt.Appendf(nil, "key %04d", i), fmt.Appendf(nil, "value %d value %d value %d", i, i, i), []byte{byte(i)}})
	}
	return entries
}

// checkNoticed checks that a changed file is noticed by Verify and by a walk, and shows no entry that it did not have.
func checkNoticed(t *testing.T, what string, file []byte, entries []entry) {
	t.Helper()
	r, err := Open(bytes.NewReader(file), int64(len(file)))
	if err == nil {
		err = r.Verify(t.Context())
		checkDamage(t, what+": Verify", err, int64(len(file)))
		c, n := r.Seek(nil), 0
		for c.Next() {
			if n == len(entries) || !bytes.Equal(c.Key(), entries[n].key) || !bytes.Equal(c.Value(), entries[n].value) {
				t.Fatalf("%s: the walk shows a wrong entry", what)
			}
			n++
		}
		err = c.Err()
	}
	checkDamage(t, what+": read", err, int64(len(file)))
}

func checkDamage(t *testing.T, what string, err error, size int64) {
	t.Helper()
	if !errors.Is(err, ErrDamaged) {
		t.Fatalf("%s: %v, want one that is ErrDamaged", what, err)
	}
	d, ok := errors.AsType[*DamageError](err)
	if !ok || d.Offset < 0 || d.Offset > size {
		t.Fatalf("%s: %v: no place in the file", what, err)
	}
	if want := fmt.Sprintf("sortedrun: at byte %d: damaged: ", d.Offset); !strings.HasPrefix(err.Error(), want) {
		t.Fatalf("%s: %v, want it to begin with %q", what, err, want)
	}
}

// A flipped bit anywhere is noticed by Verify, and by whoever reads what it changed.
func TestFlippedBits(t *testing.T) {
	for _, o := range []Options{{BlockBytes: 1}, {BlockBytes: 200, Compress: true}} {
		entries := damageEntries()
		file := build(t, o, entries)
		r := open(t, file)
		step := 31
		if testing.Short() {
			step = 251
		}
		for i := 0; i < len(file); i++ {
			bit := byte(1) << (i % 8)
			file[i] ^= bit
			checkNoticed(t, fmt.Sprintf("%+v: bit %d of byte %d of %d", o, i%8, i, len(file)), file, entries)
			file[i] ^= bit
			if int64(i+step) < r.footer.top.offset {
				i += step - 1
			}
		}
		if err := r.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A look-up does not mind damage elsewhere, and reports that of the block that it needs.
func TestDamageIsLocal(t *testing.T) {
	entries := damageEntries()
	file := build(t, Options{BlockBytes: 200}, entries)
	file[len(file)/2] ^= 4
	r, failed := open(t, file), 0
	for _, e := range entries {
		value, found, err := r.Get(e.key)
		switch {
		case errors.Is(err, ErrDamaged) && !found && value == nil:
			failed++
		case err != nil || !found || !bytes.Equal(value, e.value):
			t.Fatalf("Get(%s): %v, %v", e.key, found, err)
		}
	}
	if failed == 0 || failed > 8 {
		t.Errorf("%d look-ups fail, want those of one block", failed)
	}
}

// A file that is cut anywhere, or goes on, is no run.
func TestTruncated(t *testing.T) {
	entries := damageEntries()
	file := build(t, Options{BlockBytes: 100}, entries)
	for n := 0; n < len(file); n++ {
		_, err := Open(bytes.NewReader(file[:n]), int64(n))
		checkDamage(t, fmt.Sprintf("cut to %d", n), err, int64(n))
	}
	longer := append(bytes.Clone(file), 0)
	_, err := Open(bytes.NewReader(longer), int64(len(longer)))
	checkDamage(t, "a byte more", err, int64(len(longer)))
	_, err = Open(bytes.NewReader(file[:len(file)-1]), int64(len(file)))
	checkDamage(t, "shorter than said", err, int64(len(file)))
}

// Blocks that lie where others were written are noticed, though each is sound.
func TestSwappedBlocks(t *testing.T) {
	entries := []entry{{key: []byte("a"), value: []byte("1")}, {key: []byte("b"), value: []byte("2")}, {key: []byte("c"), value: []byte("3")}}
	file := build(t, Options{BlockBytes: 1}, entries)
	c := open(t, file).Seek(nil)
	n := c.blockAt.length
	first := bytes.Clone(file[:n])
	copy(file, file[n:2*n])
	copy(file[n:], first)
	checkNoticed(t, "swapped blocks", file, entries)
}

// A run of a later version is not called damaged.
func TestVersion(t *testing.T) {
	file := build(t, Options{}, damageEntries())
	foot := file[len(file)-footerBytes:]
	binary.LittleEndian.PutUint32(foot[40:], version+1)
	binary.LittleEndian.PutUint32(foot[44:], crc32.Checksum(foot[:44], castagnoli))
	_, err := Open(bytes.NewReader(file), int64(len(file)))
	if !errors.Is(err, ErrVersion) || errors.Is(err, ErrDamaged) {
		t.Errorf("Open: %v, want one that is ErrVersion", err)
	}
}

var errDisk = errors.New("input/output error")

// brokenDisk fails where a read touches byte at.
type brokenDisk struct {
	io.ReaderAt
	at int64
}

func (d *brokenDisk) ReadAt(p []byte, offset int64) (int, error) {
	if offset <= d.at && d.at < offset+int64(len(p)) {
		return 0, errDisk
	}
	return d.ReaderAt.ReadAt(p, offset)
}

// An error of the disk is not called damage; it ends a walk, and a Seek after it begins anew.
func TestReadError(t *testing.T) {
	entries := damageEntries()
	file := build(t, Options{BlockBytes: 100}, entries)
	disk := &brokenDisk{bytes.NewReader(file), -1}
	r, err := Open(disk, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < r.footer.top.offset; at += 997 {
		disk.at = at
		c := r.Seek(nil)
		for c.Next() {
		}
		if err := c.Err(); !errors.Is(err, errDisk) || errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d cannot be read: the walk ends with %v", at, err)
		}
		if c.Next() {
			t.Fatalf("byte %d cannot be read: the walk goes on", at)
		}
		if err := r.Verify(t.Context()); !errors.Is(err, errDisk) {
			t.Fatalf("byte %d cannot be read: Verify: %v", at, err)
		}
		disk.at = -1
		c.Seek(nil)
		checkWalk(t, c, entries, len(entries)+1)
	}
}

// Verify ends when its context does.
func TestVerifyCancelled(t *testing.T) {
	r := open(t, build(t, Options{}, damageEntries()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify: %v", err)
	}
}

package main

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"crawl/seen"
)

// load is what it takes to read a saved filter from a file that is in no cache.
type load struct {
	Keys    uint64  `json:"keys"`
	Bytes   int64   `json:"bytes"`
	Wall    float64 `json:"wall_s"`
	WallBar float64 `json:"wall_at_most_s"` // 0: none
	CPU     float64 `json:"cpu_s"`
	Floor   float64 `json:"floor_s"` // wall time of reading the same file and doing nothing with it
}

func (l load) met() bool { return l.WallBar == 0 || l.Wall <= l.WallBar }

// loading saves a chain of keys, grown from one million at 1%, in a file under dir, and reads it.
func loading(c clock, dir string, keys uint64, bar float64) (load, error) {
	file, err := os.CreateTemp(dir, "filter-")
	if err != nil {
		return load{}, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	l := load{Keys: keys, WallBar: bar}
	if l.Bytes, err = saved(file, keys); err != nil {
		return load{}, err
	}
	if l.Floor, err = coldRead(file, func(r io.Reader) error {
		buf := make([]byte, seen.ChunkBytes)
		for {
			if _, err := r.Read(buf); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	}); err != nil {
		return load{}, err
	}
	var f seen.Filter
	start := c.now()
	l.Wall, err = coldRead(file, func(r io.Reader) (err error) {
		f, err = seen.Read(r)
		return err
	})
	l.CPU = (c.now() - start).Seconds()
	if err != nil {
		return load{}, err
	}
	return l, lost(f, keys)
}

// saved writes a chain of so many keys and returns the bytes written.
func saved(file *os.File, keys uint64) (int64, error) {
	f, err := seen.NewScalable(seen.Config{FalsePositiveRate: 0.01, MaxBytes: 1 << 40, Seed: 1})
	if err != nil {
		return 0, err
	}
	hashes := make([]uint64, 0, batchKeys)
	for i := range keys {
		if hashes = append(hashes, keyAt(i)); len(hashes) == cap(hashes) || i == keys-1 {
			f.Add(hashes)
			hashes = hashes[:0]
		}
	}
	n, err := f.WriteTo(file)
	return n, errors.Join(err, file.Sync())
}

const dontNeed = 4 // POSIX_FADV_DONTNEED

// coldRead drops the file from the page cache and returns the seconds that reading it takes.
func coldRead(file *os.File, read func(io.Reader) error) (float64, error) {
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, file.Fd(), 0, 0, dontNeed, 0, 0); errno != 0 {
		return 0, os.NewSyscallError("fadvise64", errno)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	start := time.Now()
	err := read(file)
	return time.Since(start).Seconds(), err
}

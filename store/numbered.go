package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crawl/internal/vfs"
)

// numberedName is the name of file n of a series: ten digits, so that names sort as numbers do.
func numberedName(dir string, n uint64, ext string) string {
	return filepath.Join(dir, fmt.Sprintf("%010d%s", n, ext))
}

// numbered lists the numbers of a series' files in dir, in order. Files of other names are not ours and are passed over.
func numbered(fsys vfs.FS, dir, ext string) ([]uint64, error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, e := range entries {
		if n, ok := numberOf(e.Name(), ext); ok && !e.IsDir() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func numberOf(name, ext string) (uint64, bool) {
	digits, ours := strings.CutSuffix(name, ext)
	if !ours || len(digits) != 10 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

// removeNumbered removes the files of a series from number first on. An error of a removal is a *WriteError.
func removeNumbered(fsys vfs.FS, dir, ext string, first uint64) error {
	numbers, err := numbered(fsys, dir, ext)
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range numbers {
		if n >= first {
			errs = append(errs, removeIfThere(fsys, numberedName(dir, n, ext)))
		}
	}
	return errors.Join(errs...)
}

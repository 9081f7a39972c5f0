package crawler

import (
	"errors"
	"hash/crc32"
	"io"
	"os"

	"crawl/store"
)

// sum returns the CRC-32C of the stored seeds. Few of the changes that a disk may make to them leave no seeds: so the books
// keep it.
func (f seedFile) sum() (uint32, error) {
	file, err := os.Open(string(f))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_, err = io.Copy(sum, file)
	return sum.Sum32(), err
}

var errSeedSum = errors.New("its checksum is not the one that the crawl began with")

// check compares the stored seeds with what the crawl began with.
func (f seedFile) check(mark seedMark) error {
	if mark.Sum == 0 {
		return nil
	}
	have, err := f.sum()
	if err == nil && have != mark.Sum {
		err = &store.DamageError{File: string(f), Offset: -1, Err: errSeedSum}
	}
	return err
}

package store

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
)

// FilterFile is seen.db: the filter's bits, in a bbolt file of their own that is open only while it is read or written.
// Chunks are written a few a transaction, since one large transaction would double the file. All of it can be remade
// from the admission log; a damaged file is removed, not repaired.
type FilterFile struct{ path string }

// Filter returns the crawl's filter file.
func (s *Store) Filter() *FilterFile { return &FilterFile{path: s.dir.seenDB()} }

// FilterChunk is a piece of a layer's bits.
type FilterChunk struct {
	Layer, Index int
	Data         []byte
}

var (
	filterTable = []byte("filter")
	headerKey   = []byte("header")
)

// Write puts chunks, and when header is not nil the header that makes them count, into one transaction. An error is a
// *WriteError.
func (f *FilterFile) Write(chunks []FilterChunk, header []byte) error {
	db, err := createBolt(f.path)
	if err != nil {
		return &WriteError{File: f.path, Err: err}
	}
	err = guard(f.path, func() error {
		return db.Update(func(tx *bbolt.Tx) error { return putFilter(tx, chunks, header) })
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return &WriteError{File: f.path, Err: err}
	}
	return nil
}

func putFilter(tx *bbolt.Tx, chunks []FilterChunk, header []byte) error {
	t, err := openTable(tx, filterTable)
	if err != nil {
		return err
	}
	for _, c := range chunks {
		if err := t.put(chunkKey(c.Layer, c.Index), c.Data); err != nil {
			return err
		}
	}
	if header != nil {
		if err := t.put(headerKey, header); err != nil {
			return err
		}
	}
	return t.save()
}

// Chunk keys sort by layer, then by index; the header's key is shorter than any.
const chunkKeyBytes = 9

func chunkKey(layer, index int) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, chunkKeyBytes), uint32(layer))
	return binary.BigEndian.AppendUint32(append(key, '/'), uint32(index))
}

// Read hands the saved header to begin, then every chunk to each, whose data is valid until each returns. It returns
// false when nothing was saved yet. Any error, of its own or of the two functions, means that the filter has to be
// remade.
func (f *FilterFile) Read(begin func(header []byte) error, each func(FilterChunk) error) (found bool, err error) {
	if err := readThrough(f.path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	db, err := openBolt(f.path, true)
	if err != nil {
		return false, err
	}
	found, err = f.read(db, begin, each)
	return found, errors.Join(err, db.Close())
}

// readThrough brings a file into the page cache in one sweep: bbolt maps it for random access, which is twenty times
// slower on a cold file.
func readThrough(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(io.Discard, file)
	return err
}

func (f *FilterFile) read(db *bbolt.DB, begin func([]byte) error, each func(FilterChunk) error) (bool, error) {
	tx, err := db.Begin(false)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // of a transaction that wrote nothing: it cannot fail
	t, err := openTable(tx, filterTable)
	if err != nil {
		return false, err
	}
	header, err := t.get(headerKey)
	if header == nil || err != nil {
		return false, err
	}
	if err := begin(header); err != nil {
		return false, t.damage(err)
	}
	err = t.each("", func(key, data []byte) error {
		if len(key) != chunkKeyBytes {
			return nil // the header's
		}
		c := FilterChunk{
			Layer: int(binary.BigEndian.Uint32(key)), Index: int(binary.BigEndian.Uint32(key[5:])), Data: data,
		}
		if err := each(c); err != nil {
			return t.damage(err)
		}
		return nil
	})
	return err == nil, err
}

// Remove deletes the file, so that the filter is remade from the log.
func (f *FilterFile) Remove() error {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &WriteError{File: f.path, Err: err}
	}
	return nil
}

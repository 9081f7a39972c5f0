package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"

	"crawl/internal/vfs"
)

// FilterFile is seen.db: the filter's bits, in a bbolt file of their own that is open only while it is read or written.
// All of it can be remade from the admission log; a damaged file is removed, not repaired.
type FilterFile struct {
	fs   vfs.FS
	path string
}

// Filter returns the crawl's filter file.
func (s *Store) Filter() *FilterFile { return &FilterFile{fs: s.dir.fs, path: s.dir.seenDB()} }

// FilterChunk is a piece of a layer's bits. Its length never changes.
type FilterChunk struct {
	Layer, Index int
	Data         []byte
}

var (
	filterTable = []byte("filter")
	headerKey   = []byte("header")
)

// A transaction of bbolt writes beside what it replaces, the file never gets smaller, and a value needs its pages in one
// run, of which a single page put elsewhere makes a hole that is of no use. So a chunk is written in parts, few chunks go
// into one transaction, and the file grows by no more than it needs. With whole chunks, 16 in a transaction, and bbolt's
// own steps of 16 MiB a filter of 16 MiB that is saved again takes twice its bytes; like this 1.1 times. (On Windows
// bbolt grows a file to the size that it maps, a power of two up to 1 GiB.)
const (
	partBytes         = 64 << 10
	transactionChunks = 4
	filterGrowBytes   = 256 << 10
)

// Write puts chunks, and when header is not nil the header that makes them count, into the file. Killed meanwhile, it
// leaves some of the chunks written, each whole, and the header before. An error is a *WriteError.
func (f *FilterFile) Write(chunks []FilterChunk, header []byte) error {
	db, err := createBolt(f.path)
	if err != nil {
		return &WriteError{File: f.path, Err: err}
	}
	db.AllocSize = filterGrowBytes
	err = guard(f.path, func() error { return writeFilter(db, chunks, header) })
	if err := errors.Join(err, db.Close()); err != nil {
		return &WriteError{File: f.path, Err: err}
	}
	return nil
}

func writeFilter(db *bbolt.DB, chunks []FilterChunk, header []byte) error {
	for len(chunks) > transactionChunks {
		err := db.Update(func(tx *bbolt.Tx) error { return putFilter(tx, chunks[:transactionChunks], nil) })
		if err != nil {
			return err
		}
		chunks = chunks[transactionChunks:]
	}
	return db.Update(func(tx *bbolt.Tx) error { return putFilter(tx, chunks, header) })
}

func putFilter(tx *bbolt.Tx, chunks []FilterChunk, header []byte) error {
	t, err := openTable(tx, filterTable)
	if err != nil {
		return err
	}
	for _, c := range chunks {
		if err := putChunk(t, c); err != nil {
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

func putChunk(t *table, c FilterChunk) error {
	key := chunkKey(c.Layer, c.Index)
	if err := t.remove(key); err != nil { // whole, as files of an earlier version hold it
		return err
	}
	for part := 0; part*partBytes < len(c.Data); part++ {
		data := c.Data[part*partBytes : min((part+1)*partBytes, len(c.Data))]
		if err := t.put(partKey(key, part), data); err != nil {
			return err
		}
	}
	return nil
}

// Keys sort by layer, then by chunk, then by part; the header's key is shorter than any.
const (
	chunkKeyBytes = 9
	partKeyBytes  = chunkKeyBytes + 5
)

func chunkKey(layer, index int) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, partKeyBytes), uint32(layer))
	return binary.BigEndian.AppendUint32(append(key, '/'), uint32(index))
}

func partKey(chunk []byte, part int) []byte {
	return binary.BigEndian.AppendUint32(append(chunk, '/'), uint32(part))
}

// chunkJoiner makes chunks of their parts, which come in order.
type chunkJoiner struct {
	each func(FilterChunk) error
	key  []byte // of the chunk that data is of so far; empty before the first
	data []byte
}

// add takes an entry of the file.
func (j *chunkJoiner) add(key, data []byte) error {
	if len(key) < chunkKeyBytes {
		return nil // the header's
	}
	if chunk := key[:chunkKeyBytes]; !bytes.Equal(chunk, j.key) {
		if err := j.end(); err != nil {
			return err
		}
		j.key, j.data = append(j.key[:0], chunk...), j.data[:0]
	}
	j.data = append(j.data, data...)
	return nil
}

// end hands over the chunk that is complete.
func (j *chunkJoiner) end() error {
	if len(j.key) == 0 {
		return nil
	}
	return j.each(FilterChunk{
		Layer: int(binary.BigEndian.Uint32(j.key)), Index: int(binary.BigEndian.Uint32(j.key[5:])), Data: j.data,
	})
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
	chunks := chunkJoiner{each: func(c FilterChunk) error {
		if err := each(c); err != nil {
			return t.damage(err)
		}
		return nil
	}}
	if err := t.each("", chunks.add); err != nil {
		return false, err
	}
	return true, chunks.end()
}

// Remove deletes the file, so that the filter is remade from the log.
func (f *FilterFile) Remove() error { return removeIfThere(f.fs, f.path) }

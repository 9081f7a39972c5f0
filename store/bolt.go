package store

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
)

// openBolt opens a bbolt file that is there, once checkBolt has found nothing wrong with it.
func openBolt(path string, readOnly bool) (*bbolt.DB, error) {
	if err := checkBolt(path); err != nil {
		return nil, err
	}
	return mapBolt(path, readOnly, 0)
}

// createBolt opens a bbolt file for writing, a new one when there is none.
func createBolt(path string) (*bbolt.DB, error) { return mapBolt(path, false, os.O_CREATE) }

func mapBolt(path string, readOnly bool, create int) (*bbolt.DB, error) {
	var file *os.File
	options := &bbolt.Options{
		Timeout: time.Second, FreelistType: bbolt.FreelistMapType, ReadOnly: readOnly,
		OpenFile: func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
			file, err = os.OpenFile(name, flag&^os.O_CREATE|create, mode)
			return file, err
		},
	}
	var db *bbolt.DB
	err := guard(path, func() (err error) {
		db, err = bbolt.Open(path, 0o600, options)
		return err
	})
	if err == nil {
		return db, nil
	}
	if file != nil {
		_ = file.Close() // a panic leaves it open and locked; otherwise it is closed already
	}
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		return nil, err
	}
	return nil, fmt.Errorf("open %s: %w", path, err)
}

// guard turns what bbolt does when a file changes or fails under it, panics and faults in the mapped memory, into a
// *DamageError.
func guard(file string, fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &DamageError{File: file, Offset: -1, Err: fmt.Errorf("bbolt cannot read it: %v", r)}
		}
	}()
	return fn()
}

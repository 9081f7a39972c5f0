package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// table is a bucket of a bbolt file as of one transaction. bbolt notices neither flipped bits nor entries that are gone:
// so each value carries a CRC-32C over its key and itself, and a ledger says what the bucket holds in all.
type table struct {
	tx     *bbolt.Tx
	name   []byte
	bucket *bbolt.Bucket // nil: nothing was ever put
	ledger ledger
}

// ledger is the sum over a table's entries.
type ledger struct {
	entries uint64
	bytes   uint64
	sums    uint64 // of the values' CRCs
}

var ledgerBucket = []byte("ledgers") // ledgers by the names of their tables

func openTable(tx *bbolt.Tx, name []byte) (*table, error) {
	t := &table{tx: tx, name: name}
	err := guard(tx.DB().Path(), func() error {
		t.bucket = tx.Bucket(name)
		ledgers := tx.Bucket(ledgerBucket)
		if ledgers == nil || ledgers.Get(name) == nil {
			return nil
		}
		text, err := openValue(name, ledgers.Get(name))
		if err != nil || len(text) != 24 {
			return t.damage(fmt.Errorf("the ledger of its %s: %w", name, errValueSum))
		}
		t.ledger = ledger{
			entries: binary.LittleEndian.Uint64(text), bytes: binary.LittleEndian.Uint64(text[8:]),
			sums: binary.LittleEndian.Uint64(text[16:]),
		}
		return nil
	})
	return t, err
}

// save writes the ledger, which ends a change of the table.
func (t *table) save() error {
	ledgers, err := t.tx.CreateBucketIfNotExists(ledgerBucket)
	if err != nil {
		return err
	}
	text := binary.LittleEndian.AppendUint64(nil, t.ledger.entries)
	text = binary.LittleEndian.AppendUint64(text, t.ledger.bytes)
	text = binary.LittleEndian.AppendUint64(text, t.ledger.sums)
	return ledgers.Put(t.name, sealValue(t.name, text))
}

func (t *table) put(key, value []byte) error {
	if t.bucket == nil {
		var err error
		if t.bucket, err = t.tx.CreateBucketIfNotExists(t.name); err != nil {
			return err
		}
	}
	if old := t.bucket.Get(key); old != nil {
		t.ledger.remove(key, old)
	}
	sealed := sealValue(key, value)
	t.ledger.add(key, sealed)
	return t.bucket.Put(key, sealed)
}

func (t *table) remove(key []byte) error {
	if t.bucket == nil {
		return nil
	}
	if old := t.bucket.Get(key); old != nil {
		t.ledger.remove(key, old)
	}
	return t.bucket.Delete(key)
}

// clear removes all entries.
func (t *table) clear() error {
	t.ledger = ledger{}
	if t.bucket == nil {
		return nil
	}
	t.bucket = nil
	return t.tx.DeleteBucket(t.name)
}

// get returns a copy of a value, nil when there is none.
func (t *table) get(key []byte) ([]byte, error) {
	if t.bucket == nil {
		return nil, nil
	}
	var value []byte
	err := guard(t.tx.DB().Path(), func() error {
		sealed := t.bucket.Get(key)
		if sealed == nil {
			return nil
		}
		opened, err := openValue(key, sealed)
		if err != nil {
			return t.damage(err)
		}
		value = bytes.Clone(opened)
		return nil
	})
	return value, err
}

// each calls fn for every value whose key starts with prefix, in the order of keys; both are valid until fn returns. An
// error that is not fn's is a *DamageError.
func (t *table) each(prefix string, fn func(key, value []byte) error) error {
	var met ledger
	if t.bucket != nil {
		cursor := t.bucket.Cursor()
		step := func() ([]byte, []byte) { return cursor.Seek([]byte(prefix)) }
		for {
			key, value, err := t.step(step, prefix, &met)
			if err != nil {
				return err
			}
			if key == nil {
				break
			}
			if err := fn(key, value); err != nil {
				return err
			}
			step = cursor.Next
		}
	}
	if prefix == "" && met != t.ledger {
		return t.damage(fmt.Errorf("its %s are %d entries of %d bytes, want %d of %d",
			t.name, met.entries, met.bytes, t.ledger.entries, t.ledger.bytes))
	}
	return nil
}

// step moves a cursor. Only this part of a walk is guarded: a panic of the caller's own is no damage.
func (t *table) step(move func() ([]byte, []byte), prefix string, met *ledger) (key, value []byte, err error) {
	err = guard(t.tx.DB().Path(), func() error {
		k, sealed := move()
		if k == nil || !bytes.HasPrefix(k, []byte(prefix)) {
			return nil
		}
		met.add(k, sealed)
		v, err := openValue(k, sealed)
		if err != nil {
			return t.damage(err)
		}
		key, value = k, v
		return nil
	})
	return key, value, err
}

func (t *table) damage(err error) error {
	return &DamageError{File: t.tx.DB().Path(), Offset: -1, Err: err}
}

func (l *ledger) add(key, sealed []byte) {
	l.entries++
	l.bytes += uint64(len(key) + len(sealed))
	l.sums += uint64(sealOf(sealed))
}

func (l *ledger) remove(key, sealed []byte) {
	l.entries--
	l.bytes -= uint64(len(key) + len(sealed))
	l.sums -= uint64(sealOf(sealed))
}

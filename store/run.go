package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"crawl/internal/vfs"
	"crawl/sortedrun"
)

// RunKind says what a run is for. The names are part of every checkpoint and never change.
type RunKind string

// The kinds of runs. All but QueueRun are in the order of the log that they were made from.
const (
	QueueRun RunKind = "queue" // (host, class, depth, number) → what waits
	HashRun  RunKind = "hash"  // hash → number of its first admission
	DoneRun  RunKind = "done"  // number → position of its last event in the done log
	BitsRun  RunKind = "bits"  // a bitmap: whose last event is done
)

// Span is a stretch of a log: the entries numbered After+1 to Upto.
type Span struct{ After, Upto uint64 }

// Len returns the number of entries of the log that the span takes in.
func (s Span) Len() uint64 { return s.Upto - s.After }

// RunInfo is what a checkpoint says of a run. The spans are the stretches of the two logs that it was made from.
type RunInfo struct {
	Kind       RunKind
	Number     uint64 // names its file
	Entries    uint64 // of the file; pages of up to 256 pairs in a hash or done run, set bits in a bitmap
	Bytes      int64  // of the file
	Admissions Span
	Done       Span
}

// MarshalJSON writes a list: each checkpoint names each run, twice, so keys would be most of what a checkpoint of a large
// crawl writes.
func (i RunInfo) MarshalJSON() ([]byte, error) {
	list := []any{i.Kind, i.Number, i.Entries, i.Bytes, i.Admissions.After, i.Admissions.Upto, i.Done.After, i.Done.Upto}
	if i.Done == (Span{}) {
		list = list[:6]
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (i *RunInfo) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	fields := []any{&i.Kind, &i.Number, &i.Entries, &i.Bytes, &i.Admissions.After, &i.Admissions.Upto, &i.Done.After, &i.Done.Upto}
	if len(list) != len(fields) && len(list) != len(fields)-2 {
		return fmt.Errorf("a run of %d fields", len(list))
	}
	*i = RunInfo{}
	for n, field := range list {
		if err := json.Unmarshal(field, fields[n]); err != nil {
			return err
		}
	}
	return nil
}

// place is the span that says where a run stands among those of its kind. Queue runs have none: they stand in the order
// in which they were made.
func (i RunInfo) place() Span {
	if i.Kind == HashRun {
		return i.Admissions
	}
	return i.Done
}

// Manifest names the runs that belong to a checkpoint: those of one kind in the order of their age, the oldest first.
type Manifest struct {
	Runs       []RunInfo `json:"runs"`
	NextNumber uint64    `json:"next_number"` // no run has had it yet
}

// run is an immutable file of a run set, open for reading. Whoever got it from the set reads on until he releases it,
// also when another has taken its place.
type run struct {
	RunInfo
	*sortedrun.Run // nil: a bitmap

	file vfs.File
	refs int // under the set's lock; 0: the file is closed
}

// open reads the parts of the file that tell whether it is what the checkpoint names. What it does not read has
// checksums that are verified when it is read.
func (r *run) open() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != r.Bytes {
		return r.harm(min(info.Size(), r.Bytes), fmt.Errorf("it has %d bytes, want %d", info.Size(), r.Bytes))
	}
	if r.Kind == BitsRun {
		_, err := readBitsHead(r)
		return err
	}
	r.Run, err = sortedrun.Open(r.file, r.Bytes)
	if errors.Is(err, sortedrun.ErrVersion) {
		return r.harm(-1, err) // another program wrote it: this one remakes it
	}
	if err != nil {
		return r.damage(err)
	}
	if got := r.Run.Info().Entries; got != r.Entries {
		return r.harm(-1, fmt.Errorf("it has %d entries, want %d", got, r.Entries))
	}
	return nil
}

// damage names the file in an error of package sortedrun. Other errors stay what they are.
func (r *run) damage(err error) error {
	if d, ok := errors.AsType[*sortedrun.DamageError](err); ok {
		return r.harm(d.Offset, d.Err)
	}
	return err
}

func (r *run) harm(offset int64, err error) error {
	return &DamageError{File: r.file.Name(), Offset: offset, Err: err}
}

// runWriter makes what a file does not take a *WriteError, so that it is told from an error of what is read meanwhile.
type runWriter struct{ file vfs.File }

func (w runWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		return n, &WriteError{File: w.file.Name(), Err: err}
	}
	return n, nil
}

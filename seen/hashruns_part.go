package seen

import (
	"errors"
	"fmt"
	"io"
	"os"
)

const runSuffix = ".run"

func runName(number uint64) string { return fmt.Sprintf("%08d%s", number, runSuffix) }

// part is an open run with its file.
type part struct {
	*run
	file   *os.File
	number uint64
}

// createRun makes a durable file of a run, of the hashes that fill adds.
func (d disk) createRun(number uint64, fill func(*runWriter) error) error {
	return d.create(runName(number), func(w io.Writer) error {
		run := newRunWriter(w)
		if err := fill(run); err != nil {
			return err
		}
		return run.finish()
	})
}

// addSorted adds hashes that ascend, but for repeats.
func (w *runWriter) addSorted(hashes []uint64) error {
	for _, h := range hashes {
		if err := w.add(h); err != nil {
			return err
		}
	}
	return nil
}

// openRun opens a run that createRun made.
func (d disk) openRun(number uint64) (*part, error) {
	name := d.path(runName(number))
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s: the file is missing", ErrDamaged, name)
	}
	if err != nil {
		return nil, fmt.Errorf("seen: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("seen: %w", err), f.Close())
	}
	opened, err := openRun(f, name, 0, info.Size())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &part{run: opened, file: f, number: number}, nil
}

// runsOf returns the runs of parts.
func runsOf(parts []*part) []*run {
	runs := make([]*run, len(parts))
	for i, p := range parts {
		runs[i] = p.run
	}
	return runs
}

func keysOf(parts []*part) uint64 {
	var n uint64
	for _, p := range parts {
		n += p.keys
	}
	return n
}

func closeParts(parts []*part) error {
	var err error
	for _, p := range parts {
		err = errors.Join(err, p.file.Close())
	}
	return err
}

// discard removes runs that nothing names.
func (d disk) discard(parts []*part) error {
	err := closeParts(parts)
	for _, p := range parts {
		err = errors.Join(err, d.remove(runName(p.number)))
	}
	return err
}

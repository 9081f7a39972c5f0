package sortedrun

import (
	"errors"
	"fmt"
	"io"
)

var (
	// ErrDamaged is wrapped by every error that says that a file is not as it was written.
	ErrDamaged = errors.New("damaged")
	// ErrVersion is wrapped by the error of Open for a sound file of a version that this package does not read.
	ErrVersion = errors.New("unknown version")
	// ErrOrder is wrapped by the error of Writer.Add for a key that is not greater than the one before.
	ErrOrder = errors.New("keys do not ascend")
	// ErrTooLong is wrapped by the error of Writer.Add for an entry of more than MaxEntryBytes.
	ErrTooLong = errors.New("entry too long")
)

// A DamageError says where a file is not as it was written.
type DamageError struct {
	Offset int64 // of the block, or of the footer, in which the damage lies
	Err    error // wraps ErrDamaged
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("sortedrun: at byte %d: %v", e.Offset, e.Err)
}
func (e *DamageError) Unwrap() error { return e.Err }

func damage(offset int64, what string) error {
	return &DamageError{Offset: offset, Err: fmt.Errorf("%w: %s", ErrDamaged, what)}
}

// readFull reads len(p) bytes at offset. A file that ends before them has been cut: that is damage.
func readFull(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return damage(offset, "the file ends too early")
	default:
		return fmt.Errorf("sortedrun: read %d bytes at %d: %w", len(p), offset, err)
	}
}

package store

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"crawl/internal/vfs"
)

// survey finds the full blocks as index does, but passes over what is damaged: such a block has no length. It finds the
// blocks behind a damaged head by looking for the next one.
func (r *blockReader) survey(want uint64) (damage []error, err error) {
	segments, err := numbered(r.fs, r.dir, logExt)
	if err != nil {
		return nil, err
	}
	r.blocks = make([]blockAt, want)
	causes := make(map[uint64]error) // why a block is not there
	for _, segment := range segments {
		if segment >= want {
			break
		}
		if err := r.surveySegment(segment, causes); err != nil {
			return nil, err
		}
	}
	for at := uint64(0); at < want; at++ {
		if r.blocks[at].length > 0 {
			continue
		}
		first := at
		for at+1 < want && r.blocks[at+1].length == 0 && causes[at+1] == nil && !slices.Contains(segments, at+1) {
			at++
		}
		damage = append(damage, r.hole(segments, first, at, causes[first]))
	}
	return damage, nil
}

// hole is the damage of blocks that are not there.
func (r *blockReader) hole(segments []uint64, first, last uint64, cause error) error {
	lost := r.kind.entriesNamed(first*BlockEntries+1, (last+1)*BlockEntries)
	in, found := slices.BinarySearch(segments, first)
	if !found {
		in--
	}
	if in < 0 {
		return &DamageError{File: r.name(0), Offset: -1, Err: fmt.Errorf("%s: %w", lost, errMissing)}
	}
	e := &DamageError{File: r.name(segments[in]), Err: fmt.Errorf("%s: %w", lost, cause)}
	if cause == nil {
		e.Err = fmt.Errorf("%s: they are in no file", lost)
	}
	if first > 0 && r.blocks[first-1].segment == segments[in] {
		e.Offset = r.blocks[first-1].offset + r.blocks[first-1].length
	}
	return e
}

// surveySegment finds the blocks of one segment.
func (r *blockReader) surveySegment(segment uint64, causes map[uint64]error) error {
	f, err := r.open(segment)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	next := segment // block
	for offset := int64(0); next < uint64(len(r.blocks)); {
		head, err := r.wholeHeadAt(f, offset, info.Size())
		if err == nil {
			err = head.expect(int(next))
		}
		if err == nil {
			r.blocks[next] = blockAt{segment, offset, head.length()}
			offset += head.length()
			next++
			continue
		}
		if causes[next] == nil && r.blocks[next].length == 0 {
			causes[next] = err
		}
		offset, next = r.resync(f, offset+1, info.Size(), next)
	}
	return nil
}

// wholeHeadAt reads the head of a block all of which is there.
func (r *blockReader) wholeHeadAt(f io.ReaderAt, offset, size int64) (blockHead, error) {
	head, err := r.headAt(f, offset)
	if err == nil && head.length() > size-offset {
		err = errTornBlock
	}
	return head, err
}

// resync looks for the next block that is as it was written. Where there is none, next is past all blocks.
func (r *blockReader) resync(f vfs.File, from, size int64, after uint64) (offset int64, next uint64) {
	const window = 1 << 20
	mark := append([]byte(blockMagic), byte(r.kind), blockVersion)
	buffer := make([]byte, window+len(mark))
	for at := from; at < size; at += window {
		n, _ := f.ReadAt(buffer[:min(int64(len(buffer)), size-at)], at) // what cannot be read holds no block
		for text, base := buffer[:n], at; ; {
			i := bytes.Index(text, mark)
			if i < 0 {
				break
			}
			head, err := r.wholeHeadAt(f, base+int64(i), size)
			if number := head.first / BlockEntries; err == nil && number > after && head.expect(int(number)) == nil {
				return base + int64(i), number
			}
			text, base = text[i+1:], base+int64(i)+1
		}
	}
	return size, uint64(len(r.blocks))
}

// EachAdmission calls fn for every admission that can be read, in order.
func (i *Inspection) EachAdmission(ctx context.Context, fn func(seq uint64, a Admission) error) (damage []error, err error) {
	var found findings
	log := i.store.Admissions
	entries := make([]Admission, 0, BlockEntries)
	for number := range log.blocks.blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if log.blocks.blocks[number].length == 0 {
			continue // Inspect told of it
		}
		if entries, err = log.block(number, entries[:0]); err != nil {
			if err := found.note(err); err != nil {
				return nil, err
			}
			continue
		}
		for n, a := range entries {
			if err := fn(uint64(number)*BlockEntries+uint64(n)+1, a); err != nil {
				return nil, err
			}
		}
	}
	return found.damage, log.eachOfTail(1, fn)
}

// EachHashes calls fn with the hashes of consecutive admissions, in order, as far as they can be read. What cannot is damage
// that EachAdmission tells of. The slice is reused.
func (i *Inspection) EachHashes(ctx context.Context, fn func(first uint64, hashes []uint64)) error {
	log := i.store.Admissions
	hashes := make([]uint64, 0, BlockEntries)
	for number := 0; number <= len(log.blocks.blocks); number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if number < len(log.blocks.blocks) && log.blocks.blocks[number].length == 0 {
			continue
		}
		raw, err := log.rawHashes(number)
		var told findings
		if sound, err := told.soundly(err); err != nil || !sound {
			if err != nil {
				return err
			}
			continue
		}
		hashes = appendHashes(hashes[:0], raw)
		fn(uint64(number)*BlockEntries+1, hashes)
	}
	return nil
}

// EachEvent calls fn for every event after the first so many that can be read, in order, with its position from 1.
func (i *Inspection) EachEvent(ctx context.Context, after uint64, fn func(position uint64, e DoneEntry) error) (damage []error, err error) {
	first := int(after / BlockEntries)
	return i.events(ctx, first, len(i.store.Done.blocks.blocks)+1, 1, func(number int, entries []DoneEntry) error {
		for n, e := range entries {
			if position := uint64(number)*BlockEntries + uint64(n) + 1; position > after {
				if err := fn(position, e); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// EachEventBackward calls fn for every event that can be read, the last one first.
func (i *Inspection) EachEventBackward(ctx context.Context, fn func(e DoneEntry) error) (damage []error, err error) {
	return i.events(ctx, len(i.store.Done.blocks.blocks), -1, -1, func(_ int, entries []DoneEntry) error {
		for _, e := range slices.Backward(entries) {
			if err := fn(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// events calls fn with the events of blocks, from one on and up to another, the open tail being the last of them.
func (i *Inspection) events(ctx context.Context, from, to, step int, fn func(number int, entries []DoneEntry) error) (damage []error, err error) {
	var found findings
	log := i.store.Done
	entries := make([]DoneEntry, 0, BlockEntries)
	for number := from; number != to; number += step {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if number < len(log.blocks.blocks) && log.blocks.blocks[number].length == 0 {
			continue // Inspect told of it
		}
		entries, err = log.block(number, entries[:0])
		sound, err := found.soundly(err)
		if err != nil {
			return nil, err
		}
		if !sound {
			continue
		}
		if err := fn(number, entries); err != nil {
			return nil, err
		}
	}
	return found.damage, nil
}

// EachQueued calls fn with the number of every entry of the queue's runs that can be read, the newest run first.
func (i *Inspection) EachQueued(ctx context.Context, fn func(seq uint64) error) (damage []error, err error) {
	var found findings
	runs := i.store.runs.newest(QueueRun)
	defer i.store.runs.release(runs)
	for _, r := range runs {
		if err := found.note(eachQueued(ctx, r, fn)); err != nil {
			return nil, err
		}
	}
	return found.damage, nil
}

func eachQueued(ctx context.Context, r *run, fn func(seq uint64) error) error {
	cursor := r.Seek(nil)
	var p Pending
	for n := 0; cursor.Next(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		_, at, err := parseQueueKey(cursor.Key())
		if err == nil {
			err = decodePending(at, cursor.Note(), cursor.Value(), &p)
		}
		if err != nil {
			return r.harm(-1, err)
		}
		if err := fn(at.seq); err != nil {
			return err
		}
	}
	return r.damage(cursor.Err())
}

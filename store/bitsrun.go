package store

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// DoneBits returns the bitmap of what is done as of now: the saved one, and on it the events that it does not contain.
// Opening a crawl that was checkpointed a moment ago reads an eighth of a byte a URL, and about a million events at
// most.
func (s *Store) DoneBits() (*Bits, error) {
	scan := s.Done.scan()
	b, _, err := s.replayBits(context.Background(), scan, s.Admissions.Len())
	if err := errors.Join(err, scan.closeReading()); err != nil {
		return nil, err
	}
	tail, err := unpackMarks(s.Done.tail.steps, s.Done.tail.rest, s.Done.tail.len(), nil)
	if err == nil {
		err = b.replay(tail, s.Admissions.Len())
	}
	if err != nil {
		end := LogMark{Entries: s.Done.Len()}
		return nil, s.Done.blocks.tailDamage(columns{first: end.block() * BlockEntries}, end, -1, err)
	}
	return b, nil
}

// replayBits returns the bitmap of all full blocks, and the number of events that it contains. Numbers go up to limit.
func (s *Store) replayBits(ctx context.Context, scan *doneScan, limit uint64) (*Bits, uint64, error) {
	b, from, err := s.savedBits()
	if err != nil {
		return nil, 0, err
	}
	upto := uint64(len(scan.blocks)) * BlockEntries
	return b, upto, b.replayBlocks(ctx, scan, Span{from, upto}, limit)
}

// replayBlocks goes on with the bitmap through full blocks.
func (b *Bits) replayBlocks(ctx context.Context, scan *doneScan, span Span, limit uint64) error {
	for at := span.After; at < span.Upto; at += BlockEntries {
		number := int(at / BlockEntries)
		marks, err := scan.block(number)
		if err != nil {
			return err
		}
		if err := b.replay(marks, limit); err != nil {
			return scan.damage(number, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// replay goes on with the bitmap. A number beyond all that were admitted would make it of any size.
func (b *Bits) replay(marks []doneMark, limit uint64) error {
	for _, m := range marks {
		if m.seq == 0 || m.seq > limit {
			return fmt.Errorf("an event of number %d, which was never given", m.seq)
		}
		b.put(m.seq, m.event)
	}
	return nil
}

// savedBits returns the bitmap that was saved last and the number of events that it contains: nothing where there is
// none, or where it is damaged. All of it is in the done log.
func (s *Store) savedBits() (*Bits, uint64, error) {
	saved := s.runs.newest(BitsRun)
	defer s.runs.release(saved)
	for _, r := range saved {
		b, err := readBits(r)
		if err == nil {
			return b, r.RunInfo.Done.Upto, nil
		}
		if _, damaged := errors.AsType[*DamageError](s.runs.leave(r, err)); !damaged {
			return nil, 0, err
		}
	}
	return &Bits{}, 0, nil
}

// bitsJob returns the saving of the bitmap, nil when it is not far behind.
func (s *Store) bitsJob() job {
	if s.Done.blocks.fullEntries() < s.savedEvents()+s.runs.sizes.bitsEvents {
		return nil
	}
	return func(ctx context.Context) error {
		_, _, err := s.saveBits(ctx)
		return err
	}
}

// savedEvents is the number of events that the saved bitmap contains.
func (s *Store) savedEvents() uint64 {
	events := uint64(0)
	for _, info := range s.runs.infos(BitsRun) {
		events = max(events, info.Done.Upto)
	}
	return events
}

// saveBits brings the bitmap's file up to the last full block of the done log, and returns what it holds and the number
// of events that it contains.
func (s *Store) saveBits(ctx context.Context) (b *Bits, upto uint64, err error) {
	scan := s.Done.scan() // before the admissions: what is done was admitted before
	defer func() { err = errors.Join(err, scan.closeReading()) }()
	limit := s.Admissions.blocks.fullEntries() + BlockEntries
	if b, upto, err = s.replayBits(ctx, scan, limit); err != nil {
		return nil, 0, err
	}
	info := RunInfo{Kind: BitsRun, Done: Span{Upto: upto}}
	made, err := s.runs.write(info, func(w io.Writer) (uint64, error) { return b.Count(), writeBits(w, b, upto) })
	if err != nil {
		return nil, 0, err
	}
	old := s.runs.newest(BitsRun)
	s.runs.replace(made, old)
	s.runs.release(old)
	return b, upto, nil
}

// ensureBits returns a bitmap that contains at least the first upto events of the done log, and how many it contains.
// It is nil where full blocks do not reach so far yet: nobody can be told then what is done. It belongs to background
// work, as a part of a job.
func (s *Store) ensureBits(ctx context.Context, upto uint64) (*Bits, uint64, error) {
	if s.savedEvents() >= upto {
		b, events, err := s.savedBits()
		if err != nil || events >= upto {
			return b, events, err
		}
	}
	if s.Done.blocks.fullEntries() < upto {
		return nil, 0, nil
	}
	return s.saveBits(ctx)
}

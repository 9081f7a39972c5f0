package store

import (
	"context"
	"errors"
	"iter"
)

// AdmittedURL is an admitted URL and whether its last visit has ended.
type AdmittedURL struct {
	Admission
	Seq  uint64
	Done bool
}

// URLs returns all URLs that the checkpoint holds, in the order of their numbers. An error is the last thing it returns.
func (r *Reader) URLs(ctx context.Context) iter.Seq2[AdmittedURL, error] {
	return func(yield func(AdmittedURL, error) bool) {
		err := r.eachURL(ctx, func(u AdmittedURL) bool { return yield(u, nil) })
		if err != nil && !errors.Is(err, errEnough) {
			yield(AdmittedURL{}, err)
		}
	}
}

func (r *Reader) eachURL(ctx context.Context, yield func(AdmittedURL) bool) error {
	v, err := r.open()
	if err != nil {
		return err
	}
	asStored := &Store{dir: r.dir, Admissions: v.admissions, Done: v.done, runs: v.runs}
	done, err := asStored.DoneBits()
	if err != nil {
		return err
	}
	return v.admissions.Each(1, func(seq uint64, a Admission) error {
		if seq%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !yield(AdmittedURL{Admission: a, Seq: seq, Done: done.Test(seq)}) {
			return errEnough
		}
		return nil
	})
}

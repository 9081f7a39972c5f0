package store

import "errors"

// Find returns the numbers of those hashes that were admitted, as Store.Find does.
func (r *Reader) Find(hashes []uint64) (map[uint64]uint64, error) {
	v, err := r.open()
	if err != nil {
		return nil, err
	}
	return v.find(hashes)
}

// Admission returns the admission with the given number.
func (r *Reader) Admission(seq uint64) (Admission, error) {
	v, err := r.open()
	if err != nil {
		return Admission{}, err
	}
	return v.admissions.Get(seq)
}

// LastDone returns the last event of a number; found is false when it has none.
func (r *Reader) LastDone(seq uint64) (e DoneEntry, found bool, err error) {
	v, err := r.open()
	if err != nil {
		return DoneEntry{}, false, err
	}
	events, err := v.lastDone([]uint64{seq})
	e, found = events[seq]
	return e, found, err
}

// Close closes the files that look-ups opened. The reader may be used again.
func (r *Reader) Close() error {
	err := r.closeViews()
	if r.codec != nil {
		r.codec.close()
		r.codec = nil
	}
	return err
}

// openTries is how many newer checkpoints a reader follows while files go away under it.
const openTries = 10

// open returns the views of the checkpoint that is read. A running crawl may have removed files of runs since it was
// written: it has written a newer one then, and that is read instead. What is damaged is left out, since all of it is in
// the logs too.
func (r *Reader) open() (*views, error) {
	for range openTries {
		if r.views != nil {
			break
		}
		if err := r.openViews(); err != nil {
			return nil, err
		}
		if len(r.views.runs.harm) == 0 {
			break
		}
		if err := r.Refresh(); err != nil {
			return nil, err
		}
	}
	if r.views == nil {
		return nil, errors.New("the crawl makes checkpoints faster than they can be read")
	}
	return r.views, nil
}

func (r *Reader) openViews() (err error) {
	if r.codec == nil {
		if r.codec, err = newCodec(); err != nil {
			return err
		}
	}
	v, err := r.dir.readViews(r.at, r.codec)
	if err != nil {
		return err
	}
	r.views = &v
	return nil
}

func (r *Reader) closeViews() error {
	if r.views == nil {
		return nil
	}
	v := r.views
	r.views = nil
	return v.close()
}

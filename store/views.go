package store

import "errors"

// views are both logs and the runs that were made from them: what a look-up needs.
type views struct {
	admissions *AdmissionLog
	done       *DoneLog
	runs       *runSet
}

func (s *Store) views() views { return views{s.Admissions, s.Done, s.runs} }

// readViews opens the logs and the runs of a checkpoint beside the crawl that owns them. They are only read.
func (d directory) readViews(p point, c *codec) (views, error) {
	v := views{
		admissions: newAdmissionLog(readBlockLog(d, d.log(), admissionBlock, c)),
		done:       newDoneLog(readBlockLog(d, d.done(), doneBlock, c)),
	}
	err := errors.Join(v.admissions.blocks.find(p.Admissions), v.done.blocks.find(p.Done))
	if err == nil {
		err = errors.Join(
			v.admissions.restoreTail(p.admissionTail, p.Admissions), v.done.restoreTail(p.doneTail, p.Done))
		if err != nil {
			err = &DamageError{File: d.twin(), Offset: -1, Err: err}
		}
	}
	if err == nil {
		v.runs, err = readRuns(d.fs, d.runs(), p.Runs)
	}
	if err != nil {
		return views{}, errors.Join(err, v.close())
	}
	return v, nil
}

// close ends the reading beside a crawl.
func (v views) close() error {
	err := errors.Join(v.admissions.blocks.closeReading(), v.done.blocks.closeReading())
	if v.runs != nil {
		err = errors.Join(err, v.runs.close())
	}
	return err
}

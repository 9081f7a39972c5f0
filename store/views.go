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
	v := views{admissions: readAdmissionLog(d, c), done: readDoneLog(d, c)}
	err := errors.Join(v.admissions.blocks.at(p.Admissions, v.admissions), v.done.blocks.at(p.Done, v.done))
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

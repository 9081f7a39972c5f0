package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Recover makes state.db anew from its twin, the file `checkpoint`, where it is damaged or gone. fill returns the rows and
// books of the new checkpoint: the twin has the books, and no rows. What was in the place of state.db stays beside it as
// state.db.damaged. It fails with a *DamageError when the twin, or what it names, is damaged too.
func Recover(dir string, cfg Config, fill func(s *Store) (rows []Row, books any, err error)) error {
	cfg = cfg.withDefaults()
	d := directory{root: dir, fs: cfg.FS}
	format, err := d.readFormat()
	if err != nil {
		return err
	}
	held, err := d.claim()
	if err != nil {
		return err
	}
	s := &Store{dir: d, crawlID: format.CrawlID, lock: held, state: newState(d), wake: make(chan struct{}, 1)}
	return errors.Join(s.recover(cfg, fill), s.Close())
}

func (s *Store) recover(cfg Config, fill func(s *Store) ([]Row, any, error)) error {
	p, err := s.dir.readTwin()
	if err != nil {
		return err
	}
	if p.crawlID != s.crawlID {
		return &DamageError{File: s.dir.twin(), Offset: -1, Err: errors.New("it is of another crawl")}
	}
	if err := s.openFiles(cfg, p); err != nil {
		return err
	}
	s.last = p.Cut
	rows, books, err := fill(s)
	if err != nil {
		return err
	}
	if err := s.setAside(); err != nil {
		return err
	}
	return s.appear(rows, books)
}

// setAside keeps a damaged state.db for whoever wants to look into it, and removes one that was not finished.
func (s *Store) setAside() error {
	err := s.dir.fs.Rename(s.dir.stateDB(), s.dir.stateDB()+".damaged")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &WriteError{File: s.dir.stateDB(), Err: err}
	}
	return removeIfThere(s.dir.fs, s.dir.newStateDB())
}

// RestoreFormat writes format.json anew, with the name that the checkpoint gives the crawl.
func (i *Inspection) RestoreFormat() error {
	if i.store == nil {
		return fmt.Errorf("%s cannot be made again: no checkpoint is left that names the crawl", i.dir.format())
	}
	text, err := json.Marshal(Format{Version: formatVersion, CrawlID: i.at.crawlID})
	if err != nil {
		return err
	}
	return writeWhole(i.dir.fs, i.dir.format(), append(text, '\n'), 0o644)
}

package seen

import (
	"errors"
	"fmt"
)

// MergeTables makes a table's file of all that is in tables, without sorting anything. They have to have one seed, and so
// has c if it names one: else the error is ErrMismatch. The file may take the place of one of theirs.
func MergeTables(path string, c Config, tables ...*Table) (err error) {
	if len(tables) == 0 {
		return errors.New("seen: merge of no tables")
	}
	if c.Seed == 0 {
		c.Seed = tables[0].front.cfg.Seed
	}
	runs := make([]*run, len(tables))
	for i, t := range tables {
		if t.front.cfg.Seed != c.Seed {
			return fmt.Errorf("%w: %s has another seed", ErrMismatch, t.run.name)
		}
		runs[i] = t.run
	}
	b, err := NewTableBuilder(path, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.merge(runs); err != nil {
		return err
	}
	return b.Finish()
}

package crawler

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"crawl/store"
)

// Report is what Verify found: the object of `crawl verify --json`. Keys are only ever added.
type Report struct {
	Sound      bool     `json:"sound"`
	Checkpoint uint64   `json:"checkpoint"` // that was verified; 0: none is left
	Admitted   uint64   `json:"admitted"`
	Done       uint64   `json:"done"`
	Pending    uint64   `json:"pending"`
	Records    uint64   `json:"records"`   // page records
	Filter     uint64   `json:"filter"`    // URLs in the saved filter; the log has the others
	Damage     []Damage `json:"damage"`    // empty: none
	Unchecked  []string `json:"unchecked"` // what other damage leaves no way to check
	Repaired   []string `json:"repaired"`
}

// Damage is one thing that is not as the crawl left it.
type Damage struct {
	Part    string `json:"part"`    // what it belongs to
	File    string `json:"file"`    // or folder
	Offset  int64  `json:"offset"`  // where in the file; -1: the whole file
	Problem string `json:"problem"` // what was found
	Lost    string `json:"lost"`    // what is gone for good
	Mend    string `json:"mend"`    // what to do about it
}

// The parts of a crawl's state, as Damage.Part names them.
const (
	partFormat   = "format"
	partState    = "state"
	partRows     = "rows"
	partTwin     = "checkpoint"
	partLog      = "log"
	partTail     = "tail"  // of either log, where nothing is lost
	partTwice    = "twice" // admitted
	partDone     = "done"
	partPages    = "pages"
	partRuns     = "runs"
	partFilter   = "seen"
	partSeeds    = "seeds"
	partCounters = "counters"
)

// partOf returns which part of the crawl in dir a file belongs to.
func partOf(dir, file string) string {
	name, err := filepath.Rel(dir, file)
	if err != nil {
		return partState
	}
	top, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	switch top {
	case "format.json":
		return partFormat
	case "checkpoint":
		return partTwin
	case "seen.db", exactDir:
		return partFilter
	case "log", "done", "pages", "runs", "seeds":
		return top
	}
	return partState
}

const nothingLost = "nothing"

// advice says what is lost with a part, and what to do.
func advice(part, dir string, twin bool) (lost, mend string) {
	repair := fmt.Sprintf("crawl verify --repair %s", dir)
	const copied = "put the file back from a copy that is not older than the last checkpoint, or start a new crawl in another directory"
	switch part {
	case partFormat, partTwin, partCounters:
		return nothingLost, repair
	case partTail:
		return nothingLost + ": the log goes on behind the last checkpoint", repair + ", or go on: it is made again first of all"
	case partTwice:
		return nothingLost + ": the page is fetched, and stands in the output, once for each number", "nothing can be: the log is never changed"
	case partRuns, partFilter:
		return nothingLost + ": it is made from the logs", repair + ", or go on: it is made again when it is needed"
	case partState:
		if twin {
			return "how long single hosts wait, and which were given up for failures: those are asked again, each with its full delay", repair
		}
		return "where the crawl was: nothing else says how far its files go", "put state.db or checkpoint back from a copy of the same moment, " +
			"or start a new crawl in another directory; the page records stay readable"
	case partRows:
		return "what this row held", "move state.db elsewhere, then " + repair + ": it makes the rows again as far as logs and page records tell"
	case partLog:
		return "the URLs with these numbers, and whether the filter and the queue have them", copied
	case partDone:
		return "what became of the URLs of these events: which of them are done", copied
	case partPages:
		return "these records; their URLs count as done", copied
	case partSeeds:
		return "the seeds from there on: those that were not read yet, and the scope that they give", copied
	}
	return "", copied
}

// add enters damage once.
func (r *Report) add(d Damage) {
	for _, other := range r.Damage {
		if other.File == d.File && other.Offset == d.Offset && other.Problem == d.Problem {
			return
		}
	}
	r.Damage = append(r.Damage, d)
}

// has reports whether some part is damaged.
func (r *Report) has(parts ...string) bool {
	for _, d := range r.Damage {
		for _, part := range parts {
			if d.Part == part {
				return true
			}
		}
	}
	return false
}

// note enters an error that is damage, and returns any other.
func (v *verifier) note(err error) error {
	d, ok := errors.AsType[*store.DamageError](err)
	if !ok {
		return err
	}
	part := partOf(v.dir, d.File)
	if errors.Is(err, store.ErrElsewhere) {
		part = partTail
	}
	v.found(part, d.File, d.Offset, d.Err.Error())
	return nil
}

func (v *verifier) noteAll(damage []error) error {
	for _, err := range damage {
		if err := v.note(err); err != nil {
			return err
		}
	}
	return nil
}

// maxOfPart is how much damage of one part is named; a file of which nothing is right would fill the report.
const maxOfPart = 50

// found enters damage.
func (v *verifier) found(part, file string, offset int64, problem string) {
	if v.named[part]++; v.named[part] > maxOfPart {
		return
	}
	lost, mend := advice(part, v.dir, v.twin)
	v.report.add(Damage{Part: part, File: file, Offset: offset, Problem: problem, Lost: lost, Mend: mend})
}

// more says how much damage was not named.
func (v *verifier) more() {
	for _, part := range slices.Sorted(maps.Keys(v.named)) {
		if n := v.named[part] - maxOfPart; n > 0 {
			lost, mend := advice(part, v.dir, v.twin)
			v.report.add(Damage{Part: part, File: v.dir, Offset: -1, Problem: fmt.Sprintf("and %d more of this kind", n), Lost: lost, Mend: mend})
		}
	}
}

package crawler

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crawl/store"
)

// harm is what may happen to a file.
type harm struct {
	name string
	do   func(data []byte, at int) []byte // nil: the file goes
}

var harms = []harm{
	{"cut", func(data []byte, at int) []byte { return data[:at] }},
	{"zeroed", func(data []byte, at int) []byte { clear(data[at/2 : at+len(data[at:])/2]); return data }},
	{"flipped", func(data []byte, at int) []byte { data[at] ^= 0x10; return data }},
	{"missing", nil},
}

// to harms a file at a place that aim finds; nil: in its middle.
func (h harm) to(t *testing.T, file string, aim func(data []byte) int) {
	t.Helper()
	if h.do == nil {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := len(data) / 2
	if aim != nil {
		at = aim(data)
	}
	if err := os.WriteFile(file, h.do(data, at), 0o644); err != nil {
		t.Fatal(err)
	}
}

// newestPoint finds the checkpoint in state.db. Much of that file is pages that nothing uses, and older checkpoints.
func newestPoint(number uint64) func([]byte) int {
	return func(data []byte) int {
		return max(0, bytes.LastIndex(data, fmt.Appendf(nil, `"cut":{"number":%d,`, number)))
	}
}

// fileOf returns a file of a crawl: by its name, the first of a series by its folder, or of runs one of a kind.
func fileOf(t *testing.T, dir, name string) string {
	t.Helper()
	kind, isRun := strings.CutPrefix(name, "runs/")
	if !isRun {
		if files, _ := filepath.Glob(filepath.Join(dir, name, "*")); len(files) > 0 {
			return files[0]
		}
		return filepath.Join(dir, name)
	}
	r, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	var largest store.RunInfo
	for _, info := range r.Cut().Runs.Runs {
		if info.Kind == store.RunKind(kind) && info.Bytes > largest.Bytes {
			largest = info
		}
	}
	if largest.Number == 0 {
		t.Fatalf("the crawl has no run of %ss", kind)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "runs", "*"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() == largest.Bytes {
			return file
		}
	}
	t.Fatalf("the run %d has no file", largest.Number)
	return ""
}

// Each file of a crawl is cut, zeroed, has a bit flipped, or is gone: verify names it; what can be made again is repaired, or
// made again by going on, and no page is lost then; what cannot ends with damage that names the file.
func TestDamagedFiles(t *testing.T) {
	web := newListWeb(4600) // a block of each log, and a run of it
	whole := listCrawl(t, web, 4200)
	last := sound(t, whole).Checkpoint
	for _, file := range []struct {
		name string
		aim  func([]byte) int
		part string
		mend bool   // verify --repair makes it again
		on   bool   // going on makes it again by itself
		late bool   // but not before somebody asks for what is damaged
		mute string // a harm that may leave no trace: page records have no checksums
	}{
		{name: "format.json", part: partFormat, mend: true},
		{name: "state.db", aim: newestPoint(last), part: partState, mend: true},
		{name: "checkpoint", part: partTwin, mend: true, on: true},
		{name: "seen.db", part: partFilter, mend: true, on: true},
		{name: "runs/queue", part: partRuns, mend: true, on: true},
		{name: "runs/hash", part: partRuns, mend: true, on: true, late: true},
		{name: "runs/done", part: partRuns, mend: true, on: true, late: true},
		{name: "log", part: partLog},
		{name: "log/0000000001.tail", part: partLog},
		{name: "done", part: partDone},
		{name: "done/0000000001.tail", part: partDone},
		{name: "pages", part: partPages, mute: "flipped"},
		{name: "seeds", part: partSeeds},
	} {
		for i, h := range harms {
			t.Run(file.name+"/"+h.name, func(t *testing.T) {
				if testing.Short() && i%2 == 0 {
					t.Skip("one of two in short runs")
				}
				t.Parallel()
				dir := copyCrawl(t, whole)
				at := fileOf(t, dir, file.name)
				h.to(t, at, file.aim)
				if file.mute == h.name {
					return
				}
				if gone := h.do == nil && file.name == "seen.db"; !gone { // a filter need not be saved
					named(t, dir, file.part, at)
				}
				if file.on {
					on := copyCrawl(t, dir)
					log := goesOn(t, on, web)
					if file.late {
						repairs(t, on, true)
					} else if file.part != partTwin && h.do != nil && !strings.Contains(log, "again") && !strings.Contains(log, "remade") {
						t.Errorf("nothing is said of it: %s", log)
					}
					sound(t, on)
				} else {
					endsDamaged(t, copyCrawl(t, dir), at)
				}
				repairs(t, dir, file.mend)
				if file.mend && !file.on {
					goesOn(t, dir, web)
					sound(t, dir)
				}
			})
		}
	}
}

// A tail that is gone although its log goes on beyond the checkpoint is no loss: verify says so, a repair makes it again, and so
// does going on.
func TestDamagedTailThatBecameABlock(t *testing.T) {
	web := newListWeb(4600)
	dir := listCrawl(t, web, 4200)
	st, err := store.Open(dir, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range store.BlockEntries {
		_, err := st.Admissions.Append(store.Admission{URL: "https://lost.example/"})
		err = errors.Join(err, st.Done.Append(store.DoneEntry{Seq: 1, Event: store.EventDone, Outcome: store.OutcomeOK}))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil { // as a kill leaves it: with two blocks that no checkpoint names
		t.Fatal(err)
	}
	sound(t, dir)
	for _, name := range []string{"log/0000000001.tail", "done/0000000001.tail"} {
		for _, h := range harms {
			t.Run(name+"/"+h.name, func(t *testing.T) {
				t.Parallel()
				dir := copyCrawl(t, dir)
				at := filepath.Join(dir, filepath.FromSlash(name))
				h.to(t, at, nil)
				named(t, dir, partTail, at)
				on := copyCrawl(t, dir)
				if log := goesOn(t, on, web); !strings.Contains(log, "made again") {
					t.Errorf("nothing is said of it: %s", log)
				}
				sound(t, on)
				repairs(t, dir, true)
				goesOn(t, dir, web)
				sound(t, dir)
			})
		}
	}
}

// sound fails the test on any damage.
func sound(t *testing.T, dir string) Report {
	t.Helper()
	report, err := Verify(t.Context(), dir, VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Sound || len(report.Unchecked) > 0 {
		t.Fatalf("%s is not sound: %+v", dir, report)
	}
	return report
}

// named checks that verify names the damage of a file, with what is lost and what to do, and changes nothing.
func named(t *testing.T, dir, part, file string) {
	t.Helper()
	before := listing(t, dir)
	report, err := Verify(t.Context(), dir, VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Sound || !report.has(part) {
		t.Fatalf("the report says nothing of %s: %+v", part, report)
	}
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("verify has changed the directory from %v to %v", before, after)
	}
	found := false
	for _, d := range report.Damage {
		found = found || d.File == file
		if d.Lost == "" || d.Mend == "" || d.Problem == "" {
			t.Errorf("not all is said of %+v", d)
		}
	}
	if !found {
		t.Errorf("no damage is of %s: %+v", file, report.Damage)
	}
}

// listing returns the names, sizes and times of all files but the lock.
func listing(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "lock") {
			return err
		}
		info, err := d.Info()
		list = append(list, path+" "+info.ModTime().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// goesOn runs a damaged crawl to its end: nothing is lost.
func goesOn(t *testing.T, dir string, web *listWeb) (log string) {
	t.Helper()
	var said logged
	c, err := goOn(dir, web, func(cfg *Config) { cfg.Log = said.logger() })
	if err != nil {
		t.Fatal(err)
	}
	if err := finish(t, c); err != nil {
		t.Fatalf("%v; the log says:\n%s", err, said.String())
	}
	recordedOnce(t, dir, web)
	return said.String()
}

// endsDamaged goes on with a crawl whose damage nothing mends: it must not end as though nothing had happened.
func endsDamaged(t *testing.T, dir, file string) {
	t.Helper()
	c, err := goOn(dir, newListWeb(4600), nil)
	if err == nil {
		err = finish(t, c)
	}
	if err == nil {
		if report, err := Verify(t.Context(), dir, VerifyOptions{}); err != nil || report.Sound {
			t.Errorf("it went on, and verify says %+v, %v", report, err)
		}
		return
	}
	d, ok := errors.AsType[*store.DamageError](err)
	if !ok || filepath.Base(d.File) != filepath.Base(file) {
		t.Errorf("going on says %v, want damage of %s", err, file)
	}
}

// repairs checks that a repair does all, or nothing.
func repairs(t *testing.T, dir string, all bool) {
	t.Helper()
	report, err := Verify(t.Context(), dir, VerifyOptions{Repair: true})
	if err != nil {
		t.Fatal(err)
	}
	if report.Sound != all {
		t.Fatalf("repaired: %+v", report)
	}
	if all && len(report.Repaired) == 0 {
		if damaged, _ := Verify(t.Context(), dir, VerifyOptions{}); !damaged.Sound {
			t.Errorf("nothing was repaired: %+v", damaged)
		}
	}
}

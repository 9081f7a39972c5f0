package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"crawl/crawler"
	"crawl/store"
)

// recordsCommand prints keys of the page records that the last checkpoint holds, a line each, the lines sorted. A key of an
// object within a record is written error.code; what a record does not have is a dash.
func recordsCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) > 1, "records DIR KEY...")
	reader, err := store.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	var rows []string
	for page, err := range reader.Pages(context.Background(), store.Query{}) {
		ts.Check(err)
		text, err := json.Marshal(page)
		ts.Check(err)
		record := decode(ts, text)
		var row []string
		for _, key := range args[1:] {
			row = append(row, field(record, key))
		}
		rows = append(rows, strings.Join(row, " ")+"\n")
	}
	slices.Sort(rows)
	io.WriteString(ts.Stdout(), strings.Join(rows, ""))
}

// nowhereCommand looks for a text that must not be on disk.
func nowhereCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 2, "nowhere DIR TEXT")
	files := 0
	ts.Check(fs.WalkDir(os.DirFS(ts.MkAbs(args[0])), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		if strings.Contains(ts.ReadFile(filepath.Join(args[0], path)), args[1]) {
			ts.Fatalf("%s holds %q", path, args[1])
		}
		return nil
	}))
	if files == 0 {
		ts.Fatalf("%s has no files", args[0])
	}
}

// decode reads a JSON object and keeps its numbers as they stand.
func decode(ts *testscript.TestScript, text []byte) map[string]any {
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	ts.Check(decoder.Decode(&object))
	return object
}

func field(record map[string]any, key string) string {
	var value any = record
	for name := range strings.SplitSeq(key, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	if value == nil {
		return "-"
	}
	return fmt.Sprint(value)
}

// snapshotKeys are the keys that a snapshot always has.
var snapshotKeys = strings.Fields(`state paused_for started_at elapsed_s pages body_bytes discovered admitted queued in_flight done hosts
	by_status by_reason by_outcome errors pages_per_s bytes_per_s seen.kind seen.items seen.layers seen.bits seen.bytes
	seen.fill seen.fp_target seen.fp_now seen.fp_measured seen.expected_skipped seen.expected_skipped_high
	checkpoint.number checkpoint.at checkpoint.duration_ms checkpoint.bytes rss_bytes limit_reached`)

// sumsCommand checks what `crawl stats --json` has printed.
func sumsCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 1, "sums STATE")
	text := []byte(ts.ReadFile("stdout"))
	object := decode(ts, text)
	for _, key := range snapshotKeys {
		if field(object, key) == "-" {
			ts.Fatalf("the snapshot has no %s", key)
		}
	}
	var s crawler.Snapshot
	ts.Check(json.Unmarshal(text, &s))
	for _, sum := range []struct {
		what  string
		parts uint64
		whole uint64
	}{
		{"by_reason and discovered", total(s.ByReason), s.Discovered},
		{"by_reason.admitted and admitted", s.ByReason["admitted"], s.Admitted},
		{"by_outcome and done", total(s.ByOutcome), s.Done},
		{"done, queued, in_flight and admitted", s.Done + s.Queued + s.InFlight, s.Admitted},
		{"admitted and seen.items", s.Seen.Items, s.Admitted},
	} {
		if sum.parts != sum.whole {
			ts.Fatalf("%s: %d and %d are not the same", sum.what, sum.parts, sum.whole)
		}
	}
	if string(s.State) != args[0] {
		ts.Fatalf("the crawl is %s, want %s", s.State, args[0])
	}
}

func total(counts map[string]uint64) (sum uint64) {
	for n := range maps.Values(counts) {
		sum += n
	}
	return sum
}

func cutCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 2, "cut FILE N")
	name := ts.MkAbs(args[0])
	ts.Check(os.Truncate(name, place(ts, name, args[1])))
}

func flipCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 2, "flip FILE N")
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	data[place(ts, name, args[1])] ^= 0xff
	ts.Check(os.WriteFile(name, data, 0o600))
}

// place is an offset in a file, counted from its end when it is negative.
func place(ts *testscript.TestScript, name, text string) int64 {
	n := int64(number(ts, text))
	if n < 0 {
		info, err := os.Stat(name)
		ts.Check(err)
		n += info.Size()
	}
	return n
}

func copyCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 2, "copy DIR TO")
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}

package store

import (
	"reflect"
	"testing"
)

func hashSpans(blocks ...uint64) (infos []RunInfo) {
	for i := 0; i < len(blocks); i += 2 {
		span := Span{blocks[i] * BlockEntries, blocks[i+1] * BlockEntries}
		infos = append(infos, RunInfo{Kind: HashRun, Admissions: span})
	}
	return infos
}

// Numbers are blocks: two make a run, two runs a merged one.
func TestWhatIsDue(t *testing.T) {
	for _, tt := range []struct {
		name  string
		runs  []RunInfo
		end   uint64
		build []uint64 // nil: none
		merge int      // -1: none
	}{
		{"nothing", nil, 0, nil, -1},
		{"less than a run", nil, 1, nil, -1},
		{"a run", nil, 2, []uint64{0, 2}, -1},
		{"the next run", hashSpans(0, 2), 5, []uint64{2, 4}, -1},
		{"all is in runs", hashSpans(0, 4, 4, 6), 7, nil, -1},
		{"a gap at the start", hashSpans(2, 4), 4, []uint64{0, 2}, -1},
		{"a large gap", hashSpans(0, 2, 6, 8), 8, []uint64{2, 4}, -1},
		{"a small gap", hashSpans(0, 2, 3, 5), 5, []uint64{2, 3}, -1},
		{"two of a size", hashSpans(0, 2, 2, 4), 4, nil, 0},
		{"a larger one before", hashSpans(0, 4, 4, 6, 6, 8), 8, nil, 1},
		{"a larger one between", hashSpans(0, 2, 2, 6, 6, 8), 8, nil, -1},
		{"two large ones", hashSpans(0, 4, 4, 8, 8, 10), 10, nil, 0},
		{"small ones first", hashSpans(0, 4, 4, 8, 8, 10, 10, 12), 12, nil, 2},
		{"not over a gap", hashSpans(0, 2, 4, 6), 6, []uint64{2, 4}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var build []uint64
			if span, due := smallRuns.nextBuild(tt.runs, tt.end*BlockEntries); due {
				build = []uint64{span.After / BlockEntries, span.Upto / BlockEntries}
			}
			if !reflect.DeepEqual(build, tt.build) {
				t.Errorf("to be built is %v, want %v", build, tt.build)
			}
			merge, due := smallRuns.nextMerge(tt.runs)
			if !due {
				merge = -1
			}
			if merge != tt.merge {
				t.Errorf("to be merged are those from %d on, want %d", merge, tt.merge)
			}
		})
	}
}

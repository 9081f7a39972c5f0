package store

import (
	"encoding/json"
	"testing"
)

// What a checkpoint says of a run is short, and reads back.
func TestRunInfoText(t *testing.T) {
	for _, info := range []RunInfo{
		{Kind: HashRun, Number: 1, Entries: 2, Bytes: 3, Admissions: Span{4, 5}},
		{Kind: DoneRun, Number: 1 << 40, Entries: 1 << 41, Bytes: 1 << 42, Done: Span{0, 1 << 43}},
		{Kind: QueueRun, Number: 7, Admissions: Span{1, 2}, Done: Span{3, 4}},
		{},
	} {
		text, err := json.Marshal(info)
		if err != nil {
			t.Fatal(err)
		}
		read := RunInfo{Kind: BitsRun, Bytes: 9, Done: Span{8, 8}}
		if err := json.Unmarshal(text, &read); err != nil || read != info || len(text) > 100 {
			t.Errorf("%s reads as %+v, %v; want %+v", text, read, err, info)
		}
	}
	for _, text := range []string{`{}`, `[]`, `["hash",1,2,3,4]`, `["hash",1,2,3,4,5,6]`, `["hash",1,2,3,4,5,6,7,8]`, `["hash",-1,2,3,4,5]`, `["hash",1,2,3,4,"5"]`} {
		var info RunInfo
		if err := json.Unmarshal([]byte(text), &info); err == nil {
			t.Errorf("%s reads as %+v", text, info)
		}
	}
}

package store

import "testing"

// A crawl is opened before what it is stored with is known: its sizes count from Configure on.
func TestConfigureAfterOpen(t *testing.T) {
	cfg := Config{QueueEntries: 10, RunBlocks: 3, MinFreeBytes: 7}
	made := create(t, Config{})
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, made.Dir(), Config{})
	s.Configure(cfg)
	for seq := range uint64(2 * cfg.QueueEntries) {
		s.Queue.Add(&Pending{URL: "http://a.test/", Host: "a.test", Seq: seq + 1})
		s.Queue.Committed(seq+1, 0)
	}
	if !s.Queue.Full() {
		t.Error("with twice as many entries as a run is to have the queue is not full")
	}
	if want := defaultRunSizes().of(cfg.RunBlocks); s.runs.sizes != want {
		t.Errorf("runs have sizes %+v, want %+v", s.runs.sizes, want)
	}
	if _, keep := s.Space(); keep != 7 {
		t.Errorf("%d bytes are kept free", keep)
	}
	s.KeepFree(8)
	if _, keep := s.Space(); keep != 8 {
		t.Errorf("%d bytes are kept free", keep)
	}
}

package seen

import "testing"

func TestNothingAllocates(t *testing.T) {
	s := mustScalable(t, Config{})
	key, str := []byte("https://a.example/some/page"), "https://a.example/some/other/page"
	hashes, was := randomHashes(1, 200), make([]bool, 200)
	next := randomHashes(2, 1000)
	for _, tt := range []struct {
		name string
		f    func()
	}{
		{"Hash", func() { s.Hash(key) }},
		{"HashString", func() { s.HashString(str) }},
		{"Has", func() { s.Has(hashes[0]) }},
		{"TestAndAdd", func() { s.TestAndAdd(next[0]); next = next[1:] }},
		{"TestAndAddBatch", func() { s.TestAndAddBatch(hashes, was) }},
		{"Add", func() { s.Add(hashes) }},
		{"Rate", func() { s.Rate() }},
		{"Len", func() { s.Len() }},
	} {
		if n := testing.AllocsPerRun(100, tt.f); n != 0 {
			t.Errorf("%s allocates %v times", tt.name, n)
		}
	}
}

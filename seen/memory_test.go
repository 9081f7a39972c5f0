package seen

import (
	"bytes"
	"runtime"
	"runtime/metrics"
	"testing"
)

// heapGoal returns the size at which the heap is collected next, in bytes.
func heapGoal() uint64 {
	runtime.GC()
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	return goal[0].Value.Uint64()
}

func skipWithoutMappings(t *testing.T) {
	t.Helper()
	m := newMemory(mapFrom / 8)
	defer m.free()
	if m.mapping == nil {
		t.Skip("on this system the words are on the heap")
	}
}

// A large filter leaves the garbage collector as it was, saved and read again too.
func TestLargeFilterIsNotOnTheHeap(t *testing.T) {
	skipWithoutMappings(t)
	before := heapGoal()
	s := mustScalable(t, Config{ExpectedItems: 20_000_000, Seed: 1})
	s.Add(randomHashes(1, 1000))
	if got, size := heapGoal(), s.Stats().Bytes; size < 32<<20 || got > before+4<<20 {
		t.Errorf("a filter of %d bytes moves the heap's goal from %d to %d", size, before, got)
	}
	pipe, file := bytes.Buffer{}, bytes.Buffer{}
	if _, err := s.WriteTo(&pipe); err != nil {
		t.Fatal(err)
	}
	file.Write(pipe.Bytes())
	before = heapGoal()
	again, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if got := heapGoal(); got > before+4<<20 {
		t.Errorf("a filter that is read moves the heap's goal from %d to %d", before, got)
	}
	wantSame(t, again.(*Scalable), s)
}

// Words stay as they are while memory grows, whether they lie on the heap or not.
func TestMemoryGrows(t *testing.T) {
	m := newMemory(1000)
	for i := range m.words {
		m.words[i] = uint64(i)
	}
	for _, n := range []int{2000, mapFrom/8 - 1, mapFrom / 8, mapFrom} {
		m = m.grown(n)
		if len(m.words) != n || n >= 2000 && m.words[1000] != 0 || m.words[n-1] != 0 {
			t.Fatalf("%d words, want %d, zeros behind the old ones", len(m.words), n)
		}
		for i := range 1000 {
			if m.words[i] != uint64(i) {
				t.Fatalf("%d words: number %d is %d", n, i, m.words[i])
			}
		}
	}
	m.free()
	m.free() // what is free already stays so
}

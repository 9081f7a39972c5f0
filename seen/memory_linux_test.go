package seen

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// addressSpace returns the size of all that the process has mapped, in bytes.
func addressSpace(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	var pages int
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// A filter that nobody refers to any more gives its memory back.
func TestDroppedFilterGivesItsMemoryBack(t *testing.T) {
	skipWithoutMappings(t)
	before := addressSpace(t)
	const rounds = 40
	var size int
	for i := range rounds { // together more than the heap's arenas may grow by meanwhile
		s := mustScalable(t, Config{ExpectedItems: 40_000_000, Seed: 1})
		s.Add([]uint64{uint64(i)})
		size = int(s.Stats().Bytes)
		if i == 0 {
			if got := addressSpace(t); got < before+size {
				t.Fatalf("a filter of %d bytes maps %d more", size, got-before)
			}
		}
	}
	const most = 1000 // collections until cleanups have run: they are not waited for
	got := addressSpace(t)
	for i := 0; i < most && got >= before+size; i++ {
		runtime.GC()
		got = addressSpace(t)
	}
	if got >= before+size {
		t.Errorf("after %d dropped filters of %d bytes %d more are mapped than before", rounds, size, got-before)
	}
}

// A read that fails leaves nothing mapped, without waiting for the garbage collector.
func TestFailedReadGivesItsMemoryBack(t *testing.T) {
	skipWithoutMappings(t)
	s := mustScalable(t, Config{ExpectedItems: 1_000_000, Seed: 1})
	s.Add(randomHashes(1, 1_000_001)) // two layers
	var file strings.Builder
	if _, err := s.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.String()
	before := addressSpace(t)
	for range 20 {
		if _, err := Read(strings.NewReader(whole[:len(whole)-1])); err == nil {
			t.Fatal("a file that is cut short is read")
		}
	}
	if got := addressSpace(t); got > before+2*len(whole) {
		t.Errorf("twenty failed reads of %d bytes leave %d mapped", len(whole), got-before)
	}
	runtime.KeepAlive(s)
}

package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// A crawl's heap is small, or large and mostly long-lived: the tasks and hosts in memory. From largeHeap on the collector
// runs when half as much has been allocated as lives, in place of as much: that costs a little time and saves a third of
// the memory. Who sets GOGC decides for himself.
const (
	largeHeap  = 128 << 20
	largePaced = 50
	smallPaced = 100
	liveHeap   = "/gc/heap/live:bytes"
	gcVariable = "GOGC"
)

// paceCollector sets the collector's pace by the size of the heap. It is called with each checkpoint.
func paceCollector() {
	if os.Getenv(gcVariable) != "" {
		return
	}
	sample := []metrics.Sample{{Name: liveHeap}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return
	}
	if sample[0].Value.Uint64() > largeHeap {
		debug.SetGCPercent(largePaced)
	} else {
		debug.SetGCPercent(smallPaced)
	}
}

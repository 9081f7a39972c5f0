package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// A crawl's heap is small, or large and mostly long-lived: the tasks and hosts in memory. A small one, up to smallHeap, may
// grow by twice what lives before the collector runs: that saves a short crawl 2 to 7% of its CPU time for 6 MB. From largeHeap on
// it may grow by half as much: that costs a little time and saves a third of the memory. Who sets GOGC decides for himself.
const (
	smallHeap  = 32 << 20
	largeHeap  = 128 << 20
	smallPaced = 200
	paced      = 100
	largePaced = 50
	liveHeap   = "/gc/heap/live:bytes"
	gcVariable = "GOGC"
)

// paceCollector sets the collector's pace by the size of the heap. It is called at the start and with each checkpoint.
func paceCollector() {
	if os.Getenv(gcVariable) != "" {
		return
	}
	sample := []metrics.Sample{{Name: liveHeap}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return
	}
	debug.SetGCPercent(paceOf(sample[0].Value.Uint64()))
}

// paceOf returns the growth, in percent, of a heap of which so many bytes live.
func paceOf(live uint64) int {
	switch {
	case live <= smallHeap:
		return smallPaced
	case live <= largeHeap:
		return paced
	}
	return largePaced
}

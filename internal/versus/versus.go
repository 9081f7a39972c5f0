//go:build unix

// Package versus measures what stands beside what it is to be compared with: on a busy machine figures of two runs say
// little of each other, and those of turns that are taken milliseconds apart say much. It is for benchmarks alone.
package versus

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// Subject is one of those that are compared.
type Subject struct {
	Name string // no spaces
	Do   func()
}

// lapTime is how much CPU time a turn takes at least: enough for the system's account to be exact.
const lapTime = 2 * time.Millisecond

// Compare lets subjects take turns, the first being what the others are compared with. It reports the CPU time of one call
// of the first in nanoseconds, and of each other its ratio to the first; all are medians over the turns. CPU time is user
// and system time of the whole process: garbage is collected beside.
func Compare(b *testing.B, subjects ...Subject) {
	calls := make([]int, len(subjects))
	for i, s := range subjects {
		calls[i] = callsOf(b, s.Do)
	}
	each := make([][]float64, len(subjects)) // nanoseconds a call, of each turn
	for b.Loop() {
		for i, s := range subjects {
			each[i] = append(each[i], float64(times(b, calls[i], s.Do))/float64(calls[i]))
		}
	}
	b.ReportMetric(0, "ns/op") // a turn of all is of no interest
	b.ReportMetric(median(each[0]), "ns/"+subjects[0].Name)
	for i, s := range subjects[1:] {
		ratios := make([]float64, len(each[0]))
		for turn := range ratios {
			ratios[turn] = each[i+1][turn] / each[0][turn]
		}
		b.ReportMetric(median(ratios), s.Name+"/"+subjects[0].Name)
	}
}

// callsOf returns how many calls make a turn.
func callsOf(b *testing.B, do func()) int {
	n := 1
	for times(b, n, do) < lapTime {
		n *= 2
	}
	return n
}

func times(b *testing.B, n int, do func()) time.Duration {
	before := used(b)
	for range n {
		do()
	}
	return used(b) - before
}

func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

package main

import "time"

// usageFigures are what a process has used.
type usageFigures struct {
	cpu       time.Duration // user and system
	peakBytes uint64        // of resident memory
	known     bool          // the system tells
}

func (u usageFigures) since(before usageFigures) usageFigures {
	u.cpu -= before.cpu
	return u
}

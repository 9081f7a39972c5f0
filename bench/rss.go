package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// maxRSS returns the most memory a process held, in bytes. Linux lets the figure of a new process start at that of the
// one that made it, here bench: up to there the figure that was read while it ran is the better one.
func maxRSS(p *os.ProcessState, seen int64) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return seen
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err == nil && usage.Maxrss <= own.Maxrss && seen > 0 {
		return seen
	}
	return usage.Maxrss << 10
}

// rssWatch reads the peak of a process again and again, since nobody can once it has ended.
type rssWatch struct {
	done    chan struct{}
	running sync.WaitGroup
	peak    int64 // bytes; read only after running
}

const rssInterval = 10 * time.Millisecond

func watchRSS(pid int) *rssWatch {
	w := &rssWatch{done: make(chan struct{})}
	path := fmt.Sprintf("/proc/%d/status", pid)
	w.running.Go(func() {
		ticker := time.NewTicker(rssInterval)
		defer ticker.Stop()
		for {
			if text, err := os.ReadFile(path); err == nil {
				w.peak = max(w.peak, peakIn(text))
			}
			select {
			case <-w.done:
				return
			case <-ticker.C:
			}
		}
	})
	return w
}

// stop returns the highest peak that was read, in bytes.
func (w *rssWatch) stop() int64 {
	close(w.done)
	w.running.Wait()
	return w.peak
}

// peakIn finds the peak in the text of /proc/PID/status, in bytes; 0 is none, as in that of a process that has ended.
func peakIn(status []byte) int64 {
	_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	kib, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(line, []byte("kB")))), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

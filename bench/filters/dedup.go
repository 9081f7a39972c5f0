package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
)

// dedup is a program that prints each line of a file the first time it comes, against the first of its race.
type dedup struct {
	Program     string  `json:"program"`
	Lines       uint64  `json:"lines"`
	Kept        uint64  `json:"kept"`
	CPU         float64 `json:"cpu_s"`
	MiB         float64 `json:"peak_mib"`
	CPURatio    float64 `json:"cpu_ratio"`
	CPUBar      float64 `json:"cpu_at_most"` // 0: none
	MemoryRatio float64 `json:"memory_ratio"`
	MemoryBar   float64 `json:"memory_at_most"` // 0: none

	command  []string
	cpu, mib []float64 // of each round
}

const dedupRounds = 3

func (d dedup) met() bool {
	return d.CPUBar == 0 || d.CPURatio <= d.CPUBar && d.MemoryRatio <= d.MemoryBar
}

// dedups has awk and crawl, by its path, each read a file of so many URLs. They take turns; the figures are medians of
// dedupRounds. It is called before this process has taken memory: Linux counts that as a child's too.
func dedups(dir, crawl string, lines uint64) ([]dedup, error) {
	file, err := os.CreateTemp(dir, "lines-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := writeLines(file, lines); err != nil {
		return nil, err
	}
	all := []dedup{
		{Program: "awk", command: []string{"awk", "!a[$0]++"}},
		{Program: "crawl filter dedup", command: []string{crawl, "filter", "dedup", "--quiet"}},
		{Program: "crawl filter dedup --exact", command: []string{crawl, "filter", "dedup", "--quiet", "--exact"}},
	}
	if lines == 20_000_000 {
		all[1].CPUBar, all[1].MemoryBar = 0.5, 0.1
	}
	for range dedupRounds {
		for i := range all {
			if err := all[i].run(file); err != nil {
				return nil, fmt.Errorf("%s: %w", all[i].Program, err)
			}
		}
	}
	for i := range all {
		d := &all[i]
		d.Lines, d.CPU, d.MiB = lines, median(d.cpu), median(d.mib)
		if i > 0 {
			d.CPURatio, d.MemoryRatio = d.CPU/all[0].CPU, d.MiB/all[0].MiB
		}
	}
	return all, nil
}

// writeLines writes URLs of urlBytes, half of which were there before, at random.
func writeLines(to io.Writer, lines uint64) error {
	w := bufio.NewWriterSize(to, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	var u urls
	var fresh uint64
	for range lines {
		key := keyAt(fresh)
		if fresh > 0 && r.IntN(2) == 0 {
			key = keyAt(r.Uint64N(fresh))
		} else {
			fresh++
		}
		if _, err := w.Write(append(u.of([]uint64{key})[0], '\n')); err != nil {
			return err
		}
	}
	return w.Flush()
}

// run runs the command over the file, and counts the lines that it prints.
func (d *dedup) run(file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	cmd := exec.Command(d.command[0], d.command[1:]...)
	cmd.Stdin, cmd.Stderr = file, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	n, readErr := io.Copy(io.Discard, out)
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		return err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("the system does not tell what a process used")
	}
	d.Kept = uint64(n) / (urlBytes + 1)
	d.cpu = append(d.cpu, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	d.mib = append(d.mib, float64(usage.Maxrss)/1024)
	return nil
}

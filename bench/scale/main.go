// Command scale drives the serial half of a crawl, from admission over lease to finish, with up to hundreds of millions of
// URLs, and says what a URL costs: CPU, memory, disk, checkpoints, and the time to go on after a kill.
//
// The run itself is crawler.TestScale: it needs what no crawl needs from outside, visits without fetching. This command
// builds it, runs it for each shape and size, one process each, and prints its reports as a table.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
)

// report is what crawler.TestScale writes, as far as it is shown.
type report struct {
	Shape             string  `json:"shape"`
	URLs              int     `json:"urls"`
	Hosts             int     `json:"hosts"`
	CPUPerURL         float64 `json:"cpu_us_per_url"`
	ZstdPerURL        float64 `json:"zstd_us_per_url"`
	Ratio             float64 `json:"ratio"`
	PeakAnonBytes     int64   `json:"peak_anon_bytes"`
	FilterBytes       int64   `json:"filter_bytes"`
	DiskPerURL        float64 `json:"disk_bytes_per_url"`
	DiskAtEnd         float64 `json:"disk_bytes_per_url_at_end"`
	CheckpointBytes   float64 `json:"checkpoint_bytes"`
	CheckpointTails   float64 `json:"checkpoint_tail_bytes"`
	CheckpointHoldP99 float64 `json:"checkpoint_hold_cpu_ms_p99"`
	SeenRatio         float64 `json:"seen_db_over_filter"`
	RestartSeconds    float64 `json:"restart_s"`
	RestartCPU        float64 `json:"restart_cpu_s"`
	RestartCold       float64 `json:"restart_cold_s"`
	ColdBytes         int64   `json:"restart_cold_read_bytes"`
	WhySeconds        float64 `json:"why_s"`
	WallSeconds       float64 `json:"wall_s"`
}

func main() {
	urls := flag.String("urls", "1M,10M,100M", "sizes, as numbers with k or M")
	shapes := flag.String("shapes", "even,one,tiny", "even: 100 URLs a host; one: 90% of all on one host; tiny: 10 URLs a host")
	dir := flag.String("dir", "", "where the crawls are made and removed; empty: the temporary folder. 100M take up to 20 GB")
	source := flag.String("source", "..", "the repository")
	asJSON := flag.Bool("json", false, "print the reports as JSON, one a line")
	flag.Parse()
	if err := run(*urls, *shapes, *dir, *source, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(urls, shapes, dir, source string, asJSON bool) error {
	sizes, err := parseSizes(urls)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(dir, "crawl-scale-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	binary := filepath.Join(work, "scale.test")
	if err := command("go", "-C", source, "test", "-c", "-o", binary, "./crawler").Run(); err != nil {
		return fmt.Errorf("build the scale run: %w", err)
	}
	out := filepath.Join(work, "reports")
	for _, size := range sizes {
		for shape := range strings.SplitSeq(shapes, ",") {
			if err := one(binary, work, out, shape, size); err != nil {
				return err
			}
		}
	}
	reports, err := read(out)
	if err != nil {
		return err
	}
	return show(reports, asJSON)
}

// one runs one shape at one size, and removes its crawl.
func one(binary, work, out, shape string, size int) error {
	crawl := filepath.Join(work, "crawl")
	defer os.RemoveAll(crawl)
	fmt.Fprintf(os.Stderr, "%s, %d URLs\n", shape, size)
	run := command(binary, "-test.run", "^TestScale$/^"+shape+"$", "-test.timeout", "0",
		"-scale.urls", strconv.Itoa(size), "-scale.shape", shape, "-scale.dir", crawl, "-scale.out", out)
	if err := run.Run(); err != nil {
		return fmt.Errorf("%s with %d URLs: %w", shape, size, err)
	}
	return nil
}

// command has the talk of a program go to standard error.
func command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	return c
}

func parseSizes(text string) (sizes []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		digits, factor := field, 1
		switch {
		case strings.HasSuffix(field, "k"):
			digits, factor = strings.TrimSuffix(field, "k"), 1000
		case strings.HasSuffix(field, "M"):
			digits, factor = strings.TrimSuffix(field, "M"), 1_000_000
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("--urls: want numbers such as 500k or 100M, got %q", field)
		}
		sizes = append(sizes, n*factor)
	}
	return sizes, nil
}

func read(file string) (reports []report, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, lines.Err()
}

func show(reports []report, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(os.Stdout)
		var errs []error
		for _, r := range reports {
			errs = append(errs, enc.Encode(r))
		}
		return errors.Join(errs...)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| shape\t| URLs\t| hosts\t| CPU µs/URL\t| x zstd\t| anon MiB\t| filter MiB\t| B/URL half done\t| B/URL done\t| checkpoint KiB\t| of that tails\t| hold ms p99\t| seen.db x\t| restart s\t| of that CPU\t| cold s\t| why ms\t| wall s\t|")
	fmt.Fprintln(w, "|"+strings.Repeat("---|", 18))
	for _, r := range reports {
		fmt.Fprintf(w, "| %s\t| %d\t| %d\t| %.2f\t| %.1f\t| %d\t| %d\t| %.0f\t| %.0f\t| %.0f\t| %.0f\t| %.1f\t| %.2f\t| %.2f\t| %.2f\t| %.2f\t| %.0f\t| %.0f\t|\n",
			r.Shape, r.URLs, r.Hosts, r.CPUPerURL, r.Ratio, r.PeakAnonBytes>>20, r.FilterBytes>>20, r.DiskPerURL, r.DiskAtEnd,
			r.CheckpointBytes/1024, r.CheckpointTails/1024, r.CheckpointHoldP99, r.SeenRatio, r.RestartSeconds, r.RestartCPU, r.RestartCold, 1000*r.WhySeconds, r.WallSeconds)
	}
	return w.Flush()
}

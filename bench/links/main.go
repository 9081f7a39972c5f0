// Command links says what links cost from a page's text to their hashes: against the tokenizer of golang.org/x/net/html, and
// in hashes of 72 bytes by xxHash64.
//
// It runs the benchmarks of the packages that do the work. In each of them the subjects take turns in one process and
// are measured by CPU time, so the ratios hold on a busy machine too; each stands beside its bar.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
)

// bars says how high a ratio may be, by benchmark and the name of the ratio.
var bars = map[string]map[string]float64{
	"AgainstTokenizer": {"scanner/tokenizer": 0.2},
	"PageToHashes":     {"hashes/tokenizer": 0.25},
	"Link":             {"root/xxhash": 10, "folder/xxhash": 10, "whole/xxhash": 10},
	"RepeatedLink":     {"repeated/xxhash": 1},
}

// figure is one ratio, or the time in nanoseconds of what the ratios of a benchmark are to.
type figure struct {
	benchmark, set string // set: of texts; empty where there is one only
	name           string
	value          float64
}

func main() {
	source := flag.String("source", "..", "folder of the module")
	pages := flag.String("pages", "", "folders, separated by commas, with .html files to read too")
	turns := flag.Int("turns", 100, "turns of each subject")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *source, *pages, *turns); err != nil {
		fmt.Fprintln(os.Stderr, "links:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, source, pages string, turns int) error {
	if turns < 1 || flag.NArg() > 0 {
		return errors.New("want --turns of at least 1, and flags only")
	}
	parse := []string{"./internal/parse", "-bench", "^Benchmark(AgainstTokenizer|RepeatedLink)$"}
	if pages != "" {
		absolute, err := absolutes(pages)
		if err != nil {
			return err
		}
		parse = append(parse, "-parse.pages", absolute)
	}
	var all []figure
	for _, args := range [][]string{parse, {"./crawler", "-bench", "^Benchmark(Link|PageToHashes)$"}} {
		figures, err := measure(ctx, source, turns, args)
		if err != nil {
			return err
		}
		all = append(all, figures...)
	}
	return print(all)
}

func absolutes(dirs string) (string, error) {
	var all []string
	for _, dir := range strings.Split(dirs, ",") {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		all = append(all, dir)
	}
	return strings.Join(all, ","), nil
}

func measure(ctx context.Context, source string, turns int, args []string) ([]figure, error) {
	args = append([]string{"test", "-run", "^$", "-benchtime", strconv.Itoa(turns) + "x"}, args...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = source, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	var all []figure
	for line := range bytes.Lines(out) {
		all = append(all, figuresOf(string(line))...)
	}
	return all, nil
}

// figuresOf reads a line of a benchmark's result: its name, a count, and pairs of value and unit.
func figuresOf(line string) (all []figure) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return nil
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(fields[0], "Benchmark"), "-") // of GOMAXPROCS
	name, set, _ := strings.Cut(name, "/")
	for i := 2; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || !strings.Contains(fields[i+1], "/") || fields[i+1] == "ns/op" {
			continue
		}
		all = append(all, figure{name, set, fields[i+1], value})
	}
	return all
}

func print(all []figure) error {
	if len(all) == 0 {
		return errors.New("no figures")
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| benchmark\t| texts\t| what\t| figure\t| bar\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|")
	for _, f := range all {
		bar := ""
		if most, ok := bars[f.benchmark][f.name]; ok {
			bar = fmt.Sprintf("%g met", most)
			if f.value > most {
				bar = fmt.Sprintf("%g MISSED", most)
			}
		}
		fmt.Fprintf(w, "| %s\t| %s\t| %s\t| %.4g\t| %s\t|\n", f.benchmark, f.set, f.name, f.value, bar)
	}
	return w.Flush()
}

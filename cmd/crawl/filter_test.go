package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"crawl/seen"
)

// filterRun runs a command line of the filter commands.
func filterRun(in io.Reader, out io.Writer, args ...string) (code int, said string) {
	var stderr bytes.Buffer
	code = run(append([]string{"filter"}, args...), in, out, &stderr)
	return code, stderr.String()
}

// mustRun runs one that ends well, and returns what it prints.
func mustRun(t *testing.T, in string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if code, said := filterRun(strings.NewReader(in), &out, args...); code != exitDone {
		t.Fatalf("filter %s: exit code %d: %s", strings.Join(args, " "), code, said)
	}
	return out.String()
}

// someLines returns n lines, about half of which were there before, and each of them once.
func someLines(n int) (text, once string) {
	dice := rand.New(rand.NewPCG(5, 6))
	var all, first strings.Builder
	met := map[string]bool{}
	for range n {
		line := fmt.Sprintf("https://www.example.org/%d/%s\n", dice.IntN(n), strings.Repeat("x", dice.IntN(90)/10))
		all.WriteString(line)
		if !met[line] {
			met[line] = true
			first.WriteString(line)
		}
	}
	return all.String(), first.String()
}

// Against a map: with --exact all is the same; without, no line comes twice, none out of order, and about as many are
// missing as it says.
func TestDedupAgainstMap(t *testing.T) {
	const n, rate = 200_000, 0.02
	text, once := someLines(n)
	if got := mustRun(t, text, "dedup", "--exact"); got != once {
		t.Errorf("--exact: %d bytes, want %d", len(got), len(once))
	}
	for _, flags := range [][]string{{"--items", "1000"}, {"--items", "200k"}, {"--window", "1h", "--items", "200k"}} {
		got := mustRun(t, text, append([]string{"dedup", "--fp", fmt.Sprint(rate)}, flags...)...)
		missing := 0
		rest := got
		for line := range strings.Lines(once) {
			if after, there := strings.CutPrefix(rest, line); there {
				rest = after
				continue
			}
			missing++
		}
		if rest != "" {
			t.Errorf("%v: not the lines in their order: %.200q is left", flags, rest)
		}
		most := rate * float64(strings.Count(once, "\n"))
		if float64(missing) > most+4*math.Sqrt(most) {
			t.Errorf("%v: %d lines are missing, more than %.0f", flags, missing, most)
		}
	}
}

// What a filter was built of is always found, and of the rest a share that its error allows.
func TestBuildAndTest(t *testing.T) {
	const n, rate = 20_000, 0.02
	var in, others strings.Builder
	for i := range n {
		fmt.Fprintf(&in, "in %d\n", i)
		fmt.Fprintf(&others, "out %d\n", i)
	}
	for _, flags := range [][]string{
		{"--kind", "bloom"}, {"--kind", "classic"}, {"--kind", "counting"}, {"--kind", "cuckoo"}, {"--exact"},
		{"--items", "20k"}, {"--items", "21k", "--kind", "cuckoo"},
	} {
		path := filepath.Join(t.TempDir(), "filter")
		mustRun(t, in.String(), append([]string{"build", "-o", path, "--fp", fmt.Sprint(rate)}, flags...)...)
		if got := mustRun(t, in.String(), "test", path); got != in.String() {
			t.Errorf("%v: not all lines are found", flags)
		}
		var out bytes.Buffer
		filterRun(strings.NewReader(others.String()), &out, "test", path)
		wrong := float64(bytes.Count(out.Bytes(), []byte("\n")))
		if most := n * rate; wrong > most+4*math.Sqrt(most) || wrong > 0 && flags[0] == "--exact" {
			t.Errorf("%v: %.0f lines are found that are not there", flags, wrong)
		}
		if not := mustRun(t, others.String(), "test", "-v", path); strings.Count(not, "\n")+int(wrong) != n {
			t.Errorf("%v: -v does not print the others", flags)
		}
	}
}

// brokenOutput takes some bytes and then no more.
type brokenOutput struct {
	room int
	done int
	err  error
}

func (b *brokenOutput) Write(p []byte) (int, error) {
	if b.room -= len(p); b.room < 0 {
		return 0, b.err
	}
	b.done += len(p)
	return len(p), nil
}

// A line is remembered only if it was written.
func TestStateForgetsWhatWasNotWritten(t *testing.T) {
	full := errors.New("no room")
	text, once := someLines(50_000)
	for _, flags := range [][]string{{}, {"--exact"}} {
		state := filepath.Join(t.TempDir(), "state")
		args := append([]string{"dedup", "--state", state}, flags...)
		code, said := filterRun(strings.NewReader(text), &brokenOutput{room: 1 << 20, err: full}, args...)
		if code != exitFailed || !strings.Contains(said, "no room") {
			t.Fatalf("%v: exit code %d: %s", flags, code, said)
		}
		if got := mustRun(t, text, args...); got != once {
			t.Errorf("%v: %d bytes are printed again, want all %d", flags, len(got), len(once))
		}
		if got := mustRun(t, text, args...); got != "" {
			t.Errorf("%v: %.100q is printed a third time", flags, got)
		}
	}
}

// Nor does the set on the disk have a line that was not written when so many have come that some are on the disk already.
func TestExactStateIsNeverAhead(t *testing.T) {
	if testing.Short() {
		t.Skip("passes a million lines twice")
	}
	var all strings.Builder
	for i := range 1_500_000 {
		fmt.Fprintf(&all, "%d\n", i)
	}
	text := all.String()
	args := []string{"dedup", "--exact", "--state", filepath.Join(t.TempDir(), "state")}
	written := &brokenOutput{room: len(text) * 9 / 10, err: errors.New("no room")}
	if code, said := filterRun(strings.NewReader(text), written, args...); code != exitFailed {
		t.Fatalf("exit code %d: %s", code, said)
	}
	again := mustRun(t, text, args...)
	if !strings.HasSuffix(text, again) || len(again) < len(text)-written.done {
		t.Errorf("%d bytes are printed again, want the last %d at least", len(again), len(text)-written.done)
	}
	if len(again) > len(text)/2 {
		t.Errorf("%d bytes of %d are printed again: nothing was on the disk", len(again), len(text))
	}
}

// What was written before the input broke is remembered.
func TestStateAfterBrokenInput(t *testing.T) {
	broken := errors.New("broken")
	for _, flags := range [][]string{{}, {"--exact"}, {"--window", "1h"}} {
		args := append([]string{"dedup", "--state", filepath.Join(t.TempDir(), "state")}, flags...)
		in := io.MultiReader(strings.NewReader("a\nb\na\nhalf"), iotest.ErrReader(broken))
		var out bytes.Buffer
		if code, said := filterRun(in, &out, args...); code != exitFailed || !strings.Contains(said, "broken") {
			t.Fatalf("%v: exit code %d: %s", flags, code, said)
		}
		if out.String() != "a\nb\n" {
			t.Errorf("%v: %q is printed", flags, out.String())
		}
		if got := mustRun(t, "b\nhalf\n", args...); got != "half\n" {
			t.Errorf("%v: then %q, want half", flags, got)
		}
	}
}

// failingFilter cannot be saved.
type failingFilter struct{}

func (failingFilter) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write([]byte("part"))
	return int64(n), errors.Join(err, errors.New("no more"))
}

// A file that cannot be written whole is not there, and what was there before is.
func TestNewFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	fail := func(replace bool) {
		t.Helper()
		out, err := newFileAt(path, replace)
		if err != nil {
			t.Fatal(err)
		}
		if err := out.write(failingFilter{}); err == nil {
			t.Error("it is written")
		}
		if err := out.drop(); err != nil {
			t.Error(err)
		}
	}
	fail(false)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after a failure: %v", err)
	}
	if err := os.WriteFile(path, []byte("before"), 0o640); err != nil {
		t.Fatal(err)
	}
	fail(true)
	out, err := newFileAt(path, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(out.write(bytes.NewBufferString("after")), out.drop()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "after" || len(entries) != 1 {
		t.Errorf("%q, %v, %d entries", text, err, len(entries))
	}
}

// A file that appears while another of its name is made is not replaced.
func TestNewFileAppears(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	out, err := newFileAt(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := out.write(bytes.NewBufferString("mine")); err == nil {
		t.Error("it is replaced")
	}
	if err := out.drop(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "other" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestSpan(t *testing.T) {
	for _, tt := range []struct {
		text string
		want time.Duration
		back string
	}{
		{"90d", 90 * 24 * time.Hour, "90d"}, {"36h", 36 * time.Hour, "36h"}, {"48h", 48 * time.Hour, "2d"},
		{"0", 0, "0"}, {"250ms", 250 * time.Millisecond, "250ms"},
	} {
		var s span
		if err := s.Set(tt.text); err != nil || time.Duration(s) != tt.want || s.String() != tt.back {
			t.Errorf("%q: %v %s, %v", tt.text, time.Duration(s), s, err)
		}
	}
	for _, text := range []string{"", "d", "1.5d", "-1d", "70000d", "9", "soon", "-1h"} {
		var s span
		if err := s.Set(text); err == nil {
			t.Errorf("%q is %s", text, s)
		}
	}
}

func TestErrorRate(t *testing.T) {
	for p, want := range map[float64]string{
		0: "none", 1: "100%", 0.0099996: "1.00%", 0.01: "1.00%", 0.1234: "12.3%", 0.001: "0.100%", 0.000116: "0.0116%",
		0.00000101: "1.01e-6", 2e-11: "2.00e-11", 2.7e-9: "2.70e-9", 1.3143183971021112e-38: "1.31e-38", 0.00001: "0.00100%",
	} {
		if got := errorRate(p); got != want {
			t.Errorf("%g: %s, want %s", p, got, want)
		}
	}
}

// A fingerprint tells keys apart and does not give them away.
func TestFingerprint(t *testing.T) {
	const seed = 0x0123456789abcdef
	if a, b := fingerprint(seed), fingerprint(seed+1); a == b || len(a) != 8 || strings.Contains("0123456789abcdefefcdab8967452301", a) {
		t.Errorf("%s and %s", a, b)
	}
}

// Every kind that is read can be asked.
func TestEveryKindIsAsked(t *testing.T) {
	c := seen.Config{ExpectedItems: 1000, Seed: 1}
	scalable, err := seen.NewScalable(c)
	if err != nil {
		t.Fatal(err)
	}
	window, err := seen.NewWindow(seen.WindowConfig{Config: c, Span: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []seen.Filter{scalable, window} {
		path := filepath.Join(t.TempDir(), "f")
		out, err := newFileAt(path, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.TestAndAdd(f.HashString("a")); err != nil {
			t.Fatal(err)
		}
		if err := out.write(f); err != nil {
			t.Fatal(err)
		}
		if got := mustRun(t, "a\nb\n", "test", path); got != "a\n" {
			t.Errorf("%s: %q", f.Stats().Kind, got)
		}
		file, err := openFilter(path)
		if err != nil {
			t.Fatal(err)
		}
		if file.config.Seed != c.Seed {
			t.Errorf("%s: seed %d is read, want %d", file.kind(), file.config.Seed, c.Seed)
		}
	}
}

// A script reads exit code 1 of `crawl filter test` as "none of them is in it".
func TestFailureIsNoAnswer(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, exitDone},
		{noneError(3, "deny.filter", false), exitFailed},
		{errors.New("read standard input: the pipe broke"), exitUsage},
		{fmt.Errorf("deny.filter: %w", seen.ErrNewer), exitUsage},
		{errDamaged, exitDisk},
	} {
		code := exitDone
		if err := notAnAnswer(tt.err); err != nil {
			code = codeOf(err)
		}
		if code != tt.want {
			t.Errorf("%v: exit code %d, want %d", tt.err, code, tt.want)
		}
	}
}

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"

	"crawl/crawler"
	"crawl/internal/config"
)

// process is a command that runs beside its story.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr *output
	unread         chan struct{} // closed when nobody reads its stdout any longer
	ended          chan struct{} // closed when all that it wrote is here and it is gone
	killed         bool
}

// output is what a process has written so far.
type output struct {
	mu    sync.Mutex // guards all below
	text  []byte
	grown chan struct{} // closed when there is more
}

func newOutput() *output { return &output{grown: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	close(o.grown)
	o.grown = make(chan struct{})
	return len(p), nil
}

// read returns all so far, and what tells of more.
func (o *output) read() (text string, grown <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text), o.grown
}

// startProcess starts a command in the story's folder. With lines not negative, its stdout is a pipe that is closed after
// so many lines.
func startProcess(ts *testscript.TestScript, lines int, command []string) (*process, error) {
	p := &process{
		cmd: exec.Command(command[0], command[1:]...), stdout: newOutput(), stderr: newOutput(),
		unread: make(chan struct{}), ended: make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env = ts.MkAbs("."), environment(ts)
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	if lines >= 0 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer w.Close()
		p.cmd.Stdout = w
		go func() {
			defer close(p.unread)
			readLines(p.stdout, r, lines)
		}()
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		p.cmd.Wait() // what came of it is in ProcessState
		if lines >= 0 {
			<-p.unread
		}
	}()
	return p, nil
}

// readLines reads some lines of a pipe and closes it.
func readLines(to io.Writer, from io.ReadCloser, n int) {
	defer from.Close()
	for lines := bufio.NewReader(from); n > 0; n-- {
		line, err := lines.ReadBytes('\n')
		to.Write(line)
		if err != nil {
			return
		}
	}
}

// environment is what a command beside the story sees. testscript keeps the whole to itself, but tells single variables.
func environment(ts *testscript.TestScript) []string {
	env := []string{"PWD=" + ts.MkAbs(".")}
	names := []string{"PATH", "HOME", "USERPROFILE", "TMPDIR", "TMP", "SYSTEMROOT", "GOCOVERDIR", "GORACE"}
	settings, flags := config.Default(), pflag.NewFlagSet("", pflag.ContinueOnError)
	settings.Register(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		names = append(names, "CRAWL_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
	})
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func (p *process) kill() {
	p.cmd.Process.Kill() // an error means that it is over
	<-p.ended
}

// exit is how a process ended: its exit code, or KILL.
func (p *process) exit() string {
	if p.killed && !p.cmd.ProcessState.Success() {
		return "KILL"
	}
	return strconv.Itoa(p.cmd.ProcessState.ExitCode())
}

func startCommand(ts *testscript.TestScript, neg bool, args []string) {
	const text = "start [-lines=N] NAME command..."
	lines := -1
	if len(args) > 0 {
		if n, ok := strings.CutPrefix(args[0], "-lines="); ok {
			lines, args = number(ts, n), args[1:]
		}
	}
	checkUse(ts, neg, len(args) > 1, text)
	s := storyOf(ts)
	if s.processes[args[0]] != nil {
		ts.Fatalf("%s runs already", args[0])
	}
	p, err := startProcess(ts, lines, args[1:])
	ts.Check(err)
	s.processes[args[0]] = p
}

func processOf(ts *testscript.TestScript, name string) *process {
	p := storyOf(ts).processes[name]
	if p == nil {
		ts.Fatalf("no process %s: start it", name)
	}
	return p
}

// signals are those that a story can send.
var signals = map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": os.Kill}

func signalCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 2 && signals[args[1]] != nil, "signal NAME INT|TERM|HUP|KILL")
	p := processOf(ts, args[0])
	p.killed = args[1] == "KILL"
	ts.Check(p.cmd.Process.Signal(signals[args[1]]))
}

func insistCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 2 && signals[args[1]] != nil, "insist NAME INT|TERM|HUP")
	p := processOf(ts, args[0])
	limit := time.NewTimer(patience)
	defer limit.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-p.ended:
			return
		case <-again.C:
			_ = p.cmd.Process.Signal(signals[args[1]]) // fails on one that has ended
		case <-limit.C:
			ts.Fatalf("%s has not ended in %s", args[0], patience)
		}
	}
}

func endsCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 2, "ends NAME CODE|KILL")
	p := processOf(ts, args[0])
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-p.ended:
	case <-limit.C:
		ts.Fatalf("%s has not ended in %s", args[0], patience)
	}
	delete(storyOf(ts).processes, args[0])
	stdout, _ := p.stdout.read()
	stderr, _ := p.stderr.read()
	io.WriteString(ts.Stdout(), stdout)
	io.WriteString(ts.Stderr(), stderr)
	if p.exit() != args[1] {
		ts.Fatalf("%s ends with %s, want %s", args[0], p.exit(), args[1])
	}
}

func awaitCommand(ts *testscript.TestScript, neg bool, args []string) {
	const text = "await asked URL N, await state DIR STATE, await stdout|stderr NAME REGEXP, or await closed NAME"
	checkUse(ts, neg, len(args) == 3 || len(args) == 2 && args[0] == "closed", text)
	switch args[0] {
	case "closed":
		awaitClosed(ts, args[1])
	case "asked":
		awaitAsked(ts, args[1], number(ts, args[2]))
	case "state":
		awaitState(ts, args[1], crawler.State(args[2]))
	case "stdout":
		awaitOutput(ts, args[1], processOf(ts, args[1]).stdout, args[2])
	case "stderr":
		awaitOutput(ts, args[1], processOf(ts, args[1]).stderr, args[2])
	default:
		checkUse(ts, neg, false, text)
	}
}

// awaitClosed waits until nobody reads what a process writes.
func awaitClosed(ts *testscript.TestScript, name string) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-processOf(ts, name).unread:
	case <-limit.C:
		ts.Fatalf("%s has not written as many lines in %s", name, patience)
	}
}

// awaitState waits until the process that runs a crawl says that it is in a state.
func awaitState(ts *testscript.TestScript, dir string, want crawler.State) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		var got crawler.Snapshot
		r, err := dial(ts.MkAbs(dir))
		if err == nil {
			got, err = r.stats(ctx)
		}
		if err == nil && got.State == want {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			ts.Fatalf("%s is %q in %s, want %q: %v", dir, got.State, patience, want, err)
		}
	}
}

// awaitOutput waits until a process has written what the pattern matches.
func awaitOutput(ts *testscript.TestScript, name string, out *output, pattern string) {
	re, err := regexp.Compile("(?m)" + pattern)
	ts.Check(err)
	limit := time.NewTimer(patience)
	defer limit.Stop()
	ended := processOf(ts, name).ended
	for {
		text, grown := out.read()
		if re.MatchString(text) {
			return
		}
		select {
		case <-grown:
		case <-ended:
			if text, _ = out.read(); re.MatchString(text) {
				return
			}
			ts.Fatalf("%s has ended and nowhere in its output is %#q:\n%s", name, pattern, text)
		case <-limit.C:
			ts.Fatalf("%s has not written %#q in %s:\n%s", name, pattern, patience, text)
		}
	}
}

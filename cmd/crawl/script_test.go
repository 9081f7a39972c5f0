package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"crawl/internal/testnet"
)

var update = flag.Bool("update", false, "write what commands print into the stories that compare it")

// Each file in testdata/script is a story of how the command is used, told to a small web of its own. Stories run side by
// side, know nothing of each other, and wait for what they need, never for a time. Besides testscript's commands they have:
//
//	site [-tls] [FOLDER]      serve FOLDER/HOST/PATH (default site) for the URLs of all hosts, and send crawl there: sets
//	                          CONNECT, ADDR, and the settings CRAWL_CONNECT_TO and CRAWL_HOST_DELAY=0 (scriptsite_test.go)
//	proxy NAME [-socks] [USER:PASSWORD]   start a proxy that reaches the site for all hosts; NAME is its HOST:PORT then
//	proxied NAME TEXT         that proxy was asked for TEXT: "GET URL", "CONNECT HOST:PORT" or, with -socks, HOST:PORT
//	names NAME HOST=ADDR...   start a name server that knows these hosts; NAME is its ADDR:PORT then
//	hold URL...               keep answers back until release, which takes no URL for all
//	asked URL N               the site was asked for URL N times
//	sent URL FIELD VALUE|-    the last request for URL had that field with that value, or did not have it
//	exits CODE command...     run a command that ends with CODE
//	start [-lines=N] NAME command...   run a command beside the story; with -lines its stdout is closed after N lines
//	signal NAME INT|TERM|HUP|KILL      send it a signal
//	insist NAME INT|TERM|HUP  send it a signal again and again until it has ended
//	ends NAME CODE            wait for its end; stdout and stderr are its own then. CODE of a killed one is KILL
//	await asked URL N         wait until the site was asked for URL N times
//	await state DIR STATE     wait until the crawl that runs in DIR is in that state
//	await stdout NAME REGEXP  wait until a command beside the story has written that; stderr as well
//	await closed NAME         wait until the stdout of one that was started with -lines is closed
//	records DIR KEY...        print these keys of each page record, the lines sorted
//	sums STATE                stdout holds a snapshot with every key, of a crawl in that state, and its sums match
//	nowhere DIR TEXT          no file in DIR holds that text
//	copy DIR TO               copy a directory
//	cut FILE N                cut a file to N bytes; to N bytes less when N is negative
//	flip FILE N               change byte N of a file, counted from its end when N is negative
func TestScript(t *testing.T) {
	// What is started meets a hang-up as anybody does, also where the tests run under nohup, which would be inherited.
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangUp) }) // once all stories, which run side by side, are over
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			s := &story{proxies: make(map[string]*testnet.ProxyServer), processes: make(map[string]*process)}
			env.Values[storyKey{}] = s
			env.Defer(s.end)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"site": siteCommand, "hold": holdCommand, "release": releaseCommand, "asked": askedCommand, "sent": sentCommand,
			"proxy": proxyCommand, "proxied": proxiedCommand, "names": namesCommand,
			"exits": exitsCommand, "start": startCommand, "signal": signalCommand, "insist": insistCommand, "ends": endsCommand, "await": awaitCommand,
			"records": recordsCommand, "sums": sumsCommand, "nowhere": nowhereCommand, "copy": copyCommand, "cut": cutCommand, "flip": flipCommand,
		},
		RequireUniqueNames: true, UpdateScripts: *update,
	})
}

// story is what the commands of one script share.
type story struct {
	site      *site
	proxies   map[string]*testnet.ProxyServer
	names     []*testnet.DNS
	processes map[string]*process
}

// storyKey is where a script keeps its story.
type storyKey struct{}

// patience bounds every wait of a story. What it waits for comes at once; this is for a machine with much else to do.
const patience = 30 * time.Second

func storyOf(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

// end leaves nothing running.
func (s *story) end() {
	for _, p := range s.processes {
		p.kill()
	}
	for _, p := range s.proxies {
		p.Close()
	}
	for _, n := range s.names {
		n.Close()
	}
	if s.site != nil {
		s.site.close()
	}
}

// checkUse fails a script that has a command wrong.
func checkUse(ts *testscript.TestScript, neg, ok bool, text string) {
	if neg {
		ts.Fatalf("unsupported: ! %s", text)
	}
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) > 1, "exits CODE command...")
	want := number(ts, args[0])
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("it exits with %d, want %d", got, want)
	}
}

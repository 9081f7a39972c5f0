// Command crawl fetches every page in scope that its seeds lead to: each once, politely, in bounded memory, and goes on
// where it was when it is killed.
package main

import (
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	log.SetOutput(io.Discard)      // net/http tells it what HTTP/2 servers do wrong, which the page's record says
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of the write, and a clean stop
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

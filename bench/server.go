package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"crawl/internal/testweb"
)

// served is what the web's server says of one run. A page is a URL of the web that a crawl may fetch, whatever the
// server answers: four in five are ordinary pages, the others redirects, errors, copies and files.
type served struct {
	Pages      int     `json:"pages"`        // different ones
	Missed     int     `json:"missed"`       // linked and never fetched
	Nofollow   int     `json:"nofollow"`     // linked with rel=nofollow alone and never fetched: no mistake
	Twice      int     `json:"twice"`        // pages fetched more than once
	Unexpected int     `json:"unexpected"`   // different URLs that are no pages and no robots.txt or sitemap
	Requests   int     `json:"requests"`     // for anything
	Malformed  int     `json:"malformed"`    // requests that are no HTTP
	ServerCPUs float64 `json:"server_cpu_s"` // of the server's process
}

// server is the web in a process of its own, so that its CPU time is not the crawler's. Each run gets a new one.
type server struct {
	cmd   *exec.Cmd
	in    io.Closer
	lines *bufio.Reader
	addr  string
}

const (
	startTimeout = 20 * time.Second
	judgeTimeout = 20 * time.Second
)

// startServer serves the web of cfg on a free port of the loopback address.
func startServer(ctx context.Context, self string, cfg testweb.Config) (*server, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, serveCommand, "--web", string(text))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, in: in, lines: bufio.NewReader(out)}
	addr, err := s.line(startTimeout)
	if err != nil {
		s.kill()
		return nil, fmt.Errorf("start server: %w", err)
	}
	s.addr = strings.TrimSpace(addr)
	return s, nil
}

// line reads a line of the server's output; a server that says nothing for so long is ended.
func (s *server) line(timeout time.Duration) (string, error) {
	timer := time.AfterFunc(timeout, func() { s.cmd.Process.Kill() })
	defer timer.Stop()
	return s.lines.ReadString('\n')
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// finish ends the server and returns its verdict.
func (s *server) finish() (served, error) {
	s.in.Close()
	var v served
	text, err := s.line(judgeTimeout)
	if err == nil {
		err = json.Unmarshal([]byte(text), &v)
	}
	if err != nil {
		s.kill()
		return served{}, fmt.Errorf("server: %w", err)
	}
	if err := s.cmd.Wait(); err != nil {
		return served{}, fmt.Errorf("server: %w", err)
	}
	v.ServerCPUs = cpuSeconds(s.cmd.ProcessState)
	return v, nil
}

// serve is the server's process: it says its address, serves until its input ends, and says what it was asked.
func serve(args []string) error {
	fs := flag.NewFlagSet(serveCommand, flag.ContinueOnError)
	web := fs.String("web", "{}", "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var cfg testweb.Config
	if err := json.Unmarshal([]byte(*web), &cfg); err != nil {
		return err
	}
	site, err := testweb.New(cfg)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := site.Serve(ln)
	fmt.Println(srv.Addr())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := srv.Close(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(judge(site, srv.Journal()))
}

// judge compares what the server was asked with what the web has. Peers that read sitemaps find pages that no link leads
// to, and some follow rel=nofollow: both are pages when fetched and not missed when not.
func judge(site *testweb.Site, j *testweb.Journal) served {
	all := site.Check(j.Fetched(), testweb.Nofollow, testweb.Sitemap)
	missed := len(site.Check(j.Fetched()).Missed)
	pages := 0
	for range site.URLs(testweb.Plain, testweb.Nofollow, testweb.Sitemap) {
		pages++
	}
	return served{
		Pages:      pages - len(all.Missed),
		Missed:     missed,
		Nofollow:   len(site.Check(j.Fetched(), testweb.Nofollow).Missed) - missed,
		Twice:      len(all.Twice),
		Unexpected: len(all.Unexpected),
		Requests:   j.Requests(),
		Malformed:  j.Malformed(),
	}
}

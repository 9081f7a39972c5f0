package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// site is the web of a story: the files of a folder, HOST/PATH for each URL, whatever the scheme. A path that ends in a
// slash is its index.html. PATH@N is what the Nth request gets. A file that starts with HTTP/1.1 is an answer with its
// head, sent as it stands before the connection ends; any other file is a body. What has no file is a 404.
type site struct {
	folder string
	server *httptest.Server

	mu      sync.Mutex // guards all below
	asked   map[string]int
	fields  map[string]http.Header   // of the last request
	held    map[string]chan struct{} // closed when the URL is released
	changed chan struct{}            // closed at the next request
}

func newSite(folder string, tls bool) (*site, error) {
	s := &site{
		folder: folder, asked: make(map[string]int), fields: make(map[string]http.Header), held: make(map[string]chan struct{}), changed: make(chan struct{}),
	}
	listener, err := listen()
	if err != nil {
		return nil, err
	}
	s.server = &httptest.Server{Listener: listener, Config: &http.Server{
		Handler: s, ErrorLog: log.New(io.Discard, "", 0), // of clients that refuse its certificate
	}}
	if tls {
		s.server.StartTLS()
	} else {
		s.server.Start()
	}
	return s, nil
}

func (s *site) close() {
	s.release(nil)
	s.server.Close()
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	url := "http://" + r.Host + r.URL.RequestURI()
	if r.TLS != nil {
		url = "https" + strings.TrimPrefix(url, "http")
	}
	n, held := s.note(url, r.Header)
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	name := filepath.Join(s.folder, hostname(r.Host), filepath.FromSlash(r.URL.Path))
	if strings.HasSuffix(r.URL.Path, "/") {
		name = filepath.Join(name, "index.html")
	}
	body, err := os.ReadFile(name + "@" + strconv.Itoa(n))
	if err != nil {
		body, err = os.ReadFile(name)
	}
	switch {
	case err != nil:
		http.Error(w, "no such page", http.StatusNotFound)
	case bytes.HasPrefix(body, []byte("HTTP/1.1 ")):
		answerWhole(w, body)
	default:
		w.Header().Set("Content-Type", contentType(name))
		w.Write(body) // an error means that the client has gone
	}
}

// hostname is the folder of a host: its port is of no account.
func hostname(host string) string {
	name, _, _ := strings.Cut(host, ":")
	return name
}

func contentType(name string) string {
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		return kind
	}
	return "text/html; charset=utf-8"
}

// answerWhole sends a head and what follows it, and ends the connection.
func answerWhole(w http.ResponseWriter, answer []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	head, body, _ := bytes.Cut(answer, []byte("\n\n"))
	fmt.Fprintf(conn, "%s\r\nConnection: close\r\n\r\n%s", bytes.ReplaceAll(head, []byte("\n"), []byte("\r\n")), body)
}

// note counts a request, and returns what it has to wait for, if anything.
func (s *site) note(url string, fields http.Header) (n int, held chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[url]++
	s.fields[url] = fields
	close(s.changed)
	s.changed = make(chan struct{})
	return s.asked[url], s.held[url]
}

// requests returns how often a URL was asked for, and what tells of the next request for any.
func (s *site) requests(url string) (n int, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[url], s.changed
}

func (s *site) hold(urls []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, url := range urls {
		s.held[url] = make(chan struct{})
	}
}

// release lets answers go: all of them when no URL is named.
func (s *site) release(urls []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(urls) == 0 {
		for url := range s.held {
			urls = append(urls, url)
		}
	}
	for _, url := range urls {
		if held, ok := s.held[url]; ok {
			close(held)
			delete(s.held, url)
		}
	}
}

func siteCommand(ts *testscript.TestScript, neg bool, args []string) {
	tls := len(args) > 0 && args[0] == "-tls"
	if tls {
		args = args[1:]
	}
	checkUse(ts, neg, len(args) <= 1, "site [-tls] [FOLDER]")
	s := storyOf(ts)
	if s.site != nil {
		ts.Fatalf("there is a site already")
	}
	folder := "site"
	if len(args) == 1 {
		folder = args[0]
	}
	var err error
	s.site, err = newSite(ts.MkAbs(folder), tls)
	ts.Check(err)
	addr := s.site.server.Listener.Addr().String()
	ts.Setenv("ADDR", addr)
	ts.Setenv("CONNECT", "::"+addr)
	ts.Setenv("CRAWL_CONNECT_TO", "::"+addr)
	ts.Setenv("CRAWL_HOST_DELAY", "0")
}

// siteOf is the story's site, which a command needs.
func siteOf(ts *testscript.TestScript) *site {
	s := storyOf(ts)
	if s.site == nil {
		ts.Fatalf("there is no site: start one with site")
	}
	return s.site
}

func holdCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) > 0, "hold URL...")
	siteOf(ts).hold(args)
}

func releaseCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, true, "release [URL...]")
	siteOf(ts).release(args)
}

func askedCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 2, "asked URL N")
	if n, _ := siteOf(ts).requests(args[0]); n != number(ts, args[1]) {
		ts.Fatalf("%s was asked for %d times, want %s", args[0], n, args[1])
	}
}

func sentCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) == 3, "sent URL FIELD VALUE|-")
	s := siteOf(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	got := strings.Join(s.fields[args[0]].Values(args[1]), ", ")
	if s.asked[args[0]] == 0 || cmp.Or(got, "-") != args[2] {
		ts.Fatalf("%s was asked for %d times, at last with %s: %q, want %q", args[0], s.asked[args[0]], args[1], got, args[2])
	}
}

// awaitAsked waits until the site was asked for a URL n times.
func awaitAsked(ts *testscript.TestScript, url string, n int) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		got, changed := siteOf(ts).requests(url)
		if got >= n {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			ts.Fatalf("%s was asked for %d times in %s, want %d", url, got, patience, n)
		}
	}
}

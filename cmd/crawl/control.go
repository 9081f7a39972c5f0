package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"crawl/crawler"
	"crawl/store"
)

// A running crawl is steered by HTTP on the loopback address. The file `control` in its directory, readable by its user
// alone, says where, and holds the token that every request must carry.
type controlFile struct {
	Address string `json:"address"`
	Token   string `json:"token"`
	CrawlID string `json:"crawl_id"`
	// Identity is the directory's own: a copy that was made while the crawl ran has the same file, but nobody runs it.
	Identity string `json:"identity,omitempty"`
}

// controlServer answers commands from other processes.
type controlServer struct {
	path   string
	server *http.Server
	served chan error
}

// maxAdd bounds the body of one command.
const maxAdd = 64 << 20

func serveControl(s *session, c *crawler.Crawler) (*controlServer, error) {
	dir := s.dir
	format, err := store.ReadFormat(dir)
	if err != nil {
		return nil, err
	}
	listener, err := listen()
	if err != nil {
		return nil, fmt.Errorf("listen for commands: %w", err)
	}
	file := controlFile{Address: listener.Addr().String(), Token: rand.Text(), CrawlID: format.CrawlID, Identity: identity(dir)}
	text, err := json.Marshal(file)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	control := &controlServer{
		path:   filepath.Join(dir, "control"),
		server: &http.Server{Handler: file.guard(controlHandler(s, c)), ReadHeaderTimeout: 10 * time.Second},
		served: make(chan error, 1),
	}
	if err := store.WriteWhole(control.path, text, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	go func() { control.served <- control.server.Serve(listener) }()
	return control, nil
}

// listen takes a free port of the loopback address. Thousands of connections that ended just now, as those of a crawl that
// was killed, leave the system none of its own to choose: then it is one from below those.
func listen() (net.Listener, error) {
	const low, high, attempts = 20_000, 32_000, 100
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	for n := 0; errors.Is(err, syscall.EADDRINUSE) && n < attempts; n++ {
		listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", low+mathrand.IntN(high-low)))
	}
	return listener, err
}

// Close ends the server when the commands that wait have their answers.
func (s *controlServer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if err != nil { // somebody keeps a connection: let it go
		err = s.server.Close()
	}
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, os.Remove(s.path))
}

// guard lets only those in who can read the file.
func (f controlFile) guard(next http.Handler) http.Handler {
	want := []byte("Bearer " + f.Token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			http.Error(w, "wrong token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// addRequest asks for more seeds.
type addRequest struct {
	Seeds []crawler.Seed `json:"seeds"`
	Again bool           `json:"again"`
}

func controlHandler(s *session, c *crawler.Crawler) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, do func(*http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			answer, err := do(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(answer) // an error means that the asker has gone
		})
	}
	handle("GET /stats", func(*http.Request) (any, error) { return c.Snapshot(), nil })
	handle("GET /hosts", func(r *http.Request) (any, error) { return c.GivenUpHosts(r.Context()) })
	handle("GET /asked", func(*http.Request) (any, error) { return c.Asked(), nil })
	handle("GET /host", func(r *http.Request) (any, error) { return c.HostReport(r.URL.Query().Get("host")) })
	handle("GET /rules", func(*http.Request) (any, error) { return c.Rules(), nil })
	handle("GET /why", func(r *http.Request) (any, error) { return answerWhy(c, r) })
	handle("POST /retry", func(r *http.Request) (any, error) { return answerRetry(c, r) })
	handle("POST /pause", func(r *http.Request) (any, error) { return nil, c.Pause(r.Context()) })
	handle("POST /resume", func(r *http.Request) (any, error) { return nil, c.Resume(r.Context()) })
	handle("POST /stop", func(*http.Request) (any, error) { c.Stop(); return nil, nil })
	handle("POST /add", func(r *http.Request) (any, error) {
		var ask addRequest
		if err := json.NewDecoder(io.LimitReader(r.Body, maxAdd)).Decode(&ask); err != nil {
			return nil, err
		}
		return c.Add(r.Context(), slices.Values(ask.Seeds), ask.Again)
	})
	handle("POST /set", func(r *http.Request) (any, error) {
		var ask setRequest
		if err := json.NewDecoder(io.LimitReader(r.Body, maxAdd)).Decode(&ask); err != nil {
			return nil, err
		}
		return s.set(r.Context(), c, ask)
	})
	return mux
}

// remote is a running crawl in another process.
type remote struct {
	controlFile
	dir    string
	client http.Client
}

// errNotRunning: no process has the crawl open.
var errNotRunning = errors.New("is not running")

// dial finds the process that runs the crawl in dir. A control file that a killed process left leads nowhere, and to no
// one else: the answer must carry the crawl's own stats.
func dial(dir string) (*remote, error) {
	text, err := os.ReadFile(filepath.Join(dir, "control"))
	if err != nil {
		return nil, fmt.Errorf("%s %w", dir, errNotRunning)
	}
	r := &remote{dir: dir}
	format, formatErr := store.ReadFormat(dir)
	if json.Unmarshal(text, &r.controlFile) != nil || formatErr != nil || format.CrawlID != r.CrawlID ||
		r.Identity != identity(dir) {
		return nil, fmt.Errorf("%s %w", dir, errNotRunning)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := r.stats(ctx); err != nil {
		return nil, fmt.Errorf("%s %w", dir, errNotRunning)
	}
	return r, nil
}

func (r *remote) stats(ctx context.Context) (crawler.Snapshot, error) {
	var s crawler.Snapshot
	err := r.call(ctx, http.MethodGet, "/stats", nil, &s)
	return s, err
}

// call makes one request and decodes the answer, if one is wanted.
func (r *remote) call(ctx context.Context, method, path string, ask, answer any) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+r.Address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.Token)
	response, err := r.client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the crawl in %s: %w", r.dir, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4096)) // what came of it is worth telling
		return fmt.Errorf("the crawl in %s: %s", r.dir, bytes.TrimSpace(text))
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

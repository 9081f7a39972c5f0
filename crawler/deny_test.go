package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/frontier"
	"crawl/internal/testnet"
	"crawl/seen"
)

// listAt writes a list in one step, as who replaces one should.
func listAt(t *testing.T, path string, lines ...string) string {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Error(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Error(err)
	}
	return path
}

// logged gathers what a crawl says.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) log() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// denyWeb has links, redirects and a robots.txt that lead to what is denied.
func denyWeb(t *testing.T) *web {
	w := serve(t, map[string]answer{
		"http://a.test/": {body: `<a href=/ok><a href=/secret><a href=//evil.test/><a href=//www.EVIL.test:81/x><a href=//evil.test./y>
			<a href=//one.test/><a href=//www.one.test/><a href=//127.9.9.9/><a href=/go><a href=/twice><a href=//c.test/ok>`},
		"http://a.test/go":               {status: 302, header: map[string]string{"Location": "http://evil.test/by-redirect"}},
		"http://a.test/twice":            {status: 301, header: map[string]string{"Location": "/again"}},
		"http://a.test/again":            {status: 301, header: map[string]string{"Location": "/secret"}},
		"http://a.test/ok":               {body: "page"},
		"http://c.test/robots.txt":       {status: 301, header: map[string]string{"Location": "http://evil.test/robots.txt"}},
		"http://c.test/ok":               {body: "page"},
		"http://www.one.test/":           {body: "page"},
		"http://seed.test/":              {status: 302, header: map[string]string{"Location": "http://evil.test/from-seed"}},
		"http://www.one.test/robots.txt": {status: 404},
	})
	w.other = func(string) string { return "nobody should see this" }
	return w
}

var denied = []string{"evil.test", "0.0.0.0 one.test", "127.9.9.0/24 ; a network", "http://a.test/secret"}

// Nothing that is on a list is asked for: not as a link, a seed, a redirect of a page, of a seed or of a robots.txt, whatever
// the list is made of. Each is counted under the list, and what is not on it is fetched.
func TestDenylistBindsAll(t *testing.T) {
	t.Parallel()
	lists := map[string]func(t *testing.T, path string) string{
		"text": func(t *testing.T, path string) string { return listAt(t, path, denied...) },
		"filter": func(t *testing.T, path string) string {
			b, err := seen.NewTableBuilder(path, seen.Config{FalsePositiveRate: 0.01})
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range []string{"evil.test", "=one.test", "127.9.9.0/24", "http://a.test/secret"} {
				if err := b.Add(b.HashString(entry)); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Finish(); err != nil {
				t.Fatal(err)
			}
			return path
		},
	}
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, said := denyWeb(t), new(logged)
			cfg := w.quick()
			cfg.Scope.Mode, cfg.Log = "any", said.log()
			cfg.Deny = []string{list(t, filepath.Join(t.TempDir(), "evil.list"))}
			c, dir := create(t, cfg, "http://a.test/", "http://evil.test/seed", "http://seed.test/")
			run(t, c)
			wantOutcomes(t, pagesByURL(t, dir), map[string]string{
				"http://a.test/": "ok", "http://a.test/ok": "ok", "http://www.one.test/": "ok", "http://seed.test/": "redirect",
				"http://a.test/go": "redirect", "http://a.test/twice": "redirect", "http://a.test/again": "redirect",
				"http://c.test/ok": "robots_denied", "http://a.test/secret": "no record",
			})
			for _, never := range []string{"http://evil.test", "http://www.evil.test", "http://one.test", "http://127.9.9.9", "http://a.test/secret"} {
				if n := len(w.times(never)); n > 0 {
					t.Errorf("%s was asked for %d times", never, n)
				}
			}
			s := onDisk(t, dir)
			if s.State != crawler.Complete || s.ByReason["denied"] != 10 || len(s.Deny) != 1 {
				t.Fatalf("%s, %v, %+v", s.State, s.ByReason, s.Deny)
			}
			if d := s.Deny[0]; d.List != "deny:evil.list" || d.Entries != 4 || d.Links != 10 || d.Since.IsZero() || d.Modified.IsZero() ||
				strings.HasPrefix(d.Digest, "sha256:") != (name == "text") || d.Lookups < 10 {
				t.Errorf("%+v", d)
			}
			if text := said.String(); !strings.Contains(text, `seed=http://evil.test/seed by="deny:evil.list: evil.test (domain)"`) {
				t.Errorf("nothing is said of the seed: %s", text)
			}
			r := rulingBy(storedStory(t, dir, "http://x.evil.test/"), crawler.ByDeny)
			want := "deny:evil.list: evil.test (domain), line 1"
			if name == "filter" {
				want = "deny:evil.list: evil.test (domain)"
			}
			if r.Verdict != crawler.Refuses || r.Rule != want {
				t.Errorf("why says %+v", r)
			}
			if story := storedStory(t, dir, "http://a.test/secret"); story.Fate != crawler.FateRefused || story.RefusedBy != crawler.ByDeny {
				t.Errorf("%+v", story)
			}
			if r := rulingBy(storedStory(t, dir, "http://a.test/ok"), crawler.ByDeny); r.Verdict != crawler.Allows {
				t.Errorf("why says %+v", r)
			}
		})
	}
}

// Addresses on a list are not dialled, whatever name leads to them; a name that has others too is asked there.
func TestDeniedAddresses(t *testing.T) {
	t.Parallel()
	const open, shut = "127.0.0.71", "127.0.0.72"
	names, err := testnet.StartDNS(map[string]testnet.Host{
		"good.test": {Addrs: []string{open}, TTL: 60}, "bad.test": {Addrs: []string{shut}, TTL: 60}, "both.test": {Addrs: []string{shut, open}, TTL: 60},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	site := listenAt(t, open+":0", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page") })
	_, port, _ := net.SplitHostPort(site.Listener.Addr().String())
	var reached atomic.Int64
	listenAt(t, shut+":"+port, func(http.ResponseWriter, *http.Request) { reached.Add(1) })

	cfg := crawler.DefaultConfig()
	cfg.Frontier.HostDelay, cfg.RetryDelay = frontier.None, time.Millisecond
	cfg.Fetch.Resolvers, cfg.Fetch.AllowPrivate = []netip.AddrPort{names.Addr()}, []string{"all"}
	cfg.Deny = []string{listAt(t, filepath.Join(t.TempDir(), "networks"), "127.0.0.72/31")}
	c, dir := create(t, cfg, "http://good.test:"+port+"/", "http://bad.test:"+port+"/", "http://both.test:"+port+"/")
	run(t, c)
	pages := pagesByURL(t, dir)
	wantOutcomes(t, pages, map[string]string{
		"http://good.test:" + port + "/": "ok", "http://bad.test:" + port + "/": "denied", "http://both.test:" + port + "/": "ok",
	})
	if e := pages["http://bad.test:"+port+"/"].Error; e == nil || e.Message != "deny:networks: 127.0.0.72/31 (network)" {
		t.Errorf("%+v", e)
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests came to an address on the list", n)
	}
	if s := onDisk(t, dir); s.Deny[0].URLs != 1 {
		t.Errorf("%+v", s.Deny)
	}
}

// A list that changes is in force without a restart; what it denies now is refused at its turn. A version that is no list,
// has nothing left, or is gone leaves the one before in force, and stats say why.
func TestDenylistIsReadAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "live")
	listAt(t, path, "first.test")
	var c *crawler.Crawler
	said := new(logged)
	becomes := func(what string, is func(d crawler.DenylistView) bool) {
		eventually(t, what, func() bool { return is(c.Snapshot().Deny[0]) })
	}
	w := serve(t, map[string]answer{
		"http://a.test/": {body: "<a href=/gate><a href=/queued><a href=//first.test/1>"},
		"http://a.test/gate": {do: func(out http.ResponseWriter, _ int) {
			before := c.Snapshot().Deny[0]
			listAt(t, path, "second.test", "http://a.test/queued")
			becomes("the new version is in force", func(d crawler.DenylistView) bool { return d.Entries == 2 && d.Since.After(before.Since) })
			listAt(t, path, "<!DOCTYPE html>", "<title>Moved</title>")
			becomes("a page is no list", func(d crawler.DenylistView) bool { return strings.Contains(d.Refused, "no denylist") && d.Entries == 2 })
			listAt(t, path, "# nothing")
			becomes("no entry is left", func(d crawler.DenylistView) bool { return strings.Contains(d.Refused, "no entry") && d.Entries == 2 })
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
			becomes("it is gone", func(d crawler.DenylistView) bool {
				return strings.Contains(d.Refused, "no such file") && d.Entries == 2
			})
			out.Header().Set("Content-Type", "text/html")
			fmt.Fprint(out, "<a href=//first.test/2><a href=//second.test/>")
		}},
		"http://a.test/queued": {body: "page"},
		"http://first.test/2":  {body: "page"},
	})
	cfg := w.quick()
	cfg.Concurrency, cfg.CheckpointInterval, cfg.Scope.Mode, cfg.Log = 1, 10*time.Millisecond, "any", said.log()
	cfg.Deny = []string{path}
	c, dir := create(t, cfg, "http://a.test/")
	run(t, c)
	wantOutcomes(t, pagesByURL(t, dir), map[string]string{
		"http://a.test/gate": "ok", "http://a.test/queued": "denied", "http://first.test/1": "no record", "http://first.test/2": "ok",
		"http://second.test/": "no record",
	})
	for _, never := range []string{"http://a.test/queued", "http://first.test/1", "http://second.test/"} {
		if w.asked(never) > 0 {
			t.Errorf("%s was asked for", never)
		}
	}
	if n := strings.Count(said.String(), "no such file"); n != 1 {
		t.Errorf("that the file is gone is said %d times", n)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "deny")); err != nil || len(left) != 2 { // the set in force and its note
		t.Errorf("left are %v, %v", left, err)
	}
}

// A crawl that goes on has its lists, counts and versions; a list that changed meanwhile binds what is queued, one that is
// gone is an error that names it, and leaves the crawl as it was.
func TestDenylistsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kept")
	listAt(t, path, "evil.test")
	w := serve(t, map[string]answer{"http://a.test/": {body: "<a href=//evil.test/><a href=/1><a href=/2>"}, "http://a.test/1": {body: "1"}, "http://a.test/2": {body: "2"}})
	cfg := w.quick()
	cfg.Scope.Mode, cfg.MaxPages, cfg.Concurrency = "any", new(uint64(1)), 1
	cfg.Deny = []string{path}
	c, dir := create(t, cfg, "http://a.test/")
	run(t, c)
	before := onDisk(t, dir)
	more := func(cfg *crawler.Config) { cfg.MaxPages = nil }
	c, err := crawler.Open(dir, more)
	if err != nil {
		t.Fatal(err)
	}
	if d := c.Snapshot().Deny[0]; d.Links != 1 || !d.Since.Equal(before.Deny[0].Since) {
		t.Errorf("opened as %+v, it was %+v", d, before.Deny[0])
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}

	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	_, err = crawler.Open(dir, more)
	if failure, ok := errors.AsType[*crawler.DenylistError](err); !ok || failure.File != path || !strings.Contains(err.Error(), "take it out of deny") {
		t.Fatalf("without its list: %v", err)
	}

	listAt(t, path, "evil.test", "http://a.test/2")
	if c, err = crawler.Open(dir, more); err != nil {
		t.Fatal(err)
	}
	added, err := c.Add(t.Context(), slices.Values([]crawler.Seed{{URL: "http://www.evil.test/"}}), false)
	if err != nil || added.Admitted != 0 || len(added.Refused) != 1 || !strings.Contains(added.Refused[0], "denied by deny:kept: evil.test") {
		t.Errorf("what is denied was added: %+v, %v", added, err)
	}
	run(t, c)
	wantOutcomes(t, pagesByURL(t, dir), map[string]string{"http://a.test/1": "ok", "http://a.test/2": "denied"})
	if d := onDisk(t, dir).Deny[0]; d.Links != 2 || d.URLs != 1 || d.Entries != 2 || d.Since.Equal(before.Deny[0].Since) {
		t.Errorf("%+v", d)
	}
}

// What cannot be used is said before there is a crawl.
func TestDenylistThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	bloom, err := seen.NewBloom(seen.Config{ExpectedItems: 10}, seen.Blocked)
	if err != nil {
		t.Fatal(err)
	}
	var saved strings.Builder
	if _, err := bloom.WriteTo(&saved); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"a filter without hashes": saved.String(), "a page": "<!DOCTYPE html>\n<p>moved\n", "gzip": "\x1f\x8b\x08\x00rest",
	} {
		path := filepath.Join(folder, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		refusedList(t, path)
	}
	refusedList(t, filepath.Join(folder, "none"))
	refusedList(t, folder)
}

func refusedList(t *testing.T, path string) {
	t.Helper()
	cfg := crawler.DefaultConfig()
	cfg.Deny = []string{path}
	dir := filepath.Join(t.TempDir(), "crawl")
	_, err := crawler.Create(dir, cfg, seeds("http://a.test/"))
	if failure, ok := errors.AsType[*crawler.DenylistError](err); !ok || failure.File != path {
		t.Errorf("%s: %v", path, err)
	}
	if _, err := crawler.Open(dir, nil); err == nil {
		t.Errorf("%s: there is a crawl", path)
	}
}

// A damaged set ends the run, with its state saved, before anything is asked for that may be denied; the next start makes it
// again.
func TestDamagedDenylist(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "list")
	lines := []string{"evil.test"}
	for i := range 100 { // the first hash of a page is known without reading it
		lines = append(lines, fmt.Sprintf("n%d.test", i))
	}
	listAt(t, path, lines...)
	w := serve(t, map[string]answer{"http://a.test/": {body: "<a href=//evil.test/><a href=//n1.test/>"}})
	cfg := w.quick()
	cfg.Scope.Mode = "any"
	cfg.Deny = []string{path}
	c, dir := create(t, cfg, "http://a.test/")
	sets, err := filepath.Glob(filepath.Join(dir, "deny", "*.filter"))
	if err != nil || len(sets) != 1 {
		t.Fatal(sets, err)
	}
	flipPages(t, sets[0])
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Run(ctx); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the run ended with %v", err)
	}
	checkSums(t, c.Snapshot())
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if c, err = crawler.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if s := onDisk(t, dir); s.State != crawler.Complete || s.ByReason["denied"] != 2 || w.asked("http://evil.test/") > 0 {
		t.Errorf("%s, %v", s.State, s.ByReason)
	}
}

// flipPages damages the hashes of a set, which are checked when they are read, and leaves what is checked at opening.
func flipPages(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < info.Size(); at += 4096 { // pages begin at multiples of their size
		b := make([]byte, 1)
		if _, err := f.ReadAt(b, at+20); err != nil {
			break
		}
		before := b[0]
		b[0] ^= 0xff
		if _, err := f.WriteAt(b, at+20); err != nil {
			t.Fatal(err)
		}
		table, err := seen.OpenTable(path) // each time: a page that was read is kept
		if err == nil {
			_, err = table.Has(table.HashString("evil.test"))
			if closed := table.Close(); closed != nil {
				t.Fatal(closed)
			}
			if errors.Is(err, seen.ErrDamaged) {
				return
			}
		}
		b[0] = before
		if _, err := f.WriteAt(b, at+20); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no page of hashes was found")
}

// Two lists of one name are told apart, and a snapshot names both.
func TestDenylistNames(t *testing.T) {
	t.Parallel()
	one, other := filepath.Join(t.TempDir(), "list"), filepath.Join(t.TempDir(), "list")
	w := serve(t, map[string]answer{"http://a.test/": {body: "<a href=//b.test/><a href=//c.test/>"}})
	cfg := w.quick()
	cfg.Scope.Mode, cfg.Deny = "any", []string{listAt(t, one, "b.test"), listAt(t, other, "c.test", "d.test")}
	_, s := crawl(t, cfg, "http://a.test/")
	got := make(map[string]uint64)
	for _, d := range s.Deny {
		got[d.List] = d.Links
	}
	if want := map[string]uint64{"deny:" + one: 1, "deny:" + other: 1}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/store"
)

// outside is a web that keeps the methods by which its URLs are asked for.
type outside struct {
	server *httptest.Server
	answer func(w http.ResponseWriter, method, url string)

	mu    sync.Mutex // guards all below
	asked []string   // "METHOD URL", in order
}

func serveOutside(t *testing.T, answer func(w http.ResponseWriter, method, url string)) *outside {
	t.Helper()
	o := &outside{answer: answer}
	o.server = httptest.NewServer(o)
	t.Cleanup(o.server.Close)
	return o
}

func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	url := "http://" + r.Host + r.URL.RequestURI()
	o.mu.Lock()
	o.asked = append(o.asked, r.Method+" "+url)
	o.mu.Unlock()
	o.answer(w, r.Method, url)
}

// of returns the methods by which a URL was asked for.
func (o *outside) of(url string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var methods []string
	for _, request := range o.asked {
		if method, asked, _ := strings.Cut(request, " "); asked == url {
			methods = append(methods, method)
		}
	}
	return strings.Join(methods, " ")
}

// checking is a Config that checks links out of the crawl, all names being the web's.
func (o *outside) checking() crawler.Config {
	cfg := crawler.DefaultConfig()
	cfg.CheckExternal = true
	cfg.Frontier.HostDelay = frontier.None
	cfg.Frontier.BackoffBase = time.Millisecond
	cfg.RetryDelay = time.Millisecond
	cfg.Concurrency = 4
	cfg.Fetch.ConnectTo = []fetch.ConnectTo{everythingTo(o.server.Listener.Addr().String())}
	return cfg
}

// byMethod answers HEAD and GET by status; 0 breaks the connection.
func byMethod(w http.ResponseWriter, method string, head, get int) {
	status := get
	if method == http.MethodHead {
		status = head
	}
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	fmt.Fprint(w, "<title>outside</title><a href=/deeper>")
}

// Each link out of the crawl is asked for once, by HEAD and where that says nothing by GET; redirects are followed, and
// nothing else is.
func TestCheckExternal(t *testing.T) {
	t.Parallel()
	statuses := map[string][2]int{ // of a HEAD and of a GET
		"http://fine.test/":       {200, 200},
		"http://gone.test/":       {404, 404},
		"http://nohead.test/":     {405, 200},
		"http://unknown.test/":    {501, 200},
		"http://shy.test/":        {404, 200},
		"http://forbids.test/":    {403, 403},
		"http://hangs-up.test/":   {0, 200},
		"http://dead.test/":       {0, 0},
		"http://broken.test/":     {500, 500},
		"http://busy.test/":       {503, 200},
		"http://empty.test/":      {204, 204},
		"http://pic.test/x.png":   {200, 200},
		"http://secret.test/open": {200, 200},
	}
	redirects := map[string]string{
		"http://moved.test/":   "http://fine.test/landed",
		"http://lost.test/":    "http://gone.test/landed",
		"http://back.test/":    "http://a.test/page",
		"http://a.test/leaves": "http://left.test/",
		"http://round.test/":   "http://round.test/1",
		"http://round.test/1":  "http://round.test/",
	}
	statuses["http://fine.test/landed"] = [2]int{200, 200}
	statuses["http://gone.test/landed"] = [2]int{410, 410}
	statuses["http://left.test/"] = [2]int{200, 200}
	pages := map[string]string{
		"http://a.test/": `<a href=/page><a href=/leaves><a href=mailto:x@y.test><a href=http://fine.test/#part>
			<a href=http://secret.test/hidden><a href=http://secret.test/open><a href=http://ads.test/banner>`,
		"http://a.test/page": "<a href=/page>",
	}
	for url := range statuses {
		pages["http://a.test/"] += "<a href=" + url + "><a rel=nofollow href=" + url + ">"
		pages["http://a.test/page"] += "<a href=" + url + ">"
	}
	for url := range redirects {
		pages["http://a.test/page"] += "<a href=" + url + ">"
	}
	w := serveOutside(t, func(w http.ResponseWriter, method, url string) {
		w.Header().Set("Connection", "close") // a request on a kept connection that breaks is sent once more
		status, listed := statuses[url]
		switch to, page := redirects[url], pages[url]; {
		case url == "http://secret.test/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /hidden\n")
		case to != "":
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		case page != "":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, page)
		case listed:
			byMethod(w, method, status[0], status[1])
		default:
			http.Error(w, "none", http.StatusNotFound)
		}
	})
	cfg := w.checking()
	cfg.Retries = 1
	cfg.MaxDepth = new(1) // the links of the deepest pages are checked all the same
	cfg.Scope.Exclude = []string{`//ads\.`}
	dir := t.TempDir()
	c, err := crawler.Create(dir, cfg, seeds("http://a.test/"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	got := make(map[string]*store.Page)
	for _, p := range records(t, dir) {
		key := p.URL
		if p.Check != "" {
			key = "check " + p.URL
		}
		if got[key] != nil {
			t.Errorf("%s has two records", key)
		}
		got[key] = p
	}
	for _, tt := range []struct {
		url, asked string
		check      store.Check
		outcome    store.Outcome
		status     int
	}{
		{"http://fine.test/", "HEAD", store.CheckHead, store.OutcomeOK, 200},
		{"http://gone.test/", "HEAD GET", store.CheckGet, store.OutcomeClientError, 404},
		{"http://nohead.test/", "HEAD GET", store.CheckGet, store.OutcomeOK, 200},
		{"http://unknown.test/", "HEAD GET", store.CheckGet, store.OutcomeOK, 200},
		{"http://shy.test/", "HEAD GET", store.CheckGet, store.OutcomeOK, 200},
		{"http://forbids.test/", "HEAD GET", store.CheckGet, store.OutcomeClientError, 403},
		{"http://hangs-up.test/", "HEAD GET", store.CheckGet, store.OutcomeOK, 200},
		{"http://dead.test/", "HEAD GET GET", store.CheckGet, store.OutcomeFailed, 0},
		{"http://broken.test/", "HEAD GET GET", store.CheckGet, store.OutcomeServerError, 500},
		{"http://busy.test/", "HEAD GET", store.CheckGet, store.OutcomeOK, 200},
		{"http://empty.test/", "HEAD", store.CheckHead, store.OutcomeOK, 204},
		{"http://pic.test/x.png", "HEAD", store.CheckHead, store.OutcomeOK, 200},
		{"http://secret.test/open", "HEAD", store.CheckHead, store.OutcomeOK, 200},
		{"http://secret.test/hidden", "", store.CheckHead, store.OutcomeRobotsDenied, 0},
		{"http://moved.test/", "HEAD", store.CheckHead, store.OutcomeRedirect, 302},
		{"http://fine.test/landed", "HEAD", store.CheckHead, store.OutcomeOK, 200},
		{"http://gone.test/landed", "HEAD GET", store.CheckGet, store.OutcomeClientError, 410},
		{"http://left.test/", "HEAD", store.CheckHead, store.OutcomeOK, 200},
		{"http://round.test/1", "HEAD", store.CheckHead, store.OutcomeRedirect, 302},
		{"http://a.test/page", "GET HEAD", store.CheckHead, store.OutcomeOK, 200},
	} {
		p := got["check "+tt.url]
		if asked := w.of(tt.url); asked != tt.asked && !(tt.url == "http://a.test/page" && len(asked) == len(tt.asked)) {
			t.Errorf("%s was asked for by %q, want %q", tt.url, asked, tt.asked)
		}
		switch {
		case p == nil:
			t.Errorf("%s has no record", tt.url)
		case p.Check != tt.check || p.Outcome != tt.outcome || p.Status != tt.status:
			t.Errorf("%s: check %s, %v %d, want %s, %v %d", tt.url, p.Check, p.Outcome, p.Status, tt.check, tt.outcome, tt.status)
		case p.BodyBytes > 0 || p.LinkCount > 0 || p.Title+p.Digest+p.Truncated != "":
			t.Errorf("%s was read: %+v", tt.url, p)
		case p.Referrer == "":
			t.Errorf("%s has no page that it stands on", tt.url)
		}
		delete(got, "check "+tt.url)
	}
	for key := range got {
		if strings.Contains(key, "deeper") || strings.Contains(key, "ads.test") {
			t.Errorf("%s has a record", key)
		}
	}
	if asked := w.of("http://ads.test/banner") + w.of("http://ads.test/robots.txt"); asked != "" {
		t.Errorf("what is excluded was asked for: %s", asked)
	}
	checkVerified(t, dir)
}

func checkVerified(t *testing.T, dir string) {
	t.Helper()
	report, err := crawler.Verify(t.Context(), dir, crawler.VerifyOptions{})
	if err != nil || !report.Sound {
		t.Errorf("verify: %v, %+v", err, report.Damage)
	}
}

// What crawl stats counts of checks, and what crawl why tells.
func TestCheckIsTold(t *testing.T) {
	t.Parallel()
	w := serveOutside(t, func(w http.ResponseWriter, method, url string) {
		switch {
		case strings.HasPrefix(url, "http://a.test/"):
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<a href=http://ok.test/><a href=http://gone.test/>")
		case strings.HasPrefix(url, "http://gone.test/"):
			byMethod(w, method, 404, 404)
		}
	})
	dir := t.TempDir()
	c, err := crawler.Create(dir, w.checking(), seeds("http://a.test/"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if s := storedSnapshot(t, dir); s.Pages != 3 || s.Checks != 2 || s.Broken != 1 {
		t.Errorf("%d records, %d checks, %d broken, want 3, 2, 1", s.Pages, s.Checks, s.Broken)
	}
	story := storedStory(t, dir, "http://gone.test/")
	if !story.Checked() || story.Admission.Referrer != "http://a.test/" || story.Page == nil || story.Page.Check != store.CheckGet {
		t.Errorf("the story of a check: %+v, %+v, %+v", story, story.Admission, story.Page)
	}
	if r := rulingBy(story, crawler.ByScope); r.Verdict != crawler.Allows {
		t.Errorf("the scope %s a check: %s", r.Verdict, r.Rule)
	}
	if story := storedStory(t, dir, "http://never.test/"); story.Fate != crawler.FateRefused || !strings.Contains(rulingBy(story, crawler.ByScope).Rule, "only checked") {
		t.Errorf("the story of a link out of the crawl that was not met: %+v", story)
	}
}

func storedSnapshot(t *testing.T, dir string) crawler.Snapshot {
	t.Helper()
	reader, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	s, err := crawler.ReadSnapshot(reader.Cut())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A URL that was checked is new to the crawl when it is added, and is fetched as a page, links and all.
func TestCheckedThenCrawled(t *testing.T) {
	t.Parallel()
	w := serveOutside(t, func(w http.ResponseWriter, _, url string) {
		w.Header().Set("Content-Type", "text/html")
		switch url {
		case "http://a.test/":
			fmt.Fprint(w, "<a href=http://b.test/>")
		case "http://b.test/":
			fmt.Fprint(w, "<a href=/inner>")
		}
	})
	dir := t.TempDir()
	c, err := crawler.Create(dir, w.checking(), seeds("http://a.test/"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if c, err = crawler.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Add(t.Context(), slices.Values([]crawler.Seed{{URL: "http://b.test/"}}), false); err != nil {
		t.Fatal(err)
	}
	run(t, c)
	var got []string
	for _, p := range records(t, dir) {
		got = append(got, strings.TrimSpace(p.URL+" "+string(p.Check)))
	}
	if want := []string{"http://a.test/", "http://b.test/ head", "http://b.test/", "http://b.test/inner"}; !slices.Equal(got, want) {
		t.Errorf("records %q, want %q", got, want)
	}
	checkVerified(t, dir)
}

// A check outlives the process, and so does that its HEAD was refused; with checks switched off it asks nothing.
func TestCheckGoesOn(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprint("check_external ", on), func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			w := serveOutside(t, func(w http.ResponseWriter, method, url string) {
				switch url {
				case "http://a.test/":
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprint(w, "<a href=http://b.test/>")
				case "http://b.test/":
					if method == http.MethodHead {
						stop()
					}
					byMethod(w, method, 405, 200)
				}
			})
			cfg := w.checking()
			cfg.Frontier.HostDelay = 50 * time.Millisecond // the GET does not come before the end
			dir := t.TempDir()
			c, err := crawler.Create(dir, cfg, seeds("http://a.test/"))
			if err != nil {
				t.Fatal(err)
			}
			c.Run(ctx) // which ends it
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			c, err = crawler.Open(dir, func(cfg *crawler.Config) { cfg.CheckExternal = on })
			if err != nil {
				t.Fatal(err)
			}
			run(t, c)
			p := pagesByURL(t, dir)["http://b.test/"]
			asked := w.of("http://b.test/")
			switch {
			case p == nil || p.Check != store.CheckGet:
				t.Errorf("the record of the check: %+v", p)
			case on && (p.Outcome != store.OutcomeOK || asked != "HEAD GET"):
				t.Errorf("%v, asked for by %q", p.Outcome, asked)
			case !on && (p.Outcome != store.OutcomeOutOfScope || asked != "HEAD"):
				t.Errorf("%v, asked for by %q", p.Outcome, asked)
			}
			checkVerified(t, dir)
		})
	}
}

// The delay of a host lies between HEAD and GET too.
func TestCheckIsPolite(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var at []time.Time
	w := serveOutside(t, func(w http.ResponseWriter, method, url string) {
		switch url {
		case "http://a.test/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<a href=http://b.test/1><a href=http://b.test/2>")
		case "http://b.test/1", "http://b.test/2":
			mu.Lock()
			at = append(at, time.Now())
			mu.Unlock()
			byMethod(w, method, 405, 200)
		}
	})
	const delay = 100 * time.Millisecond
	cfg := w.checking()
	cfg.Frontier.HostDelay = delay
	_, s := crawl(t, cfg, "http://a.test/")
	if len(at) != 4 || s.Checks != 2 {
		t.Fatalf("%d requests for %d checks", len(at), s.Checks)
	}
	for i := range len(at) - 1 {
		if gap := at[i+1].Sub(at[i]); gap < delay {
			t.Errorf("%v from request %d to the next, want %v", gap, i, delay)
		}
	}
}

// Rules of content types are about pages of the crawl: a check is none, and has been asked for in spite of the scope.
func TestCheckMindsNoContentType(t *testing.T) {
	t.Parallel()
	o := serveOutside(t, func(w http.ResponseWriter, _, url string) {
		w.Header().Set("Content-Type", "text/html")
		if url == "http://a.test/" {
			fmt.Fprint(w, "<a href=http://fine.test/>")
		}
	})
	cfg := o.checking()
	cfg.Scope.Rules = []crawler.ScopeRule{{ContentTypes: []string{"application/pdf"}}}
	pages, _ := crawl(t, cfg, "http://a.test/")
	if p := pages["http://fine.test/"]; p == nil || p.Outcome != store.OutcomeOK || p.Check == "" {
		t.Errorf("%+v", p)
	}
}

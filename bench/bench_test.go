package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"crawl/internal/testweb"
)

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []float64
		want   spread
	}{
		{"none", nil, spread{}},
		{"one", []float64{3}, spread{3, 3, 3}},
		{"odd", []float64{9, 1, 2}, spread{1, 2, 9}},
		{"even", []float64{4, 1, 2, 9}, spread{1, 3, 9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := spreadOf(tt.values); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// made is a run that cost so much for 1,000 pages.
func made(subject string, round int, cpu float64) run {
	return run{Subject: subject, Round: round, CPUs: cpu, WallS: 2, served: served{Pages: 1000}}
}

func TestRatiosPairRounds(t *testing.T) {
	own := []run{made(oursName, 0, 2), made(oursName, 1, 30), made(oursName, 2, 4)}
	base := []run{made(wget2Name, 0, 1), made(wget2Name, 1, 10)} // a busy second round, no third one
	got := ratios(own, base)
	if want := (spread{2, 2.5, 3}); got == nil || *got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	base[0].Pages, base[1].Pages = 0, 0
	if got := ratios(own, base); got != nil {
		t.Errorf("against runs without pages: got %v, want none", *got)
	}
}

func TestSummaryIsTheWorst(t *testing.T) {
	first, second := made(oursName, 0, 1), made(oursName, 1, 3)
	first.Missed, second.Twice, second.Cut, second.Failed, second.Pages = 2, 1, true, true, 500
	list := summarise([]subject{{name: oursName}, {name: wget2Name}}, []run{first, second})
	if len(list) != 1 {
		t.Fatalf("got %d summaries, want crawl's alone", len(list))
	}
	s := list[0]
	if s.Runs != 2 || s.Pages != 500 || s.Missed != 2 || s.Twice != 1 || s.Cut != 1 || s.Failed != 1 {
		t.Errorf("got %+v", s)
	}
	if want := (spread{1, 3.5, 6}); s.CPUPer1000 != want {
		t.Errorf("CPU: got %v, want %v", s.CPUPer1000, want)
	}
}

func TestCheck(t *testing.T) {
	all := options{subjects: strings.Join(allSubjects, ","), maxRatio: 1.8}
	alone := options{subjects: oursName, maxRatio: 1.8}
	ratio := func(r float64) *spread { return &spread{r, r, r} }
	for _, tt := range []struct {
		name string
		o    options
		s    summary
		want string // in the error; empty: none
	}{
		{"right", all, summary{ToWget2: ratio(1.8)}, ""},
		{"dear", all, summary{ToWget2: ratio(1.81)}, "1.81 times wget2"},
		{"no wget2", all, summary{}, "no run of wget2"},
		{"not asked for wget2", alone, summary{}, ""},
		{"missed", alone, summary{Missed: 1, Nofollow: 1}, "2 pages missed"},
		{"twice", alone, summary{Twice: 3}, "3 pages fetched twice"},
		{"unexpected", alone, summary{Unexpected: 1}, "1 unexpected"},
		{"cut", alone, summary{Cut: 1, Failed: 1}, "1 runs failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.Subject = oursName
			err := checkOurs(tt.o, []summary{tt.s})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if checkOurs(all, nil) == nil {
		t.Error("nothing ran: got no error")
	}
}

func TestOptionsSayWhatIsWrong(t *testing.T) {
	if _, err := parseOptions(nil); err != nil {
		t.Errorf("defaults: %v", err)
	}
	_, err := parseOptions([]string{"--rounds", "0", "--subjects", "wget2,curl,wget2", "--check", "--timeout", "0", "--hosts", "-1"})
	for _, want := range []string{"--rounds", `"curl"`, `"wget2"`, "--check", "--timeout", "Hosts"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to mention %s", err, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "HTTP_PROXY=http://x", "no_proxy=y", "CRAWL_HOST_DELAY=9s", "HOME=/root", "GOGC=9"}, "/tmp/x")
	if want := []string{"PATH=/bin", "HOME=/tmp/x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var out tail
	out.Write(bytes.Repeat([]byte("a"), tailBytes))
	out.Write([]byte("end"))
	if len(out) != tailBytes || !bytes.HasSuffix(out, []byte("aaend")) {
		t.Errorf("got %d bytes, ending in %q", len(out), out[len(out)-5:])
	}
}

func TestPeakIn(t *testing.T) {
	for _, tt := range []struct {
		status string
		want   int64
	}{
		{"Name:\tx\nVmPeak:\t  9000 kB\nVmHWM:\t   15212 kB\nVmRSS:\t 1 kB\n", 15212 << 10},
		{"Name:\tx\nState:\tZ (zombie)\n", 0},
	} {
		if got := peakIn([]byte(tt.status)); got != tt.want {
			t.Errorf("%q: got %d, want %d", tt.status, got, tt.want)
		}
	}
}

func TestListTakesHostsInTurn(t *testing.T) {
	got := inTurn(slices.Values([]testweb.Expect{
		{Host: "a", URL: "a0"}, {Host: "a", URL: "a1"}, {Host: "a", URL: "a2"}, {Host: "b", URL: "b0"}, {Host: "b", URL: "b1"},
	}))
	if want := []string{"a0", "b0", "a1", "b1", "a2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestServerJudges asks a server in a connection of its own, the way its process does.
func TestServerJudges(t *testing.T) {
	site, err := testweb.New(testweb.Config{Hosts: 3})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := site.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	rt := transport(clientFlags{addr: srv.Addr(), concurrency: 2})
	defer rt.CloseIdleConnections()
	fetch := func(urls ...string) {
		work := make(chan string, len(urls))
		for _, u := range urls {
			work <- u
		}
		close(work)
		if err := fetchAll(rt, work); err != nil {
			t.Fatal(err)
		}
	}
	var linked, sitemap, nofollow []string
	for e := range site.URLs(testweb.Plain) {
		linked = append(linked, e.URL)
	}
	for e := range site.URLs(testweb.Sitemap) {
		sitemap = append(sitemap, e.URL)
	}
	for e := range site.URLs(testweb.Nofollow) {
		nofollow = append(nofollow, e.URL)
	}
	fetch(linked[:len(linked)-2]...)
	fetch(linked[0], linked[0], sitemap[0], site.Seeds()[0]+"robots.txt", site.Seeds()[0]+"none", site.Seeds()[0]+"none")
	want := served{
		Pages: len(linked) - 2 + 1, Missed: 2, Nofollow: len(nofollow), Twice: 1, Unexpected: 1, Requests: len(linked) - 2 + 6,
	}
	if got := judge(site, srv.Journal()); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

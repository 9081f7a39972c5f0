package testweb

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Journal holds what a server was asked: a fixed number of bytes for each slot of a host once that host was asked for
// one, the first arrivals of each host, and a limited number of other URLs. It may be read while the server runs.
type Journal struct {
	site      *Site
	start     time.Time
	hosts     []hostJournal // by host; the last is for all names that are no host of the site
	malformed atomic.Int64
	unlisted  atomic.Int64
}

const (
	maxArrivals = 1 << 10 // a host
	maxOthers   = 1 << 14 // a host
)

type hostJournal struct {
	mu         sync.Mutex // guards all below
	slots      []visits   // by slot; nil until one is asked for
	others     map[string]*visits
	arrivals   []arrival
	requests   int
	inFlight   int
	maxFlight  int
	gap        time.Duration // the smallest, valid from two requests on
	pause      time.Duration // the same
	lastStart  time.Duration // since the server's start
	lastEnd    time.Duration // the same
	robotsDone bool          // robots.txt was answered
	otherAsked bool          // something else than a service was asked for
	tooEarly   bool          // that was before robots.txt was answered
}

// visits counts the requests for one URL.
type visits struct {
	requests    uint32
	answers     uint32 // without 503s, without answers to HEAD, and without redirects to the same URL
	class       Class  // of those that are no slots
	first, last time.Duration
}

type arrival struct {
	n   int // the slot; -1: other
	at  time.Duration
	url string // if other
}

// URLRecord is what a URL was asked.
type URLRecord struct {
	URL         string // in normal form
	Class       Class
	Requests    int       // of any method
	Answers     int       // to GETs, without 503s and without redirects to another spelling
	First, Last time.Time // arrivals
}

// HostRecord is what a host was asked.
type HostRecord struct {
	Host        string
	Requests    int
	MaxInFlight int           // between the arrival of a request and the moment its answer is handed to the system
	MinGap      time.Duration // from one arrival to the next; 0 with fewer than two
	MinPause    time.Duration // from an answer to the next arrival; 0 if they overlapped, or with fewer than two
	RobotsFirst bool          // robots.txt was answered before anything but robots.txt and sitemaps was asked for
	Arrivals    []Arrival     // the first 1,024, in order
}

// Arrival is one request.
type Arrival struct {
	URL string
	At  time.Time
}

func newJournal(s *Site) *Journal {
	return &Journal{site: s, start: time.Now(), hosts: make([]hostJournal, s.cfg.Hosts+1)}
}

func (j *Journal) host(a address) *hostJournal {
	if a.host < 0 || a.area == inOutside {
		return &j.hosts[len(j.hosts)-1]
	}
	return &j.hosts[a.host]
}

// arrive notes a request for a, which is url in normal form, and says whether the answer has to be a 503.
func (j *Journal) arrive(a address, url string) (v *visits, fail bool) {
	now := time.Since(j.start)
	h := j.host(a)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.requests > 0 {
		pause := time.Duration(0)
		if h.inFlight == 0 {
			pause = now - h.lastEnd
		}
		if h.requests == 1 {
			h.gap, h.pause = now-h.lastStart, pause
		}
		h.gap, h.pause = min(h.gap, now-h.lastStart), min(h.pause, pause)
	}
	h.lastStart = now
	h.requests++
	h.inFlight++
	h.maxFlight = max(h.maxFlight, h.inFlight)
	class := j.site.class(a)
	if class != Service && !h.otherAsked {
		h.otherAsked, h.tooEarly = true, !h.robotsDone
	}
	v = j.visits(h, a, class, url)
	if v.requests == 0 {
		v.first = now
	}
	v.requests++
	v.last = now
	h.noteArrival(a, url, now)
	return v, a.area == inSlot && int(v.requests) <= j.site.cfg.FailFirst && j.site.fails(a.place)
}

// visits returns the counts of a URL. Past the limit, others share one that nobody reads.
func (j *Journal) visits(h *hostJournal, a address, class Class, url string) *visits {
	if a.area == inSlot {
		if h.slots == nil {
			h.slots = make([]visits, j.site.cfg.PagesPerHost)
		}
		return &h.slots[a.n]
	}
	if v := h.others[url]; v != nil {
		return v
	}
	v := &visits{class: class}
	if len(h.others) >= maxOthers {
		j.unlisted.Add(1)
		return v
	}
	if h.others == nil {
		h.others = map[string]*visits{}
	}
	h.others[url] = v
	return v
}

func (h *hostJournal) noteArrival(a address, url string, now time.Duration) {
	if len(h.arrivals) >= maxArrivals {
		return
	}
	if a.area == inSlot {
		h.arrivals = append(h.arrivals, arrival{n: a.n, at: now})
		return
	}
	h.arrivals = append(h.arrivals, arrival{n: -1, at: now, url: url})
}

// leave notes that the answer is about to be handed to the system. That is before the client can have it: a client that
// asks one thing after another is never seen with two in flight.
func (j *Journal) leave(a address, v *visits, final bool) {
	h := j.host(a)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastEnd = time.Since(j.start)
	h.inFlight--
	if final {
		v.answers++
	}
	h.robotsDone = h.robotsDone || a.area == inRobots
}

// Requests returns how many requests came, for all hosts together.
func (j *Journal) Requests() int {
	total := 0
	for i := range j.hosts {
		h := &j.hosts[i]
		h.mu.Lock()
		total += h.requests
		h.mu.Unlock()
	}
	return total
}

// Malformed returns how many requests could not be read or were of a method that the server does not know.
func (j *Journal) Malformed() int { return int(j.malformed.Load()) }

// Unlisted returns how many requests are counted and not listed, because their host had too many URLs that are no slots.
func (j *Journal) Unlisted() int { return int(j.unlisted.Load()) }

// Hosts yields the site's hosts that were asked anything.
func (j *Journal) Hosts() iter.Seq[HostRecord] {
	return func(yield func(HostRecord) bool) {
		for i, name := range j.site.names {
			if r, ok := j.hostRecord(i, name); ok && !yield(r) {
				return
			}
		}
	}
}

func (j *Journal) hostRecord(i int, name string) (HostRecord, bool) {
	h := &j.hosts[i]
	h.mu.Lock()
	defer h.mu.Unlock()
	r := HostRecord{
		Host: name, Requests: h.requests, MaxInFlight: h.maxFlight, MinGap: h.gap, MinPause: h.pause,
		RobotsFirst: !h.tooEarly,
	}
	for _, a := range h.arrivals {
		url := a.url
		if a.n >= 0 {
			url = j.site.key(place{i, a.n})
		}
		r.Arrivals = append(r.Arrivals, Arrival{URL: url, At: j.start.Add(a.at)})
	}
	return r, h.requests > 0
}

// URLs yields each URL that was asked for: the slots of each host in order, then its other URLs by name, and last those
// of names that are no host of the site.
func (j *Journal) URLs() iter.Seq[URLRecord] {
	return func(yield func(URLRecord) bool) {
		for i := range j.hosts {
			for _, r := range j.urlRecords(i) {
				if !yield(r) {
					return
				}
			}
		}
	}
}

func (j *Journal) urlRecords(i int) []URLRecord {
	h := &j.hosts[i]
	h.mu.Lock()
	defer h.mu.Unlock()
	var records []URLRecord
	for n, v := range h.slots {
		if p := (place{i, n}); v.requests > 0 {
			records = append(records, j.record(j.site.key(p), j.site.classOf(p), v))
		}
	}
	slots := len(records)
	for url, v := range h.others {
		records = append(records, j.record(url, v.class, *v))
	}
	slices.SortFunc(records[slots:], func(a, b URLRecord) int { return strings.Compare(a.URL, b.URL) })
	return records
}

func (j *Journal) record(url string, class Class, v visits) URLRecord {
	return URLRecord{
		URL: url, Class: class, Requests: int(v.requests), Answers: int(v.answers),
		First: j.start.Add(v.first), Last: j.start.Add(v.last),
	}
}

// Fetched yields each URL as often as it was answered: what Check wants, seen from the server. A redirect to itself
// counts once, since the standard lets a client try it again.
func (j *Journal) Fetched() iter.Seq[string] {
	return func(yield func(string) bool) {
		for r := range j.URLs() {
			n := r.Answers
			if a, _ := j.site.find(r.URL); a.area == inSlot && j.site.kindOf(a.place) == selfLoop {
				n = min(n, 1)
			}
			for range n {
				if !yield(r.URL) {
					return
				}
			}
		}
	}
}

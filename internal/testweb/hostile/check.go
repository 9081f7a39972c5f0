package hostile

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	slack       = 48 << 20         // bytes that the buffers of two sockets may hold beyond what a client has read
	patience    = 10 * time.Second // beyond a deadline, on a machine with much else to do
	longestText = 4 << 10          // that a record may quote of a server

	longestRequest = 64 << 10 // a URL may have 16 KiB, and so may what goes with it
)

// Record is what a crawl made of a URL.
type Record struct {
	Outcome, Code, Phase, Message, Truncated, Title string
	Status                                          int // 0: none
}

func (r Record) String() string {
	title := r.Title[:min(len(r.Title), 100)]
	message := r.Message[:min(len(r.Message), 200)]
	return fmt.Sprintf("{%s %d, code %q, phase %q, truncated %q, title %q, message %q}",
		r.Outcome, r.Status, r.Code, r.Phase, r.Truncated, title, message)
}

// Check holds what a crawl with limits l made of a server against what a right one makes of it: its records, by URL, and
// what the server was asked. It returns what is wrong.
func (b Behaviour) Check(l Limits, asked Asked, records map[string]Record) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	wants := b.Wants()
	if b.HTTP2 && asked.HTTP2 == 0 {
		bad("HTTP/2 was not agreed upon")
	}
	for url, want := range wants {
		got, there := records[url]
		switch {
		case want.None == there:
			bad("%.200s has a record: %v %v, want one: %v", url, there, got, !want.None)
		case there && !want.fits(got):
			bad("%.200s is recorded as\n%v, want\n%+v", url, got, want)
		case len(got.Title) > longestText || len(got.Message) > longestText:
			bad("%.200s has a title of %d bytes and a message of %d", url, len(got.Title), len(got.Message))
		}
	}
	extra := b.others(wants, records, bad)
	if n := extra + len(wants); b.MaxPages > 0 && (n < 2 || n > b.MaxPages) {
		bad("%d pages, want 2 to %d of very many", n, b.MaxPages)
	}
	if most := b.RequestsMost(l); asked.Conns > most || asked.Requests > most {
		bad("%d requests on %d connections, want at most %d: %.1000v", asked.Requests, asked.Conns, most, asked.Targets)
	}
	if asked.Tricked {
		bad("a request held a cookie, or a field, that should have been refused")
	}
	if most := longestRequest; asked.Head > most {
		bad("a request was %d bytes long, want at most %d", asked.Head, most)
	}
	if most := 2*l.Timeout + patience; asked.Held > most {
		bad("one answer was waited for as long as %v, want at most %v", asked.Held, most)
	}
	if most := b.SentMost(l) + slack; asked.Sent > most {
		bad("%d bytes were sent on one connection, want at most %d", asked.Sent, most)
	}
	return wrong
}

// others counts the host's records that nobody wants, and tells those that should not be there.
func (b Behaviour) others(wants map[string]Want, records map[string]Record, bad func(string, ...any)) (extra int) {
	for url, r := range records {
		if !strings.HasPrefix(url, b.Root()+"/") {
			continue
		}
		if r.Title == Forged {
			bad("%.200s has the title of an answer that nobody asked for", url)
		}
		if _, wanted := wants[url]; !wanted {
			if extra++; b.MaxPages == 0 {
				bad("%.200s is recorded as %v, and should not be there", url, r)
			}
		}
	}
	return extra
}

func (w Want) fits(r Record) bool {
	status := w.Status
	if r.Outcome == "failed" {
		status = 0
	}
	return fits(w.Outcome, r.Outcome) && fits(w.Code, r.Code) && fits(w.Phase, r.Phase) && fits(w.Truncated, r.Truncated) &&
		fits(w.Title, r.Title) && r.Status == status
}

// fits reports whether got is one of the alternatives in want.
func fits(want, got string) bool {
	return want == "*" || slices.Contains(strings.Split(want, "|"), got)
}

package crawler

import (
	"fmt"
	"time"
)

// PromiseError ends a run: a request would have broken a promise to a host. It was not sent, and the state is saved. That
// is a fault of this program, never of the site or the settings.
type PromiseError struct {
	Host    string
	Promise string // and by what it would have been broken

	Later        string // URL of the request that was not sent
	LaterAt      time.Time
	Earlier      string // URL of the request before it; empty: the crawl had just gone on in a new process
	EarlierAt    time.Time
	EarlierEnded bool // EarlierAt is its end, not its begin
}

func (e *PromiseError) Error() string {
	const clock = "15:04:05.000"
	before := "the crawl went on at " + e.EarlierAt.Format(clock)
	switch {
	case e.Earlier != "" && e.EarlierEnded:
		before = fmt.Sprintf("%s ended at %s", e.Earlier, e.EarlierAt.Format(clock))
	case e.Earlier != "":
		before = fmt.Sprintf("%s began at %s", e.Earlier, e.EarlierAt.Format(clock))
	}
	return fmt.Sprintf("a promise to %s would have been broken: %s. %s was to be asked for at %s, and %s. It was not asked for; "+
		"this is a fault of crawl, please report it", e.Host, e.Promise, e.Later, e.LaterAt.Format(clock), before)
}

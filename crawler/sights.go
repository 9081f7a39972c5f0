package crawler

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"crawl/frontier"
	"crawl/seen"
)

// AdmitAfter has URLs wait for a second page that links to them.
type AdmitAfter struct {
	// Pages is how many pages have to link to a URL before it is admitted: 1, or 2. 0 is 1.
	Pages int
	// Window is for how long a first sight is remembered, in the crawl's own time. 0: DefaultAdmitWindow.
	Window time.Duration
	// MaxBytes caps the memory of first sights. 0: DefaultAdmitBytes.
	MaxBytes int64
}

// What a first sight waits for, where nothing is said.
const (
	DefaultAdmitWindow = 30 * 24 * time.Hour
	DefaultAdmitBytes  = 256 << 20
)

func (a AdmitAfter) on() bool { return a.Pages >= 2 }

func (a AdmitAfter) validate() error {
	if a.Pages < 0 || a.Pages > 2 {
		return fmt.Errorf("admit_after: want 1 or 2, got %d", a.Pages)
	}
	if a.Window < 0 || a.MaxBytes < 0 {
		return fmt.Errorf("admit_window, admit_memory: want more than 0, got %v and %d", a.Window, a.MaxBytes)
	}
	if !a.on() {
		return nil
	}
	if err := a.window(1).Validate(); err != nil {
		return fmt.Errorf("admit_window, admit_memory: %w", err)
	}
	return nil
}

// sightItems is what the window is first sized for; it grows.
const sightItems = 1 << 18

func (a AdmitAfter) window(seed uint64) seen.WindowConfig {
	w := seen.WindowConfig{Config: seen.Config{ExpectedItems: sightItems, MaxBytes: a.MaxBytes, Seed: seed}, Span: a.Window}
	if w.Span == 0 {
		w.Span = DefaultAdmitWindow
	}
	if w.MaxBytes == 0 {
		w.MaxBytes = DefaultAdmitBytes
	}
	return w
}

// sights are URLs that one page has linked to, and which wait for a second one. A window remembers them; it belongs to the
// holder of the committer's lock.
//
// For a first sight it has two hashes: the URL's, and one of the URL with the page, so that a page that is read again is no
// second one. That takes 6 to 12 bytes of memory (TestMemoryOfSights). It errs both ways with a chance of one in a thousand: a URL is admitted at
// its first sight, or needs one page more.
//
// What is in the window is also in a log, which each checkpoint cuts: after a kill the window is as it was then, and pages
// that are read again since are counted again.
type sights struct {
	window *seen.Window
	now    time.Duration // the crawl's time, which the window goes by
	log    sightLog
	fresh  []uint64 // of the page that is being admitted
}

// sightFolder is the folder of a crawl's directory that holds the log of first sights.
const sightFolder = "sights"

// openSights reads back the first sights that a checkpoint has. Those that cannot be read are lost, which is said: their
// URLs need one page more. nil: every URL is admitted at its first sight.
func openSights(crawlDir string, cfg Config, mark sightMark, log *slog.Logger) (*sights, error) {
	if !cfg.AdmitAfter.on() {
		return nil, dropSights(filepath.Join(crawlDir, sightFolder))
	}
	window := cfg.AdmitAfter.window(cfg.Seen.Seed)
	s := &sights{log: sightLog{dir: filepath.Join(crawlDir, sightFolder), span: window.Span}}
	window.Now = func() time.Time { return time.Unix(0, 0).Add(s.now) }
	var err error
	if s.window, err = seen.NewWindow(window); err != nil {
		return nil, err
	}
	err = s.log.open(mark, func(at time.Duration, page uint64, hashes []uint64) {
		s.now = max(s.now, at)
		for _, h := range hashes {
			s.window.Add([]uint64{h, sightOf(h, page)})
		}
	})
	if damage, ok := errors.AsType[*sightsLost](err); ok {
		log.Warn("first sights of URLs are lost: these need one more page that links to them", "err", damage)
		return s, nil
	}
	return s, err
}

// sightOf is the hash of a URL with a page that links to it.
func sightOf(h, page uint64) uint64 {
	h ^= (page + 1) * 0x9e3779b97f4a7c15 // SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// binds reports whether a link's URL waits for a second page: one that people would click, on a page that no user named.
// What redirects, lists and pages need is admitted at once.
func (s *sights) binds(l *link, from *origin) bool {
	return l.class == frontier.Navigation && l.hop == 0 && !from.named
}

// second reports whether another page than this one has linked to a new URL before. If not, this is its first sight.
func (s *sights) second(h, page uint64) (bool, error) {
	one, err := s.window.Has(h)
	if err != nil {
		return false, err
	}
	if !one {
		s.window.Add([]uint64{h, sightOf(h, page)})
		s.fresh = append(s.fresh, h)
		return false, nil
	}
	same, err := s.window.Has(sightOf(h, page))
	return !same, err
}

// sighted reports whether a page has linked to a URL.
func (s *sights) sighted(h uint64) (bool, error) { return s.window.Has(h) }

// admitted logs the first sights on a page.
func (s *sights) admitted(page uint64) error {
	if len(s.fresh) == 0 {
		return nil
	}
	s.log.append(s.now, page, s.fresh)
	s.fresh = s.fresh[:0]
	if s.log.full() {
		return s.log.flush()
	}
	return nil
}

// SightsView is what a snapshot says of URLs that wait for a second page.
type SightsView struct {
	Pages    int     `json:"pages"`    // that have to link to a URL
	WindowS  float64 `json:"window_s"` // for which a first sight is remembered
	Items    uint64  `json:"items"`    // first sights that are remembered, those that had their second one too
	Promoted uint64  `json:"promoted"` // URLs that were admitted by their second sight, over the crawl's life
	Bytes    int64   `json:"bytes"`
	Rate     float64 `json:"fp_now"` // chance that a first sight is taken for a second one
	Capped   bool    `json:"capped"` // at its memory cap: fp_now grows
}

// view returns nil where no URL waits.
func (s *sights) view(promoted uint64) *SightsView {
	if s == nil {
		return nil
	}
	st := s.window.Stats()
	return &SightsView{
		Pages: 2, WindowS: s.log.span.Seconds(), Items: st.Items / 2, Promoted: promoted, Bytes: st.Bytes, Rate: st.Rate, Capped: st.Capped,
	}
}

// holdBack takes the links out of a batch whose URLs wait for a second page, and returns the others.
func (k *committer) holdBack(links []link, from origin) ([]link, error) {
	s := k.sights
	if s == nil || from.named {
		return links, nil
	}
	hashes, was := make([]uint64, len(links)), k.batch.was[:len(links)]
	for i := range links {
		hashes[i] = links[i].hash
	}
	if err := k.known(hashes, was); err != nil {
		return nil, fmt.Errorf("test %d links of %s: %w", len(links), from.url, err)
	}
	s.now = k.clock.elapsed(time.Now())
	kept := links[:0]
	for i := range links {
		l := &links[i]
		if !was[i] && s.binds(l, &from) {
			second, err := s.second(l.hash, from.seq)
			if err != nil {
				return nil, err
			}
			if !second {
				k.books.Counters.Reasons[FirstSight]++
				continue
			}
			k.books.Counters.Promoted++
		}
		kept = append(kept, *l)
	}
	return kept, s.admitted(from.seq)
}

// cutSights has a checkpoint say how far the log of first sights goes. The lock is held.
func (k *committer) cutSights(job *checkpointJob) (err error) {
	k.books.SeenOnce = k.sights.view(k.books.Counters.Promoted)
	k.books.Sights = sightMark{}
	if k.sights != nil {
		k.books.Sights, err = k.sights.log.cut(k.clock.elapsed(time.Now()))
	}
	job.sights = k.books.Sights
	return err
}

// syncSights makes durable what the next checkpoint says of first sights.
func (k *committer) syncSights() error {
	if k.sights == nil {
		return nil
	}
	return k.sights.log.sync()
}

// forgetSights removes what no checkpoint names any longer. The caller makes checkpoints.
func (k *committer) forgetSights(now sightMark) error {
	if k.sights == nil {
		return nil
	}
	return k.sights.log.forget(now.First)
}

func (s *sights) close() error {
	if s == nil {
		return nil
	}
	return s.log.close()
}

// askSights asks whether a URL that was not met waits for a second page.
func (s *Story) askSights(in *sights, hash uint64) error {
	if in == nil {
		return nil
	}
	once, err := in.sighted(hash)
	s.sights = Ruling{BySights, Unknown, "no page has linked to it, as far as is remembered: one that you name, or two others, would admit it"}
	if once {
		s.sights = Ruling{BySights, Refuses, "one page links to it: it is admitted when a second one does"}
	}
	return err
}

// withSights puts what first sights say before the last ruling.
func withSights(all []Ruling, r Ruling) []Ruling {
	if r.By == "" {
		return all
	}
	return slices.Insert(all, len(all)-1, r)
}

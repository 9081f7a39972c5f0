package crawler

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"crawl/fetch"
	"crawl/internal/parse"
	"crawl/store"
)

// maxValidatorBytes is more than servers send. A longer validator is not kept.
const maxValidatorBytes = 1 << 10

// validator returns a field by which another visit may ask whether a page has changed; empty where it could not be sent.
func validator(r *fetch.Result, name string) string {
	value := r.Header.Get(name)
	if len(value) > maxValidatorBytes || !utf8.ValidString(value) || !httpguts.ValidHeaderFieldValue(value) {
		return ""
	}
	return value
}

// keepValidators enters by what another visit may ask. Only a 200 has the whole page.
func (v *visit) keepValidators(r *fetch.Result) {
	if r.Status == http.StatusOK {
		v.page.ETag, v.page.LastModified = validator(r, "ETag"), validator(r, "Last-Modified")
	}
}

// condition returns the fields by which the visit asks for the page only if it has changed since the visit before (RFC
// 9110, section 13.1), and notes that visit's record. It returns nil where nothing is known to compare with: then the
// page is asked for as it was the first time.
func (c *Crawler) condition(v *visit) http.Header {
	l := v.lease
	if !c.cfg.Conditional || l.Former == 0 {
		return nil
	}
	former := c.formers.get(l.Former)
	if former == nil || former.Seq != l.Seq || former.URL != v.page.URL || former.ETag+former.LastModified == "" ||
		!former.FetchedAt.After(c.committer.rulesAt()) { // else links would stay unread that other rules admit
		return nil
	}
	if former.SameAs == 0 && former.LinkCount == 0 && readsList(&l, parse.MediaType(former.ContentType, nil)) {
		return nil // it may be a list since the user named it as one
	}
	v.former = former
	h := make(http.Header, 2)
	if former.ETag != "" {
		h.Set("If-None-Match", former.ETag)
	}
	if former.LastModified != "" {
		h.Set("If-Modified-Since", former.LastModified)
	}
	return h
}

// notModified ends a visit whose page is as it was. What the visit before knew for the next one goes on.
func (v *visit) notModified(r *fetch.Result) {
	p, former := &v.page, v.former
	p.Outcome, p.Digest = store.OutcomeNotModified, ""
	p.SameAs = former.Record
	if former.SameAs != 0 {
		p.SameAs = former.SameAs
	}
	p.ETag, p.LastModified = former.ETag, former.LastModified
	if newer := validator(r, "ETag"); newer != "" {
		p.ETag = newer
	}
	if newer := validator(r, "Last-Modified"); newer != "" {
		p.LastModified = newer
	}
}

// formerRecords looks page records up for visits that are not the first.
type formerRecords struct {
	dir string

	mu        sync.Mutex    // guards all below
	reader    *store.Reader // nil: none was looked up yet
	refreshed time.Time
}

// refreshPause is how long a checkpoint that lacks a record is held true.
const refreshPause = time.Second

// get returns a record, or nil where no checkpoint has it yet, or it cannot be read: then its visit goes on without.
func (f *formerRecords) get(number uint64) *store.Page {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reader == nil {
		reader, err := store.OpenReader(f.dir)
		if err != nil {
			return nil
		}
		f.reader, f.refreshed = reader, time.Now()
	}
	if number > f.reader.Cut().Pages.Records && time.Since(f.refreshed) > refreshPause {
		f.refreshed = time.Now()
		if f.reader.Refresh() != nil { // it keeps the checkpoint that it has
			return nil
		}
	}
	if number > f.reader.Cut().Pages.Records {
		return nil
	}
	page, err := f.reader.Record(number)
	if err != nil {
		return nil // `crawl verify` names the damage
	}
	return page
}

func (f *formerRecords) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reader == nil {
		return nil
	}
	return f.reader.Close()
}

// rulesAt is when the rules last changed by which pages are read.
func (k *committer) rulesAt() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.books.RulesAt
}

// readAlike reports whether a page is read alike under two Configs: with the same links admitted, and the same fields taken
// out. One that it does not understand is not.
func readAlike(before, after Config) bool {
	was, err := json.Marshal(readingOf(before))
	is, err2 := json.Marshal(readingOf(after))
	return err == nil && err2 == nil && slices.Equal(was, is)
}

// reading is what decides how a page is read.
type reading struct {
	Scope                                             Scope
	Deny                                              []string
	AdmitAfter                                        int
	MaxDepth                                          *int
	Requisites, Check                                 bool
	NoFollow                                          NoFollowRules
	Extract                                           []Extract
	Traps                                             Traps
	MaxAlike, MaxNearAlike, MaxGrowing, MaxAlikeHosts *int
}

func readingOf(c Config) reading {
	return reading{
		Scope: c.Scope, Deny: c.Deny, AdmitAfter: c.AdmitAfter.Pages, MaxDepth: c.MaxDepth, Requisites: c.Requisites, Check: c.CheckExternal,
		NoFollow: c.NoFollow, Extract: c.Extract, Traps: c.Traps,
		MaxAlike: c.MaxAlike, MaxNearAlike: c.MaxNearAlike, MaxGrowing: c.MaxGrowing, MaxAlikeHosts: c.MaxAlikeHosts,
	}
}

package crawler

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"crawl/canon"
	"crawl/frontier"
	"crawl/internal/scope"
	"crawl/store"
)

// lostRows makes the checkpoint's rows again, as far as logs, page records, books and seeds tell what they held: what joined the
// scope, the seeds that were added, labels, the shadow sample, which hosts were dropped, and what is used of their budgets.
// How hosts failed and how long they wait is gone.
func (v *verifier) lostRows(ctx context.Context) ([]store.Row, error) {
	reach, err := v.cfg.Scope.compile()
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(seedsIn(v.dir).from(0))
	defer stop()
	r := rowFinder{seeds: next, more: true, scope: reach, labels: make(map[uint32]string), unsure: make(map[string]uint32), rows: make(map[string][]byte)}
	if r.hosts, err = newHostFinder(v.cfg.Frontier, v.books.Dropped); err != nil {
		return nil, err
	}
	if _, err := v.inspection.EachAdmission(ctx, func(_ uint64, a store.Admission) error { r.admitted(a); return nil }); err != nil {
		return nil, err
	}
	for p, err := range v.inspection.Pages(ctx) {
		if _, damaged := asDamage(err); err != nil && !damaged {
			return nil, err
		}
		if p != nil {
			r.recorded(p)
			r.hosts.charge(p)
		}
	}
	hosts, err := r.hosts.all()
	return append(r.all(v.cut.Number+1), hosts...), err
}

// rowFinder gathers rows from what it is shown.
type rowFinder struct {
	seeds func() (storedSeed, error, bool) // the seeds in the order in which they were admitted
	more  bool
	scope *scope.Scope
	hosts *hostFinder

	labels map[uint32]string
	unsure map[string]uint32 // added seeds with a label, whose text only their page records tell
	sample []uint64
	rows   map[string][]byte
}

func (r *rowFinder) admitted(a store.Admission) {
	if inSample(a.Hash) {
		r.sample = append(r.sample, a.Hash)
	}
	if a.From != 0 {
		return
	}
	switch frontier.Class(a.Class) {
	case frontier.Added:
		r.rows[addedPrefix+a.URL] = []byte{}
		if a.Seed != 0 {
			r.unsure[a.URL] = a.Seed
		}
	case frontier.Seed:
		if _, known := r.labels[a.Seed]; a.Seed != 0 && !known {
			if label, found := r.labelOf(a.URL); found {
				r.labels[a.Seed] = label
			}
		}
	}
}

// labelOf finds the label of a seed that was admitted, behind those that were looked for before.
func (r *rowFinder) labelOf(url string) (label string, found bool) {
	for r.more {
		seed, err, more := r.seeds()
		if r.more = more && err == nil; !r.more {
			break
		}
		if seed.url.String() == url && seed.label != "" {
			return seed.label, true
		}
	}
	return "", false
}

// recorded looks for labels, and for what a seed redirects to.
func (r *rowFinder) recorded(p *store.Page) {
	if n, unsure := r.unsure[p.URL]; unsure && p.Seed != "" {
		r.labels[n] = p.Seed
	}
	if p.Outcome != store.OutcomeRedirect || p.RedirectTo == "" || p.Depth > 0 || p.Check != "" || p.Error != nil && p.Error.Code != "redirect_loop" {
		return
	}
	from, err := canon.Parse(p.URL)
	if err != nil {
		return
	}
	to, err := canon.Parse(p.RedirectTo)
	if err != nil || from.Key() == to.Key() {
		return
	}
	r.rows[ledPrefix+to.Host()] = []byte{}
	if entry := r.scope.Entry(to); entry != "" {
		r.rows[joinedPrefix+entry] = []byte{}
	}
}

// all returns the rows of a checkpoint with that number.
func (r *rowFinder) all(checkpoint uint64) []store.Row {
	var rows []store.Row
	for key, value := range r.rows {
		rows = append(rows, store.Row{Key: key, Value: value})
	}
	for n, label := range r.labels {
		rows = append(rows, store.Row{Key: labelPrefix + strconv.FormatUint(uint64(n), 10), Value: []byte(label)})
	}
	if len(r.sample) > 0 {
		rows = append(rows, store.Row{Key: fmt.Sprintf("%s%020d", shadowPrefix, checkpoint), Value: encodeHashes(r.sample)})
	}
	return rows
}

package crawler

import (
	"errors"
	"fmt"
	"os"

	"crawl/canon"
	"crawl/frontier"
	"crawl/seen"
	"crawl/store"
)

// forgetSeen removes what is made from the hashes of the log, and from its numbers: the saved filter and what the disk has
// behind it, and the runs of one log. They are remade: the filter before anything is fetched, the runs in the background. Killed meanwhile, the crawl
// goes on under its last checkpoint's settings, and remakes the filter under those.
func forgetSeen(st *store.Store, cfg seen.Config, names *canon.Rules, kept *books) error {
	if kept.CanonRules != names.Version() {
		if err := sameNames(st, cfg, names, kept.CanonRules); err != nil {
			return err
		}
		kept.CanonRules, kept.Sights = names.Version(), sightMark{} // first sights may have other names
	}
	if err := errors.Join(st.Filter().Remove(), os.RemoveAll(newMet(st.Dir()).dir)); err != nil {
		return err
	}
	for _, kind := range []store.RunKind{store.HashRun, store.DoneRun, store.BitsRun} {
		st.Forget(kind)
	}
	return nil
}

// sameNames refuses rules under which a URL of the log would have another name than the one that its hash is of: the log is
// never changed.
func sameNames(st *store.Store, cfg seen.Config, names *canon.Rules, named string) error {
	filter, err := seen.NewScalable(seen.Config{Seed: cfg.Seed, ExpectedItems: 1})
	if err != nil {
		return err
	}
	return st.Admissions.Each(1, func(seq uint64, a store.Admission) error {
		if h, err := hashOf(filter, names, a); err != nil || h != a.Hash {
			return fmt.Errorf("%w: rules %q give URL %d, %s, another name than rules %q did: that needs a new crawl",
				ErrFixed, names.Version(), seq, a.URL, named)
		}
		return nil
	})
}

// hashOf returns the hash of an admitted URL's name.
func hashOf(h hasher, names *canon.Rules, a store.Admission) (uint64, error) {
	u, err := canon.Parse(a.URL)
	if err != nil {
		return 0, err
	}
	return h.HashString(nameAs(names.Key(u), frontier.Class(a.Class))), nil
}

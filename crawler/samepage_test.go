package crawler_test

import (
	"errors"
	"testing"

	"crawl/canon"
	"crawl/crawler"
)

// What policies name alike is one page: it is fetched once, and a redirect from one spelling to another is that page.
func TestSamePage(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/":          {body: "<a href=/x?utm_a=1><a href=/r/>"},
		"http://a.test/x?utm_a=1": {body: "<a href=/x><a href=/x/?utm_b=2>"},
		"http://a.test/r/":        {status: 301, header: map[string]string{"Location": "/r"}},
		"http://a.test/r":         {body: "moved"},
	})
	cfg := w.quick()
	cfg.Canon = []canon.Policy{{DropParameters: []string{"utm_*"}, MergeSlash: true}}
	c, dir := create(t, cfg, "http://a.test/")
	run(t, c)
	pages, s := pagesByURL(t, dir), onDisk(t, dir)
	wantOutcomes(t, pages, map[string]string{"http://a.test/": "ok", "http://a.test/x?utm_a=1": "ok", "http://a.test/r": "ok"})
	if w.asked("http://a.test/x") > 0 || w.asked("http://a.test/x/?utm_b=2") > 0 || s.Admitted != 3 {
		t.Errorf("%d admitted, outcomes %v", s.Admitted, s.ByOutcome)
	}
	if s.ByReason["seen"] == 0 || len(s.ByMerge) > 2 {
		t.Errorf("reasons %v, merged %v", s.ByReason, s.ByMerge)
	}

	// Other policies need the filter made again, and are refused where they would name what was met anew.
	other := func(rebuild bool, p ...canon.Policy) error {
		c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.Canon, cfg.RebuildSeen = p, rebuild })
		if err == nil {
			err = c.Close()
		}
		return err
	}
	wider := canon.Policy{DropParameters: []string{"utm_*"}, MergeSlash: true, MergeWWW: true}
	if err := other(false, wider); !errors.Is(err, crawler.ErrFixed) {
		t.Errorf("other policies without a new filter: %v", err)
	}
	if err := other(true); !errors.Is(err, crawler.ErrFixed) {
		t.Errorf("policies that name a page anew: %v", err)
	}
	if err := other(true, wider); err != nil {
		t.Errorf("policies that name no page anew: %v", err)
	}
}

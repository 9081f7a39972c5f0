package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"

	"crawl/crawler"
	"crawl/store"
)

// statsOfRules shows what each rule of a crawl has refused or merged.
func (a *app) statsOfRules(ctx context.Context, dir string) (err error) {
	rules, err := rulesOf(ctx, dir)
	if err != nil {
		return err
	}
	reader, err := store.OpenReader(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for i := range rules {
		if err := rules[i].Look(reader); err != nil {
			return err
		}
	}
	if !a.json {
		return writeRules(a.stdout, rules, dir)
	}
	out := a.lines()
	for _, r := range rules {
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// rulesOf asks the process that runs the crawl or, when there is none, the directory.
func rulesOf(ctx context.Context, dir string) (rules []crawler.RuleCount, err error) {
	if r, err := dial(dir); err == nil {
		err = r.call(ctx, http.MethodGet, "/rules", nil, &rules)
		return rules, err
	}
	reader, err := store.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	return crawler.ReadRules(reader.Cut())
}

// writeRules is a table for people, and below it what rules that merge took for one page.
func writeRules(out io.Writer, rules []crawler.RuleCount, dir string) error {
	if len(rules) == 0 {
		_, err := fmt.Fprintln(out, "no rule has refused or merged anything")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "links\tlisted\tnot listed\tqueued\treason\trule")
	for _, r := range rules {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", count(r.Links), count(r.Listed), count(r.Unlisted), count(r.Pages), r.Reason, r.Rule)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	listed := false
	for _, r := range rules {
		listed = listed || r.Listed > 0
		for _, s := range r.Samples {
			if _, err := fmt.Fprint(out, mergeText(r.Rule, &s)); err != nil {
				return err
			}
		}
	}
	if !listed {
		return nil
	}
	_, err := fmt.Fprintf(out, "what is listed: crawl export %s urls --refused\n", dir)
	return err
}

// mergeText shows a sample of what a rule merged.
func mergeText(rule string, s *crawler.MergeSample) string {
	digest := "is pending"
	switch {
	case s.Digest != "":
		digest = s.Digest
	case s.Outcome != "":
		digest = s.Outcome
	}
	own := "not requested"
	if s.OwnDigest != "" {
		own = s.OwnDigest
	}
	return fmt.Sprintf("%s: %s (%s)\n    counts as %s (%s)\n", rule, s.URL, own, s.Page, digest)
}

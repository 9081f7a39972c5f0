package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"crawl/internal/testweb"
)

// summary is what the runs of a subject came to. Counts are the worst of all runs.
type summary struct {
	Subject        string  `json:"subject"`
	Version        string  `json:"version"`
	Runs           int     `json:"runs"`
	Cut            int     `json:"cut"`    // runs
	Failed         int     `json:"failed"` // runs, cut ones included
	Pages          int     `json:"pages"`
	Missed         int     `json:"missed"`
	Nofollow       int     `json:"nofollow"`
	Twice          int     `json:"twice"`
	Unexpected     int     `json:"unexpected"`
	Requests       int     `json:"requests"`
	CPUPer1000     spread  `json:"cpu_s_per_1000_pages"`
	PagesPerSecond spread  `json:"pages_per_s"`
	MaxRSS         int64   `json:"max_rss_bytes"`
	ToWget2        *spread `json:"cpu_to_wget2"` // pair by pair of a round; null without pairs
	ToFloor        *spread `json:"cpu_to_floor"`
}

// spread is a figure over the rounds.
type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// spreadOf returns the zero spread for no values.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return spread{v[0], (v[(n-1)/2] + v[n/2]) / 2, v[n-1]}
}

func summarise(subjects []subject, runs []run) []summary {
	var list []summary
	for _, s := range subjects {
		own := of(s.name, runs)
		if len(own) == 0 {
			continue
		}
		sum := summary{
			Subject: s.name, Version: s.version, Runs: len(own), Pages: own[0].Pages,
			ToWget2: ratios(own, of(wget2Name, runs)), ToFloor: ratios(own, of(floorName, runs)),
		}
		var cpu, speed []float64
		for _, r := range own {
			sum.add(r)
			speed = append(speed, r.pagesPerSecond())
			if c, ok := r.cpuPer1000(); ok {
				cpu = append(cpu, c)
			}
		}
		sum.CPUPer1000, sum.PagesPerSecond = spreadOf(cpu), spreadOf(speed)
		list = append(list, sum)
	}
	return list
}

// add takes the worst of what is known and r.
func (s *summary) add(r run) {
	if r.Cut {
		s.Cut++
	}
	if r.Failed {
		s.Failed++
	}
	s.Pages = min(s.Pages, r.Pages)
	s.Missed = max(s.Missed, r.Missed)
	s.Nofollow = max(s.Nofollow, r.Nofollow)
	s.Twice = max(s.Twice, r.Twice)
	s.Unexpected = max(s.Unexpected, r.Unexpected)
	s.Requests = max(s.Requests, r.Requests)
	s.MaxRSS = max(s.MaxRSS, r.MaxRSS)
}

// of returns the runs of a subject.
func of(name string, runs []run) []run {
	return slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return r.Subject != name })
}

// ratios compares the CPU time per page of two subjects round by round: what else the machine does weighs on both.
func ratios(own, base []run) *spread {
	var list []float64
	for _, a := range own {
		i := slices.IndexFunc(base, func(b run) bool { return b.Round == a.Round })
		if i < 0 {
			continue
		}
		x, okA := a.cpuPer1000()
		y, okB := base[i].cpuPer1000()
		if okA && okB && y > 0 {
			list = append(list, x/y)
		}
	}
	if len(list) == 0 {
		return nil
	}
	s := spreadOf(list)
	return &s
}

func printTable(w io.Writer, list []summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "subject\tpages\tmissed\ttwice\tunexpected\trequests\tCPU s/1k pages (min-max)\tx wget2\tx floor\tpages/s\tRSS MB\t")
	for _, s := range list {
		c := s.CPUPer1000
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%.3f (%.3f-%.3f)\t%s\t%s\t%.0f\t%.0f\t%s\n", s.Subject, s.Pages, s.Missed, s.Twice,
			s.Unexpected, s.Requests, c.Median, c.Min, c.Max, times(s.ToWget2), times(s.ToFloor), s.PagesPerSecond.Median,
			float64(s.MaxRSS)/1e6, s.remark())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range list {
		if _, err := fmt.Fprintf(w, "%s: %s\n", s.Subject, s.Version); err != nil {
			return err
		}
	}
	return nil
}

// times writes the median of a ratio.
func times(s *spread) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", s.Median)
}

func (s summary) remark() string {
	switch {
	case s.Cut > 0:
		return fmt.Sprintf("%d of %d runs cut", s.Cut, s.Runs)
	case s.Failed > 0:
		return fmt.Sprintf("%d of %d runs failed", s.Failed, s.Runs)
	}
	return ""
}

func printJSON(w io.Writer, o options, list []summary, runs []run) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Web         testweb.Config `json:"web"`
		Concurrency int            `json:"concurrency"`
		Subjects    []summary      `json:"subjects"`
		Runs        []run          `json:"runs"`
	}{o.web, o.concurrency, list, runs})
}

// checkOurs says what is wrong with crawl. Its price is judged unless --subjects leaves wget2 out: a check that was asked
// for and could not be made fails.
func checkOurs(o options, list []summary) error {
	i := slices.IndexFunc(list, func(s summary) bool { return s.Subject == oursName })
	if i < 0 {
		return errors.New("check: crawl did not run")
	}
	s := list[i]
	var errs []error
	for _, f := range []struct {
		count int
		what  string
	}{
		{s.Failed, "runs failed"}, {s.Missed + s.Nofollow, "pages missed"}, {s.Twice, "pages fetched twice"},
		{s.Unexpected, "unexpected URLs fetched"},
	} {
		if f.count > 0 {
			errs = append(errs, fmt.Errorf("check: crawl: %d %s", f.count, f.what))
		}
	}
	switch {
	case s.ToWget2 != nil && s.ToWget2.Median > o.maxRatio:
		errs = append(errs, fmt.Errorf("check: crawl costs %.2f times wget2, more than %.2f", s.ToWget2.Median, o.maxRatio))
	case s.ToWget2 == nil && slices.Contains(o.names(), wget2Name):
		errs = append(errs, errors.New("check: no run of wget2 to compare with"))
	}
	return errors.Join(errs...)
}

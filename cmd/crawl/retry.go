package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"crawl/crawler"
	"crawl/store"
)

func (a *app) retryCommand() *cobra.Command {
	var status, codes, outcomes, hosts []string
	cmd := &cobra.Command{
		Use:   "retry [DIR] [--status 5xx,404] [--error dns,timeout] [--outcome failed] [--host PATTERN]",
		Short: "Fetch again what ended in a certain way",
		Long: `Make URLs of a crawl, running or not, pending once more whose last visit ended with one of the statuses, errors or outcomes;
--host leaves those of certain hosts, and alone selects all of theirs. What is pending already is left alone, and a host
that was given up for its failures is asked again, also where --host names it and nothing of it has ended. The command returns when a checkpoint holds them all.`,
		Example: "  crawl retry --status 5xx --error dns,timeout\n  crawl retry my.crawl --outcome failed --host '*.example.org'",
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			selection, err := selectionOf(status, codes, outcomes, hosts)
			if err != nil {
				return err
			}
			dir, err := dirOf(given)
			if err != nil {
				return err
			}
			done, err := retryIn(cmd.Context(), dir, selection)
			if err != nil {
				return explain(err, dir)
			}
			if a.json {
				return json.NewEncoder(a.stdout).Encode(done)
			}
			a.say("%s", revisitedText(done))
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&status, "status", nil, "`statuses`, with x for any digit")
	cmd.Flags().StringSliceVar(&codes, "error", nil, "`codes` of errors, or what they begin with: dns stands for dns_timeout and others")
	cmd.Flags().StringSliceVar(&outcomes, "outcome", nil, "`outcomes`, as in page records")
	cmd.Flags().StringSliceVar(&hosts, "host", nil, "`patterns` of hosts: a.example, a.example:8080, *.example")
	return cmd
}

func revisitedText(done crawler.Revisited) string {
	text := plural(done.Again, "URL is", "URLs are") + " to be fetched again"
	if done.Pending > 0 {
		text += fmt.Sprintf(", %s pending already", plural(done.Pending, "is", "are"))
	}
	if n := len(done.Revived); n > 0 {
		text += fmt.Sprintf(", %s asked again", plural(uint64(n), "host is", "hosts are"))
	}
	if len(done.HostsWithoutRecords) > 0 {
		text += "; no page record is of " + strings.Join(done.HostsWithoutRecords, ", ")
	}
	return text
}

func selectionOf(status, codes, outcomes, hosts []string) (crawler.Selection, error) {
	s := crawler.Selection{Status: status, Error: codes, Hosts: hosts, Outcome: make([]store.Outcome, len(outcomes))}
	var errs []error
	for i, name := range outcomes {
		errs = append(errs, s.Outcome[i].UnmarshalText([]byte(name)))
	}
	if err := errors.Join(append(errs, s.Validate())...); err != nil {
		return s, usagef("retry: %w", err)
	}
	return s, nil
}

// retryIn asks the process that runs the crawl or, when there is none, does it in the directory itself.
func retryIn(ctx context.Context, dir string, s crawler.Selection) (done crawler.Revisited, err error) {
	if r, err := dial(dir); err == nil {
		err = r.call(ctx, http.MethodPost, "/retry", s, &done)
		return done, err
	}
	c, err := crawler.Open(dir, nil)
	if err != nil {
		return done, err
	}
	done, err = c.Revisit(ctx, s)
	return done, errors.Join(err, c.Close())
}

// answerRetry answers retryIn.
func answerRetry(c *crawler.Crawler, r *http.Request) (any, error) {
	var s crawler.Selection
	if err := json.NewDecoder(io.LimitReader(r.Body, maxAdd)).Decode(&s); err != nil {
		return nil, err
	}
	return c.Revisit(r.Context(), s)
}

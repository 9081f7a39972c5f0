package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"crawl/internal/config"
	"crawl/seen"
)

func (a *app) filterMergeCommand() *cobra.Command {
	path, force := "", false
	cmd := &cobra.Command{
		Use:   "merge -o FILE A B...",
		Short: "Make one filter of several, which holds the lines of all",
		Long: `Make one filter of several, which holds the lines of all. They have to be of one kind, bloom, classic or exact, and have one
key; bloom and classic ones also one size. Filters are such if one was built with --like the other.

A bloom filter keeps its size. Past what it was made for it errs more, which is said; how many lines it holds is an estimate
then. An exact one is made for just what it holds.`,
		Example: `  crawl filter build --like deny.filter -o today.filter < today.txt
  crawl filter merge --force -o deny.filter deny.filter today.filter`,
		Args: wants(cobra.MinimumNArgs(2), "two filters or more"),
		RunE: func(cmd *cobra.Command, given []string) error {
			if path == "" {
				return usagef("filter merge: name the file to make with -o FILE")
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return a.merge(ctx, path, force, given)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&path, "output", "o", "", "`file` to make")
	fs.BoolVar(&force, "force", false, "replace a file that is there, which may be one of those that are merged")
	return cmd
}

func (a *app) merge(ctx context.Context, path string, force bool, from []string) (err error) {
	out, err := newFileAt(path, force)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.drop()) }()
	first, err := openFilter(from[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, first.close()) }()
	var result built
	switch f := first.asked.(type) {
	case *seen.Table:
		result, err = mergeTables(ctx, out, first, f, from[1:])
	case *seen.Bloom:
		result, err = mergeBlooms(ctx, out, first, f, from[1:])
	default:
		err = usagef("%s is of kind %s, which cannot be merged: only bloom, classic and exact filters can", first.path, kindWord(first.kind()))
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.lines().Encode(result)
	}
	a.say("%s: %s, %s of %d filters, %s, error %s, key %s", path, kindName(result.Kind), plural(result.Items, "item", "items"),
		len(from), size(uint64(result.Bytes)), errorRate(result.FP), result.Key)
	a.warnOver(path, result)
	return nil
}

// mergeBlooms takes one filter after the other into the first: two are in memory at a time.
func mergeBlooms(ctx context.Context, out *newFile, first *filterFile, sum *seen.Bloom, from []string) (built, error) {
	lines := sum.Len()
	for _, path := range from {
		next, err := openFilter(path)
		if err := errors.Join(err, context.Cause(ctx)); err != nil {
			return built{}, err
		}
		if err := differs(first, next); err != nil {
			return built{}, errors.Join(err, next.close())
		}
		f := next.asked.(*seen.Bloom) // as its kind says
		lines += f.Len()
		if err := sum.Union(f); err != nil {
			return built{}, fmt.Errorf("%s and %s: %w", first.path, path, err)
		}
	}
	if err := out.write(sum); err != nil {
		return built{}, err
	}
	return fileOf(out.path, sum, sum.Len(), lines)
}

func mergeTables(ctx context.Context, out *newFile, first *filterFile, table *seen.Table, from []string) (result built, err error) {
	tables, lines := []*seen.Table{table}, table.Len()
	defer func() {
		for _, t := range tables[1:] {
			err = errors.Join(err, t.Close())
		}
	}()
	for _, path := range from {
		next, err := openFilter(path)
		if err != nil {
			return built{}, err
		}
		if err := differs(first, next); err != nil {
			return built{}, errors.Join(err, next.close())
		}
		t := next.asked.(*seen.Table) // as its kind says
		tables, lines = append(tables, t), lines+t.Len()
	}
	if err := context.Cause(ctx); err != nil {
		return built{}, err
	}
	c := first.config
	c.MaxBytes = math.MaxInt // it is no larger than what is open already
	if err := seen.MergeTables(out.partial, c, tables...); err != nil {
		return built{}, explainFilterIn(err, out.path)
	}
	if err := out.commit(); err != nil {
		return built{}, err
	}
	return tableResult(out.path, lines)
}

// differs says all in which two filters are not alike that have to be.
func differs(a, b *filterFile) error {
	if a.kind() != b.kind() {
		return usagef("%s is of kind %s and %s of kind %s: only filters of one kind can be merged", a.path, kindWord(a.kind()), b.path,
			kindWord(b.kind()))
	}
	var parts []string
	differ := func(what, one, other string) {
		if one != other {
			parts = append(parts, fmt.Sprintf("%s (%s and %s)", what, one, other))
		}
	}
	differ("key", fingerprint(a.config.Seed), fingerprint(b.config.Seed))
	if a.kind() != seen.KindTable {
		differ("items", count(a.config.ExpectedItems), count(b.config.ExpectedItems))
		differ("error", config.Rate(a.config.FalsePositiveRate).String(), config.Rate(b.config.FalsePositiveRate).String())
	}
	if len(parts) == 0 {
		return nil
	}
	return usagef("%s and %s cannot be merged, they differ in %s: build one with --like the other", a.path, b.path,
		strings.Join(parts, ", "))
}

package crawler

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"crawl/store"
)

// asDamage is errors.AsType for what this package asks most.
func asDamage(err error) (*store.DamageError, bool) { return errors.AsType[*store.DamageError](err) }

// checkCounters compares the books with what the logs and page records say.
func (v *verifier) checkCounters() {
	if v.report.has(partDone, partLog, partPages) {
		v.skip("counters: a log or a file of page records is damaged")
		return
	}
	have, counted := &v.books.Counters, &v.counted
	differs := func(name string, have, want uint64) {
		if have != want {
			v.found(partCounters, v.source(), -1, fmt.Sprintf("%s is %d, want %d", name, have, want))
		}
	}
	differs("admitted", have.Reasons[Admitted], v.report.Admitted)
	differs("seen.items", v.books.Filter.Items, v.report.Admitted)
	differs("pages", have.Pages, counted.Pages)
	differs("retries", have.Retries, counted.Retries)
	for _, o := range store.Outcomes() {
		differs("by_outcome."+o.String(), have.Outcomes[o], counted.Outcomes[o])
	}
	statuses := maps.Clone(counted.Statuses)
	for status := range have.Statuses {
		statuses[status] += 0
	}
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		differs(fmt.Sprintf("by_status.%d", status), have.Statuses[status], counted.Statuses[status])
	}
	if have.BodyBytes < counted.BodyBytes || have.DecodedBytes < counted.DecodedBytes {
		v.found(partCounters, v.source(), -1, fmt.Sprintf("body_bytes is %d, the page records alone have %d", have.BodyBytes, counted.BodyBytes))
	}
}

// recounted returns the counters as far as they can be counted again; the others are as they were.
func (v *verifier) recounted() counters {
	c := v.books.Counters
	if v.report.has(partDone, partLog, partPages) {
		return c
	}
	c.Pages, c.Retries, c.Statuses, c.Outcomes = v.counted.Pages, v.counted.Retries, v.counted.Statuses, v.counted.Outcomes
	c.BodyBytes, c.DecodedBytes = max(c.BodyBytes, v.counted.BodyBytes), max(c.DecodedBytes, v.counted.DecodedBytes)
	c.Reasons[Admitted] = v.report.Admitted
	return c
}

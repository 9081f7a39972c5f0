package crawler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"crawl/canon"
	"crawl/frontier"
)

// live are settings that may change while the crawl is open, as the visits read them. One is never written to: a change
// puts another in its place.
type live struct {
	maxDepth    *int
	maxBytes    *uint64
	maxTime     *time.Duration
	retries     retryPolicy
	giveUpAfter int // failures of a host in a row; 0: it never is
}

func (c Config) live() *live {
	return &live{maxDepth: c.MaxDepth, maxBytes: c.MaxBytes, maxTime: c.MaxTime, retries: c.retryPolicy(), giveUpAfter: giveUpAfter(c.Frontier)}
}

// giveUpAfter resolves Config.GiveUpAfter.
func giveUpAfter(cfg frontier.Config) int {
	switch cfg.GiveUpAfter {
	case frontier.None:
		return 0
	case 0:
		return frontier.Default().GiveUpAfter
	}
	return cfg.GiveUpAfter
}

// Dropped is the reason of a host that the user wants no more of.
const Dropped frontier.Reason = "dropped"

// Change is what is to be different in an open crawl. The zero Change changes nothing.
type Change struct {
	// Settings edits a copy of the settings in force; nil leaves them. Fields that may change while a crawl is open: the
	// limits (MaxDepth, MaxPages, MaxBytes, MaxTime), Concurrency, Retries, RetryDelay, Retry, Rendering, and of Frontier
	// all but PerIP, Lookup and Resumed, of Store MinFreeBytes.
	Settings func(*Config)
	// Drop names hosts, as canon.URL.Host does, that nothing more is asked of. Their URLs stay queued.
	Drop []string
	// Revive names hosts to be asked again that were given up, for failures or because they were dropped.
	Revive []string
}

// Changed says what came of a Change.
type Changed struct {
	Dropped []string `json:"dropped"`
	Revived []string `json:"revived"`
	// NotRevived are the other hosts of Change.Revive: they are not given up, or have used up what they may have, which
	// a higher limit alone takes back.
	NotRevived map[string]frontier.Reason `json:"not_revived"`
	// NotAsked are those of Dropped that nothing was asked of so far, perhaps since they are spelt otherwise: each with the
	// hosts of its name on other ports that something was.
	NotAsked map[string][]string `json:"not_asked"`
}

// ErrNotLive: a setting that cannot change while the crawl is open.
var ErrNotLive = errors.New("these settings cannot change while the crawl is open")

// Change changes the settings of the crawl and which hosts it asks, whether it runs or not. It returns when a checkpoint
// holds that. With an error before that nothing has changed: what Config.Validate says, or ErrNotLive.
func (c *Crawler) Change(ctx context.Context, want Change) (Changed, error) {
	done, err := c.change(want)
	if err != nil {
		return Changed{}, err
	}
	return done, c.awaitCheckpoint(ctx)
}

// change makes a Change one of the crawl's events: a checkpoint holds all of it or nothing.
func (c *Crawler) change(want Change) (Changed, error) {
	k := c.committer
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed != nil {
		return Changed{}, k.failed
	}
	if want.Settings != nil {
		if err := c.changeSettings(want.Settings); err != nil {
			return Changed{}, err
		}
	}
	var done Changed
	for _, host := range want.Drop {
		k.frontier.GiveUp(host, Dropped)
		if !slices.Contains(k.books.Dropped, host) {
			k.books.Dropped = append(k.books.Dropped, host)
		}
		done.Dropped = append(done.Dropped, host)
	}
	done.NotAsked = c.ledger.notAsked(want.Drop)
	for _, host := range want.Revive {
		why, revived := k.revive(host)
		if revived {
			done.Revived = append(done.Revived, host)
			continue
		}
		if done.NotRevived == nil {
			done.NotRevived = make(map[string]frontier.Reason)
		}
		done.NotRevived[host] = why
	}
	return done, nil
}

// changeSettings puts the edited settings in force. The caller holds the committer's lock.
func (c *Crawler) changeSettings(edit func(*Config)) error {
	before, err := c.committer.books.config()
	if err != nil {
		return err
	}
	after := before
	edit(&after)
	if err := errors.Join(after.Validate(), sameButLive(before, after)); err != nil {
		return err
	}
	if err := c.committer.books.setConfig(after); err != nil {
		return err
	}
	was, is := retryAfterCap(before.Frontier), retryAfterCap(after.Frontier)
	c.ledger.configure(min(was, is))
	if err := c.frontier.Configure(after.Frontier); err != nil {
		return errors.Join(err, c.committer.books.setConfig(before))
	}
	c.ledger.configure(is)
	c.live.Store(after.live())
	c.budget.limit(after.MaxPages)
	c.fetchers.resize(after.Concurrency)
	c.committer.store.KeepFree(after.Store.MinFreeBytes) // looked at with the checkpoint that holds the change
	select {
	case c.retimed <- struct{}{}:
	default: // a look at the time is due already
	}
	c.committer.books.Counters.sayRules(c.log, before, after)
	return nil
}

// sameButLive refuses a change of anything that is only read when a crawl is opened.
func sameButLive(before, after Config) error {
	after.MaxDepth, after.MaxPages, after.MaxBytes, after.MaxTime = before.MaxDepth, before.MaxPages, before.MaxBytes, before.MaxTime
	after.Concurrency, after.Rendering = before.Concurrency, before.Rendering
	after.Retries, after.RetryDelay, after.Retry = before.Retries, before.RetryDelay, before.Retry
	after.Store.MinFreeBytes = before.Store.MinFreeBytes
	perIP := after.Frontier.PerIP
	after.Frontier = before.Frontier
	after.Frontier.PerIP = perIP
	was, err := json.Marshal(before)
	if err != nil {
		return err
	}
	is, err := json.Marshal(after)
	if err != nil {
		return err
	}
	if string(was) != string(is) {
		return ErrNotLive
	}
	return nil
}

// revive takes back that a host is given up. A budget that is used up stays so: the host would have nothing that it may
// be asked for, and no reason to say so. why is the reason that a host still has; empty: it has none.
func (k *committer) revive(host string) (why frontier.Reason, revived bool) {
	why = k.frontier.GivenUp(host)
	if why == "" || why == frontier.BudgetUsed {
		return why, false
	}
	k.frontier.Revive(host)
	k.books.Dropped = slices.DeleteFunc(k.books.Dropped, func(dropped string) bool { return dropped == host })
	if why = k.frontier.GivenUp(host); why != "" { // its budget was used up as well
		return why, false
	}
	k.reopen()
	return "", true
}

// HostOf returns how a crawl names the host that text means: a host with or without a port, or a URL of it. The ports of
// both schemes are none.
func HostOf(text string) (string, error) {
	url := strings.TrimSpace(text)
	if len(url) > maxURLBytes {
		return "", fmt.Errorf("host %q: %w", shortened(text), errTooLong)
	}
	if !strings.Contains(url, "://") {
		if strings.ContainsAny(url, "/?#@*") {
			return "", fmt.Errorf("host %q: want a host such as a.example or a.example:8080", shortened(text))
		}
		scheme := "http"
		if strings.HasSuffix(url, ":443") {
			scheme = "https"
		}
		url = scheme + "://" + url + "/"
	}
	u, err := canon.Parse(url)
	if err != nil {
		return "", fmt.Errorf("host %q: %w", shortened(text), err)
	}
	return u.Host(), nil
}

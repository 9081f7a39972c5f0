package crawler

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"crawl/frontier"
	"crawl/internal/vfs/vfstest"
)

// The full run, well under a minute of CPU:
//
//	go test ./crawler -run TestDaysOfCrawling -sim.days 3 -v
var simDays = flag.Float64("sim.days", 0.5, "days that hosts come and go, before the crawl is left to its end")

// simLife is a crawl of days: its processes end every few hours, by the user's wish, by a signal or by a power cut.
type simLife struct {
	t      *testing.T
	rng    *rand.Rand
	sim    *sim
	crash  *vfstest.Crash
	until  time.Time
	giveUp int

	processes, cuts, pauses, givenUp int
	early                            int // processes that had nothing left to do
}

// Days go by, hosts come and go, are given up and come back when the user allows more failures; the crawl is paused, stopped
// and killed. In the end every page was visited once.
func TestDaysOfCrawling(t *testing.T) {
	began := time.Now()
	l := &simLife{t: t, rng: rand.New(rand.NewPCG(9, 9)), giveUp: 6}
	pages := int(*simDays * 2000)
	web := newSimWeb(9, 150, pages, pages)
	for i := range web.hosts {
		l.comesAndGoes(&web.hosts[i])
	}
	l.sim = newSim(web, filepath.Join(simFolder(t), "a.crawl"), nil, func(cfg *Config) {
		simTiny(cfg)
		cfg.Frontier.HostDelay = l.sim.delay
		cfg.Frontier.GiveUpAfter = l.giveUp
		cfg.CheckpointInterval = time.Minute
	})
	l.sim.delay = 30 * time.Second
	l.crash = l.sim.onCrash(t)
	var err error
	var took time.Duration
	bubble(t, func(t *testing.T) {
		l.until = simStart.Add(time.Duration(*simDays * float64(24*time.Hour)))
		err = l.live(t.Context())
		took = time.Since(simStart)
	})
	ledger, judged := l.sim.judge()
	if err := errors.Join(err, judged); err != nil {
		t.Fatal(err)
	}
	if ledger.books.State != Complete {
		t.Errorf("%s with %d left, and nothing was to be given up", ledger.books.State, ledger.books.Queued)
	}
	if l.cuts == 0 || l.pauses == 0 || l.givenUp == 0 {
		t.Errorf("%d power cuts, %d pauses, %d times hosts were given up: want some of each", l.cuts, l.pauses, l.givenUp)
	}
	t.Logf("%v simulated in %v: %d processes, of which %d ended by themselves, %d power cuts, %d pauses, hosts given up at their ends %d; %s",
		took, time.Since(began), l.processes, l.early, l.cuts, l.pauses, l.givenUp, ledger.report(l.sim))
}

// comesAndGoes has a third of the hosts be down for hours now and then, until the days are over.
func (l *simLife) comesAndGoes(h *simHost) {
	if h.index%3 != 1 || h.index == 0 || h.name == simRulesHost {
		return
	}
	period := time.Duration(3+h.index%11) * time.Hour
	end := time.Duration(*simDays * float64(24*time.Hour))
	h.down = func(at time.Duration) bool {
		return at < end && (at+time.Duration(h.index)*time.Hour)%period < period/3
	}
}

// live goes from process to process until the days are over, and then lets the crawl come to its end.
func (l *simLife) live(ctx context.Context) error {
	p, err := l.sim.create()
	for ; err == nil && time.Now().Before(l.until); p, err = l.next(ctx) {
		l.processes++
		if err = l.process(ctx, p); err != nil {
			return fmt.Errorf("process %d: %w", l.processes, err)
		}
	}
	if err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return err
	}
	p, err = l.open(frontier.None)
	if err == nil {
		err = p.run(ctx)
	}
	return err
}

// next opens the crawl once more, after a while, and allows its hosts more failures.
func (l *simLife) next(ctx context.Context) (*simProcess, error) {
	_ = rest(ctx, time.Duration(l.rng.IntN(40))*time.Minute)
	l.giveUp += 2
	return l.open(l.giveUp)
}

func (l *simLife) open(giveUp int) (*simProcess, error) {
	ledger, err := readSimLedger(l.sim.dir)
	if err != nil {
		return nil, err
	}
	l.givenUp += len(ledger.givenUp)
	if err := errors.Join(ledger.check(l.sim.web, false), ledger.recordsAre(l.sim.past.records)); err != nil {
		return nil, err
	}
	return l.sim.open(ledger, func(cfg *Config) { cfg.Frontier.GiveUpAfter = giveUp })
}

// process lets one process live for some hours.
func (l *simLife) process(ctx context.Context, p *simProcess) error {
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.Run(run) }()
	left := time.Duration(60+l.rng.IntN(240)) * time.Minute
	if l.processes%2 == 1 {
		before := left / 3
		_ = rest(ctx, before)
		if err := l.pause(ctx, p); err != nil {
			return err
		}
		left -= before
	}
	_ = rest(ctx, left)
	cut := (*sim)(nil)
	switch l.processes % 3 {
	case 0:
		p.Stop()
	case 2:
		cancel()
	default:
		next, err := l.cut()
		if err != nil {
			return err
		}
		cut = next
		p.Stop()
	}
	err := <-ended
	if p.Snapshot().State != Stopped {
		l.early++
	}
	if errors.Is(err, context.Canceled) && run.Err() != nil {
		err = nil
	}
	err = errors.Join(err, p.end())
	if cut != nil {
		cut.sum = l.sim.sum
		l.sim, l.crash = cut, cut.onCrash(l.t)
	}
	return err
}

// pause keeps the crawl from asking anything for a while.
func (l *simLife) pause(ctx context.Context, p *simProcess) error {
	switch err := p.Pause(ctx); {
	case errors.Is(err, errEnding):
		return nil
	case err != nil:
		return err
	}
	l.pauses++
	p.fetcher.pause(true)
	_ = rest(ctx, time.Duration(10+l.rng.IntN(60))*time.Minute)
	p.fetcher.pause(false)
	if err := p.Resume(ctx); !errors.Is(err, errEnding) {
		return err
	}
	return nil
}

// cut is what a power cut now leaves, as the crawl to go on with.
func (l *simLife) cut() (*sim, error) {
	l.cuts++
	to := filepath.Join(simFolder(l.t), fmt.Sprint(l.cuts))
	if err := l.crash.CloneTo(to, simKeeps(l.rng)); err != nil {
		return nil, err
	}
	next := newSim(l.sim.web, filepath.Join(to, filepath.Base(l.sim.dir)), nil, l.sim.set)
	next.past, next.delay = l.sim.lastPast(), l.sim.delay
	return next, nil
}

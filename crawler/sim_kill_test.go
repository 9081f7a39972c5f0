package crawler

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"crawl/internal/vfs/vfstest"
	"crawl/store"
)

// The full run, about six minutes of CPU:
//
//	go test ./crawler -run TestSimulatedKills -sim.kills 1000 -timeout 1h -v
var (
	simKills = flag.Int("sim.kills", 8, "simulated kills, each followed by a restart that runs to its end")
	simSeed  = flag.Uint64("sim.seed", 1, "of the first web that is crawled; each following web has the next one")
)

// simKill is a moment at which a process was killed: what the power cut or the kill left of its directory, and what the
// world outside knows.
type simKill struct {
	dir  string
	at   time.Time
	sort string // of the call next to it
	what string // the call and the time
	told uint64 // checkpoints that were told before
	past *simPast
	life int // processes before
}

// simKiller kills a process at calls that change something, and lets it live on: what a kill leaves is looked at later.
type simKiller struct {
	crash  *vfstest.Crash
	sim    *sim
	clones string
	life   int
	chance float64 // of each call
	most   int

	mu    sync.Mutex // guards all below, and holds while a clone is made
	rng   *rand.Rand
	seen  map[string]int // calls of a sort
	kills []*simKill
	err   error
}

func newSimKiller(t testing.TB, s *sim, rng *rand.Rand, chance float64, most, life int) *simKiller {
	root := filepath.Dir(s.dir)
	crash, err := vfstest.NewCrash(root)
	if err != nil {
		t.Fatal(err)
	}
	crash.Torn = true
	k := &simKiller{crash: crash, sim: s, clones: simFolder(t), life: life, chance: chance, most: most, rng: rng, seen: make(map[string]int)}
	s.fs = vfstest.NewHook(crash,
		func(op vfstest.Op) { k.look("before", op) },
		func(op vfstest.Op, _ error) { k.look("after", op) })
	return k
}

// look may kill here. Calls of a sort that is rare are more likely, and so are the first ones of each.
func (k *simKiller) look(when string, op vfstest.Op) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kills) == k.most || k.err != nil {
		return
	}
	sort := fmt.Sprintf("%s %s of %s", when, op.Kind, k.sim.place(op))
	k.seen[sort]++
	if n := float64(k.seen[sort]); k.rng.Float64() > k.chance*(1/math.Sqrt(n)+3/n) {
		return
	}
	to := filepath.Join(k.clones, fmt.Sprint(len(k.kills)))
	kill := &simKill{
		dir: filepath.Join(to, filepath.Base(k.sim.dir)), at: time.Now(), life: k.life + 1,
		sort: sort, what: fmt.Sprintf("call %d, at %v", op.N, time.Since(simStart)),
	}
	kill.told = k.sim.lastTold()
	k.err = k.crash.CloneTo(to, simKeeps(k.rng))
	kill.past = k.sim.lastPast()
	k.kills = append(k.kills, kill)
}

// place names what a call is about: a folder, or a file by the folder that it is in.
func (s *sim) place(op vfstest.Op) string {
	rel, err := filepath.Rel(filepath.Dir(s.dir), op.Name)
	if err != nil {
		return op.Name
	}
	if parent := filepath.Base(filepath.Dir(rel)); op.Kind != vfstest.SyncDir && op.Kind != vfstest.Mkdir && parent != filepath.Base(s.dir) {
		return parent
	}
	return filepath.Base(rel)
}

// simKeeps is what of unsynced bytes and names is kept: all of them, as a kill leaves it; none; or some.
func simKeeps(rng *rand.Rand) func() float64 {
	switch rng.IntN(4) {
	case 0:
		return func() float64 { return 1 }
	case 1:
		return func() float64 { return 0 }
	case 2:
		return func() float64 { return float64(rng.IntN(2)) }
	}
	return rng.Float64
}

func (s *sim) lastTold() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

func (s *sim) lastPast() *simPast {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.past.clone()
}

// after is the crawl that goes on from what a kill left.
func (k *simKill) after(parent *sim) *sim {
	s := newSim(parent.web, k.dir, simFS(), parent.set)
	s.past, s.delay = k.past, parent.delay
	return s
}

// lost compares what a kill left with what was promised by then: the state at one of the checkpoints, and none older than
// the last that was told. lived is the crawl as it went on, nil where that is not known.
func (k *simKill) lost(s *sim, lived *simLedger) (*simLedger, error) {
	ledger, err := readSimLedger(k.dir)
	if errors.Is(err, store.ErrNotCrawl) || errors.Is(err, fs.ErrNotExist) {
		if k.told == 0 {
			return nil, nil
		}
		return nil, fmt.Errorf("checkpoint %d was told, and there is no crawl: %w", k.told, err)
	}
	if err != nil {
		return nil, err
	}
	if ledger.number < k.told {
		return nil, fmt.Errorf("checkpoint %d was told, and %d is there", k.told, ledger.number)
	}
	errs := []error{ledger.check(s.web, false), ledger.recordsAre(k.past.records), k.longWaits(ledger)}
	if lived != nil {
		errs = append(errs, lived.extends(ledger))
	}
	return ledger, errors.Join(errs...)
}

// longWaits: a wait that is longer than the checkpoint interval is in a checkpoint within a second.
func (k *simKill) longWaits(ledger *simLedger) error {
	for _, h := range k.past.holds {
		if h.until.Sub(h.at) > simLongInterval && k.at.Sub(h.at) > kickedPause && ledger.at.Before(h.at.Truncate(time.Millisecond)) {
			return fmt.Errorf("at %v %s wished to be left alone for %v, the last checkpoint is of %v",
				h.at.Sub(simStart), h.host, h.until.Sub(h.at), ledger.at.Sub(simStart))
		}
	}
	return nil
}

// revive goes on from a kill to the crawl's end, perhaps with further kills on the way. It returns what is wrong.
func (k *simKill) revive(t *testing.T, s *sim, lived *simLedger, rng *rand.Rand, again *simKiller) (*simLedger, error) {
	ledger, err := k.lost(s, lived)
	if err != nil {
		return nil, fmt.Errorf("what is left: %w", err)
	}
	down := []time.Duration{0, time.Second, 10 * time.Minute, 5 * time.Hour}[rng.IntN(4)]
	bubble(t, func(t *testing.T) {
		_ = rest(t.Context(), k.at.Sub(simStart)+down) // a bubble's clock starts at its own beginning
		var p *simProcess
		if ledger == nil {
			s.past.cutTo(0, simStart)
			p, err = s.create()
		} else {
			p, err = s.open(ledger, nil)
		}
		if err == nil {
			err = p.run(t.Context())
		}
	})
	if again != nil && again.err != nil {
		return nil, again.err
	}
	if err != nil {
		return nil, fmt.Errorf("the next process: %w", err)
	}
	end, err := s.judge()
	if err == nil && ledger != nil {
		err = end.extends(ledger)
	}
	if err != nil {
		return nil, fmt.Errorf("in the end: %w", err)
	}
	return end, nil
}

// simKillRun is one seed's crawl, killed many times.
type simKillRun struct {
	t     *testing.T
	seed  uint64
	rng   *rand.Rand
	left  int
	kills int
	sum   simStats
	sorts map[string]int
	lives map[int]int
}

// simKillable has more happen between two checkpoints than usual.
func simKillable(cfg *Config) {
	simTiny(cfg)
	cfg.CheckpointInterval = simLongInterval
}

const simLongInterval = 30 * time.Second

// run lives a crawl once without harm, and looks at what each kill would have left.
func (r *simKillRun) run(web *simWeb) {
	r.t.Helper()
	s := newSim(web, filepath.Join(simFolder(r.t), "a.crawl"), nil, simKillable)
	killer := newSimKiller(r.t, s, r.rng, 0.02, min(r.left, 50), 0)
	var err error
	bubble(r.t, func(t *testing.T) {
		p, failed := s.create()
		if failed == nil {
			failed = p.run(t.Context())
		}
		err = failed
	})
	lived, judged := s.judge()
	if err := errors.Join(err, killer.err, judged); err != nil {
		r.t.Errorf("seed %d, not killed: %v", r.seed, err)
		return
	}
	r.follow(s, lived, killer.kills)
}

// follow looks at each kill, and at those on the way that its next process takes.
func (r *simKillRun) follow(parent *sim, lived *simLedger, kills []*simKill) {
	r.t.Helper()
	for _, kill := range kills {
		if r.left == 0 || r.t.Failed() {
			return
		}
		r.left--
		r.kills++
		r.lives[kill.life]++
		r.sorts[kill.sort]++
		s := kill.after(parent)
		var killer *simKiller
		if kill.life < 4 && r.rng.IntN(6) == 0 {
			killer = newSimKiller(r.t, s, r.rng, 0.01, 3, kill.life)
		}
		end, err := kill.revive(r.t, s, lived, r.rng, killer)
		if err != nil {
			r.t.Errorf("seed %d, killed %s, %s, life %d, after checkpoint %d: %v", r.seed, kill.sort, kill.what, kill.life, kill.told, err)
		}
		r.sum.requests += s.sum.requests
		r.sum.pages += s.sum.pages
		if killer != nil && err == nil {
			r.follow(s, end, killer.kills)
		}
		if err := os.RemoveAll(filepath.Dir(kill.dir)); err != nil {
			r.t.Fatal(err)
		}
	}
}

// However a crawl is killed, and however often: no page is lost, none is in the output twice, and no host is asked too
// early by the next process.
func TestSimulatedKills(t *testing.T) {
	began := time.Now()
	r := &simKillRun{t: t, left: *simKills, sorts: make(map[string]int), lives: make(map[int]int)}
	for r.seed = *simSeed; r.left > 0 && !t.Failed(); r.seed++ {
		r.rng = rand.New(rand.NewPCG(r.seed, 11))
		switch {
		case r.seed%9 == 0:
			r.run(newSimWeb(r.seed, 1000, 5000, 4500))
		case r.seed%3 == 0: // both logs get a full block
			r.run(newSimWeb(r.seed, 200, 2400, 2400))
		default:
			r.run(newSimWeb(r.seed, 150, 900, 900))
		}
	}
	t.Logf("%d kills in %v of %d sorts, by life %v, over %d seeds; %d requests, %d records after them",
		r.kills, time.Since(began), len(r.sorts), r.lives, r.seed-*simSeed, r.sum.requests, r.sum.pages)
	for _, sort := range slices.Sorted(maps.Keys(r.sorts)) {
		t.Logf("%4d %s", r.sorts[sort], sort)
	}
}

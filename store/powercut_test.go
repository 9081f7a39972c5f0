package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"crawl/internal/vfs"
	"crawl/internal/vfs/vfstest"
)

// powerCuts is a life in which the power is cut before and after calls that change something.
type powerCuts struct {
	*life
	keep    func() float64                        // what is kept of what is not durable
	at      func(op vfstest.Op) bool              // whether to cut before and after it
	forgets func(root string, op vfstest.Op) bool // syncs that are left out; nil: none

	crash *vfstest.Crash
	cuts  int
	lost  error // the first loss: after it none is looked for
}

// run lives the life.
func (p *powerCuts) run(t testing.TB) {
	t.Helper()
	root, clones := memoryDir(t), memoryDir(t)
	crash, err := vfstest.NewCrash(root)
	if err != nil {
		t.Fatal(err)
	}
	crash.Torn = true
	p.crash = crash
	fsys := vfs.FS(crash)
	if p.forgets != nil {
		fsys = vfstest.Ignore(crash, func(op vfstest.Op) bool { return p.forgets(root, op) })
	}
	hook := vfstest.NewHook(fsys,
		func(op vfstest.Op) { p.cut(t, clones, "before", op) },
		func(op vfstest.Op, _ error) { p.cut(t, clones, "after", op) })
	if err := p.live(filepath.Join(root, "a.crawl"), hook); err != nil {
		t.Fatal(err)
	}
}

// cut looks at what a power cut would leave now.
func (p *powerCuts) cut(t testing.TB, clones, when string, op vfstest.Op) {
	if p.lost != nil || !p.at(op) {
		return
	}
	p.cuts++
	to := filepath.Join(clones, fmt.Sprint(p.cuts))
	if err := p.crash.CloneTo(to, p.keep); err != nil {
		t.Fatal(err)
	}
	if _, err := p.life.lost(filepath.Join(to, "a.crawl"), p.committed); err != nil {
		p.lost = fmt.Errorf("the power is cut %s call %d, %s of %s, after checkpoint %d: %w",
			when, op.N, op.Kind, op.Name, p.committed, err)
	}
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
}

// Wherever the power is cut, the directory is then the state at one of its checkpoints, and no acknowledged one is lost.
func TestPowerCuts(t *testing.T) {
	l := newLife(t)
	seeds, least, at := uint64(2), 300, func(vfstest.Op) bool { return true }
	if testing.Short() {
		seeds, least, at = 1, 100, ofNames
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		p := &powerCuts{life: l.again(), keep: draws(rng), at: at}
		p.run(t)
		if p.lost != nil {
			t.Errorf("seed %d: %v", seed, p.lost)
		}
		if p.cuts < least || p.committed != lifeCheckpoints {
			t.Errorf("the power was cut %d times, %d checkpoints were made", p.cuts, p.committed)
		}
		t.Logf("%d power cuts", p.cuts)
	}
}

// ofNames chooses the calls around which checkpoints and files begin and end.
func ofNames(op vfstest.Op) bool { return op.Kind == vfstest.SyncDir || op.Kind == vfstest.Create }

// A kill loses nothing that was written, but what the next session finds need not be durable: it must not build on it. A
// process is killed at each call, the next one makes a checkpoint, and then the power is cut.
func TestKillThenPowerCut(t *testing.T) {
	l := newLife(t)
	step := 2
	if testing.Short() {
		step = 14
	}
	for n := 2; ; n += step {
		root := memoryDir(t)
		crash, err := vfstest.NewCrash(root)
		if err != nil {
			t.Fatal(err)
		}
		dir, l := filepath.Join(root, "a.crawl"), l.again()
		killed := vfstest.NewFail(crash, vfstest.Failure{N: n, Err: errors.New("killed"), Forever: true, Part: 0.5})
		if err := l.live(dir, killed); err == nil {
			break
		}
		if l.store != nil {
			_ = l.store.Close() // it can change nothing any more
		}
		if l.committed == lifeCheckpoints {
			break
		}
		if err := l.nextSession(dir, crash); err != nil {
			t.Fatalf("killed at call %d: %v", n, err)
		}
		to := memoryDir(t)
		if err := crash.CloneTo(to, func() float64 { return 0 }); err != nil {
			t.Fatal(err)
		}
		if _, err := l.lost(filepath.Join(to, "a.crawl"), l.committed); err != nil {
			op, _ := killed.Failed()
			t.Errorf("killed at call %d, %s of %s, and a power cut after checkpoint %d: %v", n, op.Kind, op.Name, l.committed, err)
		}
	}
}

// nextSession goes on after a kill, for one checkpoint or to the end of Create.
func (l *life) nextSession(dir string, fsys vfs.FS) error {
	s, err := Open(dir, lifeConfig(fsys))
	if errors.Is(err, ErrNotCrawl) && l.committed == 0 {
		if s, err = l.create(dir, fsys); err == nil {
			err = s.Close()
		}
		return err
	}
	if err != nil {
		return err
	}
	next := int(s.Last().Number) + 1
	return l.session(s, next, min(next, lifeCheckpoints))
}

// draws mixes three ways of losing: all that can be lost, all or nothing of each file and name, and some of each.
func draws(rng *rand.Rand) func() float64 {
	way, left := 0, 0
	return func() float64 {
		if left == 0 { // about as many draws as a clone takes
			way, left = rng.IntN(3), 1+rng.IntN(12)
		}
		left--
		return []float64{0, float64(rng.IntN(2)), rng.Float64()}[way]
	}
}

// The test above has teeth: with any one sort of file or folder that is not synced, a cut finds a loss.
func TestPowerCutsFindMissingSyncs(t *testing.T) {
	l := newLife(t)
	for _, tt := range []struct {
		name string
		kind vfstest.Kind
		of   string // pattern of its path in the test's folder
	}{
		{"log segment", vfstest.Sync, "a.crawl/log/*.log"},
		{"tail of the log", vfstest.Sync, "a.crawl/log/*.tail"},
		{"done segment", vfstest.Sync, "a.crawl/done/*.log"},
		{"tail of the done log", vfstest.Sync, "a.crawl/done/*.tail"},
		{"page records", vfstest.Sync, "a.crawl/pages/*"},
		{"run", vfstest.Sync, "a.crawl/runs/*"},
		{"format", vfstest.Sync, "a.crawl/format.json.new"},
		{"twin", vfstest.Sync, "a.crawl/checkpoint.new"},
		{"folder of log segments", vfstest.SyncDir, "a.crawl/log"},
		{"folder of done segments", vfstest.SyncDir, "a.crawl/done"},
		{"folder of page records", vfstest.SyncDir, "a.crawl/pages"},
		{"folder of runs", vfstest.SyncDir, "a.crawl/runs"},
		{"folder of the crawl", vfstest.SyncDir, "a.crawl"},
		{"folder of crawls", vfstest.SyncDir, "."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			forgotten := 0
			p := &powerCuts{
				life: l.again(), keep: func() float64 { return 0 },
				at: ofNames,
				forgets: func(root string, op vfstest.Op) bool {
					matched, err := filepath.Match(filepath.Join(root, filepath.FromSlash(tt.of)), op.Name)
					if err != nil {
						t.Fatal(err)
					}
					if !matched || op.Kind != tt.kind {
						return false
					}
					forgotten++
					return true
				},
			}
			p.run(t)
			if p.lost == nil || forgotten == 0 {
				t.Errorf("%d syncs were left out, and %d power cuts find no loss", forgotten, p.cuts)
			}
			t.Log(p.lost)
		})
	}
}

package crawler

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"crawl/canon"
	"crawl/frontier"
	"crawl/internal/vfs/vfstest"
	"crawl/seen"
	"crawl/store"
)

// smallSim is a crawl in which all files are rolled, but those of the logs.
func smallSim(t *testing.T) *sim {
	return newSim(newSimWeb(3, 150, 800, 700), filepath.Join(simFolder(t), "a.crawl"), nil, simTiny)
}

// blockSim is a crawl just large enough for full blocks in both logs.
func blockSim(t *testing.T) *sim {
	return newSim(newSimWeb(3, 100, 2600, 1900), filepath.Join(simFolder(t), "a.crawl"), nil, simTiny)
}

// moments runs a crawl and returns what a power cut would leave behind the first checkpoint that is late enough for each of
// late, in their order. The last one ends the run.
func (s *sim) moments(t *testing.T, crash *vfstest.Crash, keep float64, late ...func(*simProcess, store.Cut) bool) (kills []*simKill) {
	t.Helper()
	clones := simFolder(t)
	var err error
	bubble(t, func(t *testing.T) {
		p, failed := s.create()
		if err = failed; err != nil {
			return
		}
		p.cfg.OnCheckpoint = func(cut store.Cut) {
			if len(kills) == len(late) || !late[len(kills)](p, cut) {
				return
			}
			to := filepath.Join(clones, fmt.Sprint(len(kills)))
			kill := &simKill{dir: filepath.Join(to, filepath.Base(s.dir)), at: time.Now(), told: cut.Number}
			if err := crash.CloneTo(to, func() float64 { return keep }); err != nil {
				panic(err) // the test's own disk
			}
			kill.past = s.lastPast()
			if kills = append(kills, kill); len(kills) == len(late) {
				p.Stop()
			}
		}
		err = p.run(t.Context())
	})
	if err != nil || len(kills) != len(late) {
		t.Fatalf("%d moments of %d: %v", len(kills), len(late), err)
	}
	return kills
}

// admitted is late enough when so many URLs are admitted.
func admitted(n uint64) func(*simProcess, store.Cut) bool {
	return func(_ *simProcess, cut store.Cut) bool { return cut.Admissions.Entries >= n }
}

// ended is late enough when there are so many events.
func ended(n uint64) func(*simProcess, store.Cut) bool {
	return func(_ *simProcess, cut store.Cut) bool { return cut.Done.Entries >= n }
}

// partSaved is late enough when the newest layer of the filter was saved, and has grown since.
func partSaved(p *simProcess, _ store.Cut) bool {
	k := p.committer
	var saved seen.Header
	found, err := k.store.Filter().Read(saved.UnmarshalBinary, func(store.FilterChunk) error { return nil })
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.filter.Header()
	last := len(now.Layers) - 1
	return err == nil && found && len(saved.Layers) == len(now.Layers) && saved.Layers[last].Count < now.Layers[last].Count
}

// onCrash puts the crawl on a file system that knows what is durable.
func (s *sim) onCrash(t *testing.T) *vfstest.Crash {
	t.Helper()
	crash, err := vfstest.NewCrash(filepath.Dir(s.dir))
	if err != nil {
		t.Fatal(err)
	}
	s.fs = crash
	return crash
}

// copyOf returns a kill whose directory may be changed.
func (k *simKill) copyOf(t *testing.T) *simKill {
	t.Helper()
	other := *k
	other.dir = filepath.Join(simFolder(t), filepath.Base(k.dir))
	if err := os.CopyFS(other.dir, os.DirFS(k.dir)); err != nil {
		t.Fatal(err)
	}
	other.past = k.past.clone()
	return &other
}

// What a build with one fault would leave is found by the simulation, or healed by the crawl itself.
func TestSimulationHasTeeth(t *testing.T) {
	s := smallSim(t)
	kills := s.moments(t, s.onCrash(t), 1, partSaved, admitted(1400))
	early, late := kills[0], kills[1]
	for _, tt := range []struct {
		name  string
		from  *simKill
		fault func(t *testing.T, dir string)
		want  string // part of what the simulation says; empty: the crawl heals it
	}{
		{"none", late, func(*testing.T, string) {}, ""},
		{"the filter of a later moment", early, func(t *testing.T, dir string) { takeFilter(t, late, dir) }, ""},
		{"seen first: bits of URLs that the log does not hold", early, func(t *testing.T, dir string) { seenFirst(t, late, dir) }, "is lost"},
		{"marks ahead, to the end of each host", late, marksToTheEnd, ""}, // sweeps begin with each host's first entry
		{"done before its page record", late, doneWithoutRecord, "record"},
		{"page record before done", late, recordWithoutDone, "record"},
		{"a manifest that forgets the queue's runs", late, forgetQueueRuns, "is left"},
		{"queue runs that are gone", late, removeQueueRuns, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kill := tt.from.copyOf(t)
			tt.fault(t, kill.dir)
			rng := rand.New(rand.NewPCG(1, 2))
			_, err := kill.revive(t, kill.after(s), nil, rng, nil)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("want it healed, got %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("want %q, got %v", tt.want, err)
			}
		})
	}
}

// takeFilter puts the saved filter of a later moment in the place of dir's.
func takeFilter(t *testing.T, late *simKill, dir string) {
	t.Helper()
	saved, admitted := uint64(0), uint64(0)
	change(t, late.copyOf(t).dir, func(st *store.Store) error {
		filter, err := savedFilter(st)
		if err == nil {
			saved = filter.Len()
		}
		return err
	})
	change(t, dir, func(st *store.Store) error { admitted = st.Admissions.Len(); return nil })
	if saved <= admitted {
		t.Fatalf("the later filter holds %d hashes, the log %d", saved, admitted)
	}
	bits, err := os.ReadFile(filepath.Join(late.dir, "seen.db"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "seen.db"), bits, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// savedFilter returns the filter as it is on disk.
func savedFilter(st *store.Store) (filter *seen.Scalable, err error) {
	found, err := st.Filter().Read(func(header []byte) (err error) {
		var h seen.Header
		if err := h.UnmarshalBinary(header); err != nil {
			return err
		}
		filter, err = seen.Restore(h, 0)
		return err
	}, func(c store.FilterChunk) error {
		if c.Layer >= len(filter.Header().Layers) {
			return nil
		}
		return filter.SetChunk(c.Layer, c.Index, c.Data)
	})
	if err == nil && !found {
		err = errors.New("no filter was saved")
	}
	if err == nil {
		err = filter.Complete()
	}
	return filter, err
}

// seenFirst sets the bits of URLs that were admitted later, as far as the saved layers have room, and leaves the header as
// it was.
func seenFirst(t *testing.T, late *simKill, dir string) {
	t.Helper()
	ledger, err := readSimLedger(late.copyOf(t).dir)
	if err != nil {
		t.Fatal(err)
	}
	change(t, dir, func(st *store.Store) error {
		filter, err := savedFilter(st)
		if err != nil {
			return err
		}
		header := filter.Header()
		text, err := header.MarshalBinary()
		added := 0
		for _, hash := range ledger.hashes[st.Admissions.Len():] {
			filter.Add([]uint64{hash})
			if len(filter.Header().Layers) > len(header.Layers) {
				break
			}
			added++
		}
		if added == 0 {
			t.Fatal("the saved filter has no room")
		}
		var chunks []store.FilterChunk
		for layer := range header.Layers {
			for i := range filter.Chunks(layer) {
				chunks = append(chunks, store.FilterChunk{Layer: layer, Index: i, Data: filter.AppendChunk(nil, layer, i)})
			}
		}
		return errors.Join(err, st.Filter().Write(chunks, text))
	})
}

// change opens a directory for a while.
func change(t *testing.T, dir string, fn func(*store.Store) error) {
	t.Helper()
	st, err := store.Open(dir, store.Config{FS: simFS()})
	if err == nil {
		err = errors.Join(fn(st), st.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkpointWith adds rows, and what was appended, to the last checkpoint.
func checkpointWith(st *store.Store, rows []store.Row, count func(*counters)) error {
	b, err := readBooks(st.Last())
	if err != nil {
		return err
	}
	count(&b.Counters)
	cp, err := st.Prepare(rows, b)
	if err != nil {
		return err
	}
	return cp.Commit()
}

// marksToTheEnd says of each host that all its entries in all runs are done.
func marksToTheEnd(t *testing.T, dir string) {
	change(t, dir, func(st *store.Store) error {
		var end []byte
		for _, run := range st.Last().Runs.Runs {
			if run.Kind == store.QueueRun {
				end = append(binary.AppendUvarint(end, run.Number), 0)
			}
		}
		if len(end) == 0 {
			t.Fatal("the checkpoint names no run of the queue")
		}
		hosts := make(map[string]bool)
		err := st.Admissions.Each(1, func(_ uint64, a store.Admission) error {
			u, err := canon.Parse(a.URL)
			hosts[u.Host()] = true
			return err
		})
		if err != nil {
			return err
		}
		var rows []store.Row
		for host := range hosts {
			rows = append(rows, store.Row{Key: fmt.Sprintf("%s%016x", store.MarkPrefix, store.HostKey(host)), Value: end})
		}
		if err := checkpointWith(st, rows, func(*counters) {}); err != nil {
			return err
		}
		if err := st.Queue.RestoreMarks(rows); err != nil {
			return err
		}
		hidden, _, err := st.Queue.Host(nil, store.HostKey("h0.sim"), 10, func(uint64) bool { return false })
		if len(hidden) > 0 {
			t.Fatalf("the marks hide nothing: %d entries are read", len(hidden))
		}
		return err
	})
}

// pendingOK returns the number of a URL that is pending and whose visit would end well, and its URL.
func pendingOK(st *store.Store) (seq uint64, url string, err error) {
	done, err := st.DoneBits()
	if err != nil {
		return 0, "", err
	}
	err = st.Admissions.Each(1, func(n uint64, a store.Admission) error {
		if seq == 0 && !done.Test(n) && strings.HasPrefix(a.URL, "http://h0.sim/p") {
			seq, url = n, strings.Clone(a.URL)
		}
		return nil
	})
	return seq, url, err
}

func doneWithoutRecord(t *testing.T, dir string) {
	change(t, dir, func(st *store.Store) error {
		seq, _, err := pendingOK(st)
		if err != nil {
			return err
		}
		err = st.Done.Append(store.DoneEntry{
			Seq: seq, Event: store.EventDone, Outcome: store.OutcomeOK, Status: 200, Attempt: 1, Visit: 1, At: time.Now(), Record: st.Pages.Records() + 1,
		})
		if err != nil {
			return err
		}
		return checkpointWith(st, nil, func(c *counters) {
			c.Outcomes[store.OutcomeOK]++
			c.Pages++
			c.Statuses[200]++
		})
	})
}

func recordWithoutDone(t *testing.T, dir string) {
	change(t, dir, func(st *store.Store) error {
		seq, url, err := pendingOK(st)
		if err != nil {
			return err
		}
		page, err := store.EncodePage(&store.Page{Seq: seq, Visit: 1, URL: url, Outcome: store.OutcomeOK, Status: 200})
		if err == nil {
			_, err = st.Pages.Append(page)
		}
		if err != nil {
			return err
		}
		return checkpointWith(st, nil, func(c *counters) { c.Pages++; c.Statuses[200]++ })
	})
}

func removeQueueRuns(t *testing.T, dir string) {
	t.Helper()
	var files []string
	change(t, dir, func(st *store.Store) error {
		for _, run := range st.Last().Runs.Runs {
			if run.Kind == store.QueueRun {
				files = append(files, filepath.Join(dir, "runs", fmt.Sprintf("%010d.run", run.Number)))
			}
		}
		return nil
	})
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatal("the checkpoint names no run of the queue")
	}
}

// forgetQueueRuns takes the queue's runs out of the checkpoint's manifest, which still says that they cover the logs.
func forgetQueueRuns(t *testing.T, dir string) {
	t.Helper()
	point, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfterN(string(point[:len(point)-4]), "\n", 3)
	var head map[string]json.RawMessage
	var cut map[string]json.RawMessage
	var runs store.Manifest
	if err := errors.Join(json.Unmarshal([]byte(lines[1]), &head), json.Unmarshal(head["cut"], &cut), json.Unmarshal(cut["runs"], &runs)); err != nil {
		t.Fatal(err)
	}
	runs.Runs = slices.DeleteFunc(runs.Runs, func(i store.RunInfo) bool { return i.Kind == store.QueueRun })
	for _, step := range []struct {
		in   map[string]json.RawMessage
		key  string
		from any
	}{{cut, "runs", runs}, {head, "cut", cut}} {
		if step.in[step.key], err = json.Marshal(step.from); err != nil {
			t.Fatal(err)
		}
	}
	line, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	point = fmt.Appendf(nil, "%s%s\n%s", lines[0], line, lines[2])
	point = binary.LittleEndian.AppendUint32(point, crc32.Checksum(point, simCRC))
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "checkpoint"), point, 0o600), putPoint(filepath.Join(dir, "state.db"), point)); err != nil {
		t.Fatal(err)
	}
}

var simCRC = crc32.MakeTable(crc32.Castagnoli)

// putPoint puts a checkpoint in the place of the one in a state.db, with the sums that belong to it.
func putPoint(path string, point []byte) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	seal := func(key string, value []byte) (sealed []byte, sum uint32) {
		sum = crc32.Update(crc32.Checksum([]byte(key), simCRC), simCRC, value)
		return binary.LittleEndian.AppendUint32(slices.Clone(value), sum), sum
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		sealed, sum := seal("point", point)
		ledger := binary.LittleEndian.AppendUint64(nil, 1)
		ledger = binary.LittleEndian.AppendUint64(ledger, uint64(len("point")+len(sealed)))
		ledger = binary.LittleEndian.AppendUint64(ledger, uint64(sum))
		sealedLedger, _ := seal("point", ledger)
		return errors.Join(tx.Bucket([]byte("point")).Put([]byte("point"), sealed), tx.Bucket([]byte("ledgers")).Put([]byte("point"), sealedLedger))
	})
	return errors.Join(err, db.Close())
}

// With any one sort of file or folder that is not synced, a power cut is found to lose something.
func TestSimulationFindsMissingSyncs(t *testing.T) {
	for _, tt := range []struct {
		kind  vfstest.Kind
		of    string
		crawl func(*testing.T) *sim
		late  func(*simProcess, store.Cut) bool
	}{
		{vfstest.Sync, "log", blockSim, admitted(store.BlockEntries)}, {vfstest.SyncDir, "log", blockSim, admitted(store.BlockEntries)},
		{vfstest.Sync, "done", blockSim, ended(store.BlockEntries)},
		{vfstest.Sync, "pages", smallSim, ended(800)}, {vfstest.SyncDir, "pages", smallSim, ended(800)},
		{vfstest.Sync, "runs", smallSim, ended(800)}, {vfstest.SyncDir, "runs", smallSim, ended(800)},
	} {
		t.Run(fmt.Sprintf("%s of %s", tt.kind, tt.of), func(t *testing.T) {
			s := tt.crawl(t)
			crash := s.onCrash(t)
			s.fs = vfstest.Ignore(crash, func(op vfstest.Op) bool {
				return op.Kind == tt.kind && s.place(op) == tt.of
			})
			kill := s.moments(t, crash, 0, tt.late)[0]
			_, err := kill.lost(kill.after(s), nil)
			if tt.of == "runs" { // they are made again from the logs
				_, err = kill.revive(t, kill.after(s), nil, rand.New(rand.NewPCG(1, 3)), nil)
				if err != nil {
					t.Errorf("want it healed, got %v", err)
				}
				return
			}
			if err == nil {
				t.Error("nothing is found to be lost")
			}
			t.Log(err)
		})
	}
}

// Marks that are ahead in a crawl that has room for all its tasks are found: a large host is read on from where they are,
// and nothing sends its tasks out of memory, which would have it read from its start.
func TestSimulationFindsMarksAhead(t *testing.T) {
	s := newSim(newSimWeb(3, 100, 4000, 1000), filepath.Join(simFolder(t), "a.crawl"), nil, func(cfg *Config) {
		simTiny(cfg)
		roomy := frontier.Default()
		cfg.Frontier.MaxTasks, cfg.Frontier.MaxHosts, cfg.Frontier.MaxIdleHosts = roomy.MaxTasks, roomy.MaxHosts, roomy.MaxIdleHosts
	})
	kill := s.moments(t, s.onCrash(t), 1, admitted(3500))[0]
	marksToTheEnd(t, kill.dir)
	_, err := kill.revive(t, kill.after(s), nil, rand.New(rand.NewPCG(1, 4)), nil)
	if err == nil || !strings.Contains(err.Error(), "is left") {
		t.Errorf("want URLs that are left, got %v", err)
	}
}

// A crawl that does not keep one of its promises to hosts is found out.
func TestSimulationFindsImpoliteCrawls(t *testing.T) {
	two := 2
	for _, tt := range []struct {
		name string
		set  func(*Config)
		want string
	}{
		{"delay", func(c *Config) { c.Frontier.HostDelay = simDelay - time.Millisecond }, "too early"},
		{"no heed of response times", func(c *Config) { c.Frontier.DelayFactor = 0.9 }, "too early"},
		{"Crawl-delay", func(c *Config) { c.Frontier.MaxCrawlDelay = 2 * time.Second }, "too early"},
		{"concurrency", func(c *Config) {
			c.Frontier.Overrides = append(c.Frontier.Overrides, frontier.Override{Pattern: "*", HostConcurrency: &two})
		}, "requests in flight"},
		{"per_ip", func(c *Config) {}, "its address"},
		{"robots.txt", func(c *Config) { c.Frontier.IgnoreRobots = true }, "before its robots.txt"},
		{"back-off", func(c *Config) { c.Frontier.BackoffBase = time.Second }, "back-off"},
		{"Retry-After", func(c *Config) { c.Frontier.MaxRetryAfter = time.Second }, "back-off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			web := newSimWeb(4, 150, 300, 600)
			if tt.name == "per_ip" {
				web.shareAddresses(10)
			}
			s := newSim(web, filepath.Join(simFolder(t), "a.crawl"), simFS(), tt.set)
			var err error
			bubble(t, func(t *testing.T) {
				var p *simProcess
				if p, err = s.create(); err == nil {
					err = p.run(t.Context())
				}
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want %q, got %v", tt.want, err)
			}
		})
	}
}

// So is one that forgets after a restart what it was told, or that it was there before.
func TestSimulationFindsImpoliteRestarts(t *testing.T) {
	s := smallSim(t)
	kill := s.moments(t, s.onCrash(t), 1, admitted(1400))[0]
	for _, tt := range []struct {
		name    string
		resumed bool
		fault   func(t *testing.T, dir string)
		want    string
	}{
		{"the states of hosts", true, forgetHosts, "back-off or Retry-After"},
		{"that it was there before", false, func(*testing.T, string) {}, "after the start"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kill := kill.copyOf(t)
			tt.fault(t, kill.dir)
			next := kill.after(s)
			ledger, err := kill.lost(next, nil)
			if err != nil {
				t.Fatal(err)
			}
			bubble(t, func(t *testing.T) {
				_ = rest(t.Context(), kill.at.Sub(simStart)) // its clock starts at its own beginning
				var p *simProcess
				if p, err = next.openAs(ledger, nil, tt.resumed); err == nil {
					err = p.run(t.Context())
				}
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want %q, got %v", tt.want, err)
			}
		})
	}
}

func forgetHosts(t *testing.T, dir string) {
	change(t, dir, func(st *store.Store) error {
		var rows []store.Row
		err := st.Rows(hostPrefix, func(key string, _ []byte) error {
			rows = append(rows, store.Row{Key: key})
			return nil
		})
		if err != nil {
			return err
		}
		return checkpointWith(st, rows, func(*counters) {})
	})
}

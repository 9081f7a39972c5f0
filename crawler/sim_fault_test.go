package crawler

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"crawl/canon"
	"crawl/seen"
	"crawl/store"
)

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

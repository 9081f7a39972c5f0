package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchAdmissions returns n admissions with URLs of 87 bytes on average, as they come off pages of 50 links.
func benchAdmissions(n int) []Admission {
	rng := rand.New(rand.NewPCG(1, 1))
	as := make([]Admission, n)
	for i := range as {
		if i%50 == 0 {
			as[i].From = uint64(max(1, i-rng.IntN(10000)))
		} else {
			as[i].From = as[i-1].From
		}
		as[i].Hash, as[i].Depth, as[i].Class = rng.Uint64(), 3, 1
		as[i].URL = fmt.Sprintf("https://host%05d.example/catalogue/section-%d/%x/item-%d.html?page=%d",
			rng.IntN(100000), rng.IntN(50), rng.Uint64(), rng.IntN(1e6), rng.IntN(100))
	}
	as[0].From = 0
	return as
}

func BenchmarkAppend(b *testing.B) {
	as := benchAdmissions(1 << 17)
	s := create(b, Config{})
	n := 0
	for b.Loop() {
		a := as[n%len(as)]
		if a.From != 0 {
			a.From += uint64(n - n%len(as)) // the same distance each time round
		}
		if _, err := s.Admissions.Append(a); err != nil {
			b.Fatal(err)
		}
		n++
	}
	urls := 0
	for _, a := range as {
		urls += len(a.URL)
	}
	b.ReportMetric(float64(urls)/float64(len(as)), "URLbytes")
	if full := len(s.Admissions.blocks.blocks) * BlockEntries; full > 0 && s.Admissions.blocks.series.number == 0 {
		b.ReportMetric(float64(s.Admissions.blocks.series.offset)/float64(full), "bytes/URL")
	}
}

// benchLog is a crawl with n admissions.
func benchLog(b *testing.B, n int) *AdmissionLog {
	b.Helper()
	s := create(b, Config{})
	for _, a := range benchAdmissions(n) {
		if _, err := s.Admissions.Append(a); err != nil {
			b.Fatal(err)
		}
	}
	return s.Admissions
}

func BenchmarkEachHashes(b *testing.B) {
	l := benchLog(b, 1<<18)
	n := 0
	for b.Loop() {
		if err := l.EachHashes(1, func(_ uint64, h []uint64) error { n += len(h); return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/hash")
}

func BenchmarkEach(b *testing.B) {
	l := benchLog(b, 1<<18)
	n := 0
	for b.Loop() {
		if err := l.Each(1, func(uint64, Admission) error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/URL")
}

// BenchmarkGet asks for referrers: of what was admitted long ago, from one of 20 blocks.
func BenchmarkGet(b *testing.B) {
	l := benchLog(b, 20*BlockEntries)
	rng := rand.New(rand.NewPCG(2, 2))
	for b.Loop() {
		if _, err := l.Get(1 + rng.Uint64N(l.Len())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDoneAppend(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 3))
	s := create(b, Config{})
	at := randomDone(rng).At
	seq := uint64(1)
	for b.Loop() {
		seq += rng.Uint64N(200)
		at = at.Add(1e6)
		e := DoneEntry{Seq: seq, Event: EventDone, Outcome: OutcomeOK, Status: 200, Attempt: 1, Visit: 1, At: at, Record: seq}
		if err := s.Done.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	if full := len(s.Done.blocks.blocks) * BlockEntries; full > 0 {
		b.ReportMetric(float64(s.Done.blocks.series.offset)/float64(full), "bytes/event")
	}
}

func BenchmarkPageAppend(b *testing.B) {
	p := randomPage(rand.New(rand.NewPCG(4, 4)))
	encoded, err := EncodePage(&p)
	if err != nil {
		b.Fatal(err)
	}
	s := create(b, Config{})
	b.SetBytes(int64(len(encoded)))
	for b.Loop() {
		if _, err := s.Pages.Append(encoded); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheckpoint: 1,000 of 100,000 rows of 100 bytes change, in random order, and both tails are half full.
func BenchmarkCheckpoint(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 5))
	s, m := create(b, Config{}), newModel()
	value := []byte(strings.Repeat("v", 100))
	rows := make([]Row, 100_000)
	for i := range rows {
		rows[i] = Row{Key: fmt.Sprintf("host/host%05d.example", i), Value: value}
	}
	m.commit(b, s, rows)
	for range BlockEntries / 2 {
		if _, err := s.Admissions.Append(randomAdmission(rng, s.Admissions.Len()+1)); err != nil {
			b.Fatal(err)
		}
		if err := s.Done.Append(randomDone(rng)); err != nil {
			b.Fatal(err)
		}
	}
	written, n := 0, 0
	for b.Loop() {
		changed := make([]Row, 1000)
		for i := range changed {
			changed[i] = rows[rng.IntN(len(rows))]
		}
		cp, err := s.Prepare(changed, n)
		if err == nil {
			err = cp.Commit()
		}
		if err != nil {
			b.Fatal(err)
		}
		written += cp.Bytes()
		n++
	}
	b.ReportMetric(float64(written)/float64(n), "bytes/checkpoint")
}

// BenchmarkOpen: 100,000 rows and 64 full blocks.
func BenchmarkOpen(b *testing.B) {
	s, m := create(b, Config{}), newModel()
	rows := make([]Row, 100_000)
	for i := range rows {
		rows[i] = Row{Key: fmt.Sprintf("host/host%05d.example", i), Value: make([]byte, 100)}
	}
	for _, a := range benchAdmissions(64 * BlockEntries) {
		if _, err := s.Admissions.Append(a); err != nil {
			b.Fatal(err)
		}
	}
	m.commit(b, s, rows)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(s.Dir(), Config{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckBolt(b *testing.B) {
	s, m := create(b, Config{}), newModel()
	rows := make([]Row, 100_000)
	for i := range rows {
		rows[i] = Row{Key: fmt.Sprintf("host/host%05d.example", i), Value: make([]byte, 100)}
	}
	m.commit(b, s, rows)
	for b.Loop() {
		if err := checkBolt(s.dir.stateDB()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
}

package store

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"crawl/sortedrun"
)

// benchRuns is a crawl with n admissions, all of them done in random order, and no runs yet.
func benchRuns(b *testing.B, n int) *Store {
	b.Helper()
	s := create(b, Config{})
	rng := rand.New(rand.NewPCG(30, 1))
	for range n {
		if _, err := s.Admissions.Append(Admission{URL: "https://a.example/", Hash: rng.Uint64()}); err != nil {
			b.Fatal(err)
		}
	}
	at := time.UnixMilli(1.8e12)
	for i, seq := range rng.Perm(n) {
		at = at.Add(time.Duration(rng.IntN(20)) * time.Millisecond)
		e := DoneEntry{
			Seq: uint64(seq) + 1, Event: EventDone, Outcome: OutcomeOK, Status: 200, Attempt: 1, Visit: 1, At: at,
			Record: uint64(i) + 1,
		}
		if err := s.Done.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkRunBuild makes a run of 64 blocks.
func BenchmarkRunBuild(b *testing.B) {
	s := benchRuns(b, 64*BlockEntries)
	for _, v := range []pairView{s.hashView(), s.doneView()} {
		b.Run(string(v.kind), func(b *testing.B) {
			entries, bytes := 0, int64(0)
			for b.Loop() {
				build := s.buildJob(v)
				if err := build(context.Background()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				made := s.runs.newest(v.kind)
				s.runs.replace(nil, made)
				entries += 64 * BlockEntries
				bytes += made[0].Bytes
				s.runs.release(made)
				checkpoint(b, s) // removes the file
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(entries), "ns/entry")
			b.ReportMetric(float64(bytes)/float64(entries), "bytes/entry")
		})
	}
}

// BenchmarkRunMerge merges eight runs of 64 blocks, of a log that is as long as said.
func BenchmarkRunMerge(b *testing.B) {
	const log = 100 << 20
	s := create(b, Config{})
	rng := rand.New(rand.NewPCG(30, 2))
	for _, v := range []pairView{s.hashView(), s.doneView()} {
		for i := range uint64(8) {
			span := Span{log + i*s.runs.sizes.unit(), log + (i+1)*s.runs.sizes.unit()}
			pairs := make([]pair, 0, span.Len())
			for at := span.After + 1; at <= span.Upto; at++ {
				p := pair{rng.Uint64(), at}
				if v.kind == DoneRun {
					p.key = 1 + rng.Uint64N(log)
				}
				pairs = append(pairs, p)
			}
			made, err := s.runs.build(v.info(span), sortedrun.Options{}, func(w *sortedrun.Writer) error {
				return addPairs(w, pairs, make([]pair, len(pairs)))
			})
			if err != nil {
				b.Fatal(err)
			}
			s.runs.replace(made, nil)
		}
		b.Run(string(v.kind), func(b *testing.B) {
			entries, bytes := 0, int64(0)
			for b.Loop() {
				runs := s.runs.newest(v.kind)
				made, err := s.runs.build(v.info(Span{}), sortedrun.Options{}, func(w *sortedrun.Writer) error {
					return s.mergePairs(context.Background(), w, runs)
				})
				if err != nil {
					b.Fatal(err)
				}
				s.runs.release(runs)
				entries += 8 * 64 * BlockEntries
				bytes += made.Bytes
				if err := s.runs.discard(made); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(entries), "ns/entry")
			b.ReportMetric(float64(bytes)/float64(entries), "bytes/entry")
		})
	}
}

// BenchmarkFind looks one hash up among a million, in four runs.
func BenchmarkFind(b *testing.B) {
	s := benchRuns(b, 1<<20)
	workAll(b, s)
	benchFind(b, s)
}

// BenchmarkFindInTail looks one hash up where as many admissions as can be are in no run yet.
func BenchmarkFindInTail(b *testing.B) { benchFind(b, benchRuns(b, 64*BlockEntries-1)) }

func benchFind(b *testing.B, s *Store) {
	rng := rand.New(rand.NewPCG(30, 3))
	for b.Loop() {
		if _, err := s.Find([]uint64{rng.Uint64()}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLastDone looks one number up among a million, in four runs.
func BenchmarkLastDone(b *testing.B) {
	s := benchRuns(b, 1<<20)
	workAll(b, s)
	benchLastDone(b, s)
}

// BenchmarkLastDoneInTail looks one number up where as many events as can be are in no run yet.
func BenchmarkLastDoneInTail(b *testing.B) { benchLastDone(b, benchRuns(b, 64*BlockEntries-1)) }

func benchLastDone(b *testing.B, s *Store) {
	rng := rand.New(rand.NewPCG(30, 4))
	for b.Loop() {
		if _, found, err := s.LastDone(1 + rng.Uint64N(s.Admissions.Len())); !found || err != nil {
			b.Fatal(found, err)
		}
	}
}

// BenchmarkDoneBits replays a million events, which is the most that is left to do when a crawl is opened.
func BenchmarkDoneBits(b *testing.B) {
	s := benchRuns(b, 1<<20)
	n := 0
	for b.Loop() {
		if _, err := s.DoneBits(); err != nil {
			b.Fatal(err)
		}
		n += int(s.Done.Len())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
}

// BenchmarkReadBits reads the bitmap of a hundred million numbers.
func BenchmarkReadBits(b *testing.B) {
	s, bitmap := create(b, Config{}), &Bits{}
	for seq := uint64(1); seq <= 100_000_000; seq += 3 {
		bitmap.Set(seq)
	}
	made, err := s.runs.write(RunInfo{Kind: BitsRun, Done: Span{Upto: 77}}, func(w io.Writer) (uint64, error) {
		return bitmap.Count(), writeBits(w, bitmap, 77)
	})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(made.Bytes)
	for b.Loop() {
		if _, err := readBits(made); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSortPairs(b *testing.B) {
	rng := rand.New(rand.NewPCG(30, 5))
	random := make([]pair, 64*BlockEntries)
	for i := range random {
		random[i] = pair{rng.Uint64(), uint64(i)}
	}
	pairs, spare := make([]pair, len(random)), make([]pair, len(random))
	for b.Loop() {
		copy(pairs, random)
		sortPairs(pairs, spare)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(random)), "ns/pair")
}

package seen

import (
	"bytes"
	"strconv"
	"testing"
)

// url returns the n-th of a set of distinct URLs.
func url(buf []byte, set string, n int) []byte {
	buf = append(buf[:0], "https://www.example.org/"...)
	buf = append(buf, set...)
	buf = append(buf, "/2024/05/some-article-about-something?page="...)
	return strconv.AppendInt(buf, int64(n), 10)
}

// In a growing filter the errors of all layers add up: without a share for each, the promise breaks after some growths.
func TestGrowsAndKeepsItsPromise_seen01(t *testing.T) {
	const p = 0.001
	urls, others := 2_000_000, 1_000_000
	if testing.Short() {
		urls, others = 100_000, 200_000
	}
	s := mustScalable(t, Config{FalsePositiveRate: p, ExpectedItems: 10_000, Seed: 1})
	var buf []byte
	for i := range urls {
		buf = url(buf, "added", i)
		s.TestAndAdd(s.Hash(buf))
	}
	for i := range urls {
		buf = url(buf, "added", i)
		if was, _ := s.Has(s.Hash(buf)); !was {
			t.Fatalf("%s was added and is not seen", buf)
		}
	}
	wrong := 0
	for i := range others {
		buf = url(buf, "other", i)
		if was, _ := s.Has(s.Hash(buf)); was {
			wrong++
		}
	}
	st := s.Stats()
	t.Logf("%d layers, %d wrong of %d, Rate %g, %d bytes", st.Layers, wrong, others, st.Rate, st.Bytes)
	if share := float64(wrong) / float64(others); share > 1.5*p {
		t.Errorf("%g of the others were called seen, want at most %g", share, 1.5*p)
	}
	_, bits := Blocked.best(p)
	if one := int64(linesFor(float64(urls), bits)) * lineBytes; st.Bytes > 4*one {
		t.Errorf("%d bytes, want at most 4 times the %d of one filter", st.Bytes, one)
	}
}

// A count that is not saved lets a filter fill up silently after a resume; a seed that is not saved makes all keys new.
func TestSaveAndLoadChangesNothing_seen03(t *testing.T) {
	c := Config{ExpectedItems: 10_000, Seed: 1}
	saved, kept := mustScalable(t, c), mustScalable(t, c)
	const rounds, each = 50, 1000
	var buf []byte
	for round := range rounds {
		for i := range each {
			buf = url(buf, "added", round*each+i)
			was, _ := saved.TestAndAdd(saved.Hash(buf))
			if want, _ := kept.TestAndAdd(kept.Hash(buf)); was != want {
				t.Fatalf("round %d: %s: %v, without saving %v", round, buf, was, want)
			}
		}
		saved = clone(t, saved)
	}
	wantSame(t, saved, kept)
	for i := range rounds * each {
		buf = url(buf, "added", i)
		if was, _ := saved.Has(saved.Hash(buf)); !was {
			t.Fatalf("%s was added and is not seen", buf)
		}
		buf = url(buf, "other", i)
		was, _ := saved.Has(saved.Hash(buf))
		if want, _ := kept.Has(kept.Hash(buf)); was != want {
			t.Fatalf("%s, never added: %v, without saving %v", buf, was, want)
		}
	}
	other := mustScalable(t, Config{ExpectedItems: 10_000})
	var a, b bytes.Buffer
	other.WriteTo(&a)
	clone(t, other).WriteTo(&b)
	if !bytes.Equal(a.Bytes(), b.Bytes()) || other.Hash(buf) == saved.Hash(buf) {
		t.Error("a crawl's hash must be its own, and stay")
	}
}

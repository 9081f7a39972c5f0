package seen

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// The published bits a key and k: closed forms for the classic layout, the Poisson sum for lines of 512 bits, which leaves
// out that the set bits of a line vary. What is planned is at most 0.8% above, and then keeps its promise.
func TestPlanMatchesTable(t *testing.T) {
	const n = 1_000_000_000 // whole lines round nothing at this size
	for _, tt := range []struct {
		p       float64
		layout  Layout
		k       int
		bits    float64
		planned float64 // 0: as published
	}{
		{p: 0.05, layout: Classic, k: 4, bits: 6.24, planned: 6.25},
		{p: 0.01, layout: Classic, k: 7, bits: 9.59},
		{p: 0.001, layout: Classic, k: 10, bits: 14.38},
		{p: 1e-4, layout: Classic, k: 13, bits: 19.17},
		{p: 1e-5, layout: Classic, k: 17, bits: 23.96, planned: 23.97},
		{p: 1e-6, layout: Classic, k: 20, bits: 28.76},
		{p: 0.05, layout: Blocked, k: 4, bits: 6.31, planned: 6.32},
		{p: 0.01, layout: Blocked, k: 6, bits: 9.90, planned: 9.92},
		{p: 0.001, layout: Blocked, k: 9, bits: 15.49, planned: 15.55},
		{p: 1e-4, layout: Blocked, k: 12, bits: 21.91, planned: 22.03},
		{p: 1e-5, layout: Blocked, k: 14, bits: 29.48, planned: 29.67},
		{p: 1e-6, layout: Blocked, k: 16, bits: 38.51, planned: 38.82},
	} {
		t.Run(fmt.Sprintf("%s %g", tt.layout, tt.p), func(t *testing.T) {
			got, err := Plan{Items: n, Rate: tt.p, Layout: tt.layout}.Solve()
			if err != nil {
				t.Fatal(err)
			}
			want := tt.planned
			if want == 0 {
				want = tt.bits
			}
			perKey := float64(got.Bits) / n
			if got.Hashes != tt.k || math.Abs(perKey-want) > 0.0051 {
				t.Errorf("%d hashes and %.4f bits a key, want %d and %.2f", got.Hashes, perKey, tt.k, want)
			}
			if perKey < tt.bits-0.0051 || perKey > 1.008*tt.bits+0.005 {
				t.Errorf("%.4f bits a key, published are %.2f", perKey, tt.bits)
			}
		})
	}
}

// The bars that one layer has to keep, in bits a key.
func TestPlanKeepsToTheBars(t *testing.T) {
	for p, most := range map[float64]float64{0.01: 9.95, 0.001: 15.6} {
		got, err := Plan{Items: 1_000_000, Rate: p}.Solve()
		if perKey := float64(got.Bits) / 1_000_000; err != nil || perKey > most {
			t.Errorf("%g: %.3f bits a key, want at most %.2f; %v", p, perKey, most, err)
		}
	}
}

// Each field follows from the others: what was solved is its own solution, and what is taken away from it comes back.
func TestPlanSolvesEachField(t *testing.T) {
	for _, layout := range []Layout{Classic, Blocked} {
		for _, n := range []uint64{1, 10, 1000, 123_457, 1_000_000, 3_000_000_000} {
			for _, p := range []float64{0.9, 0.5, 0.05, 0.01, 0.001, 1e-6, 1e-9} {
				whole, err := Plan{Items: n, Rate: p, Layout: layout}.Solve()
				if err != nil {
					t.Fatalf("%s, %d at %g: %v", layout, n, p, err)
				}
				checkSolved(t, whole)
			}
		}
	}
}

func checkSolved(t *testing.T, whole Plan) {
	t.Helper()
	solve := func(what string, p Plan) Plan {
		t.Helper()
		got, err := p.Solve()
		if err != nil {
			t.Fatalf("%s of %+v: %v", what, whole, err)
		}
		return got
	}
	if got := solve("the same", whole); got != whole {
		t.Fatalf("%+v solves to %+v", whole, got)
	}
	p := whole
	p.Bits = 0
	if got := solve("bits", p); got != whole {
		t.Fatalf("without bits %+v solves to %+v", whole, got)
	}
	p = whole
	p.Rate = 0
	rate := solve("rate", p)
	if rate.Rate > whole.Rate*(1+rounding) {
		t.Fatalf("without its rate %+v errs at %g", whole, rate.Rate)
	}
	p.Hashes = 0
	if got := solve("rate and hashes", p); got.Rate > rate.Rate {
		t.Fatalf("with hashes of its own choice %+v errs at %g with %d, with the given ones at %g", whole, got.Rate, got.Hashes, rate.Rate)
	}
	for _, k := range []int{whole.Hashes, 0} {
		p = whole
		p.Items, p.Hashes = 0, k
		got := solve("items", p)
		if got.Items < whole.Items || got.Hashes != whole.Hashes {
			t.Fatalf("without items %+v solves to %+v", whole, got)
		}
		if again := solve("items, again", got); again != got {
			t.Fatalf("%+v solves to %+v", got, again)
		}
	}
}

func TestPlanNamesWhatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		p    Plan
		want string
	}{
		{Plan{}, "lack all"},
		{Plan{Hashes: 7}, "lack all"},
		{Plan{Items: 100}, "lack rate or bits"},
		{Plan{Items: 100, Hashes: 7}, "lack rate or bits"},
		{Plan{Rate: 0.01, Hashes: 7}, "lack items or bits"},
		{Plan{Bits: 1 << 20}, "lack items or rate"},
		{Plan{Items: 100, Rate: 1}, "rate: want above 0 and below 1"},
		{Plan{Items: 100, Rate: -0.1}, "rate: want above 0 and below 1"},
		{Plan{Items: 100, Rate: math.NaN()}, "rate: want above 0 and below 1"},
		{Plan{Items: 100, Rate: 0.01, Hashes: 33}, "hashes: want up to 32"},
		{Plan{Items: 100, Rate: 0.01, Hashes: 65, Layout: Classic}, "hashes: want up to 64"},
		{Plan{Items: 100, Rate: 0.01, Hashes: -1}, "hashes: want up to 32"},
		{Plan{Items: 100, Rate: 0.01, Layout: "cubist"}, "layout: want"},
		{Plan{Items: 100, Bits: 511}, "bits: want at least 512"},
		{Plan{Items: 1_000_000, Rate: 0.01, Bits: 9_000_000}, "rate 0.01 contradicts 1000000 items in 8999936 bits"},
		{Plan{Items: 1_000_000, Rate: 0.01, Bits: 9_600_000, Hashes: 3, Layout: Classic}, "contradicts"},
		{Plan{Items: 1 << 60, Bits: 1 << 20}, "none of 1048576 bits clear"},
		{Plan{Items: math.MaxUint64, Rate: 0.01}, "1.83e+20 bits"},
		{Plan{Items: 1000, Rate: 1e-300, Hashes: 2}, "bits"},
		{Plan{Bits: 512, Rate: 1e-12, Hashes: 1}, "hold not one item"},
	} {
		got, err := tt.p.Solve()
		if !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), tt.want) || got != (Plan{}) {
			t.Errorf("%+v: %+v, %v; want ErrPlan with %q", tt.p, got, err, tt.want)
		}
	}
	_, err := Plan{Rate: 2, Hashes: 99}.Solve()
	if err == nil || len(strings.Split(err.Error(), "\n")) != 3 {
		t.Errorf("three problems: %v", err)
	}
}

func TestPlanTakesWhatIsBetterThanAsked(t *testing.T) {
	p := Plan{Items: 1000, Rate: 0.01, Bits: 1 << 20, Hashes: 5, Layout: Classic}
	if got, err := p.Solve(); err != nil || got != p {
		t.Errorf("%+v: %+v, %v", p, got, err)
	}
}

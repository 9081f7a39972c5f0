package seen

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestValidateReportsEveryProblemAtOnce(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    Config
		keys []string // one line each, in this order
	}{
		{"zero", Config{}, nil},
		{"all set", Config{FalsePositiveRate: 0.01, ExpectedItems: 10_000, MaxBytes: 1 << 20, Seed: 7}, nil},
		{"certainty", Config{FalsePositiveRate: 1e-9}, []string{"fp: "}},
		{"a coin", Config{FalsePositiveRate: 0.6}, []string{"fp: "}},
		{"negative", Config{FalsePositiveRate: -0.01, MaxBytes: -1}, []string{"fp: ", "seen_memory: "}},
		{"no number", Config{FalsePositiveRate: math.NaN()}, []string{"fp: "}},
		{"first layer over the cap", Config{ExpectedItems: 1_000_000, MaxBytes: 1 << 20},
			[]string{"seen_memory: want at least 2"}},
		{"more than there are", Config{ExpectedItems: math.MaxUint64}, []string{"seen_memory: want at least "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.c.Validate()
			var lines []string
			if err != nil {
				lines = strings.Split(err.Error(), "\n")
			}
			if !slices.EqualFunc(lines, tt.keys, strings.HasPrefix) {
				t.Errorf("Validate = %q, want %q", lines, tt.keys)
			}
			if s, newErr := NewScalable(tt.c); (newErr == nil) != (err == nil) || (s == nil) != (err != nil) {
				t.Errorf("NewScalable = %v, %v; Validate = %v", s, newErr, err)
			}
		})
	}
}

func TestDefaultsAreInForce(t *testing.T) {
	got := mustScalable(t, Config{}).Header().Config
	if got.Seed == 0 {
		t.Error("no seed was drawn")
	}
	got.Seed = 0
	if want := (Config{FalsePositiveRate: 0.001, ExpectedItems: 1_000_000, MaxBytes: 1 << 30}); got != want {
		t.Errorf("settings in force %+v, want %+v", got, want)
	}
}

package config

import (
	"strconv"
	"strings"
	"time"
)

// Frequency is how many requests may be made in a time: 50/s, 600/m, 1000/h. It is more than none, and has a unit: what a
// bare 5 is meant for differs from one program to the next.
type Frequency struct {
	Requests float64
	Per      time.Duration // a second, a minute or an hour
}

// The units of a Frequency.
var frequencyUnits = []struct {
	suffix string
	per    time.Duration
}{{"/s", time.Second}, {"/m", time.Minute}, {"/h", time.Hour}}

// The least and the most that a Frequency can be, in requests a second.
const (
	leastFrequency = 1.0 / (24 * 3600)
	mostFrequency  = 1e6
)

// PerSecond returns how many requests may be made in a second.
func (f Frequency) PerSecond() float64 { return f.Requests / f.Per.Seconds() }

func (Frequency) parse(text string) (Frequency, error) {
	for _, u := range frequencyUnits {
		number, found := strings.CutSuffix(text, u.suffix)
		if !found {
			continue
		}
		n, ok := realNumber(number, 0)
		if f := (Frequency{n, u.per}); ok && f.PerSecond() >= leastFrequency && f.PerSecond() <= mostFrequency {
			return f, nil
		}
	}
	return Frequency{}, bad("requests in a time, such as 50/s, 600/m or 1000/h, one a day at least", text)
}

// String writes what is read.
func (f Frequency) String() string {
	for _, u := range frequencyUnits {
		if u.per == f.Per {
			return strconv.FormatFloat(f.Requests, 'g', -1, 64) + u.suffix
		}
	}
	return unset // the zero Frequency is none
}

// Type is the word that stands for a Frequency in a flag's help.
func (Frequency) Type() string { return "frequency" }

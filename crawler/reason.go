package crawler

import (
	"encoding/json"
	"fmt"
)

// Reason says what became of a link. Each link that is found ends in exactly one; the list is closed.
type Reason uint8

// The reasons, in the order in which a link is tested.
const (
	Repeated          Reason = iota // met before on the same page
	Malformed                       // no URL by the WHATWG standard, or longer than 16 KiB
	UnsupportedScheme               // neither http nor https
	NotFollowed                     // of a kind that this crawl does not follow
	NoFollow                        // on a page that says nofollow
	OutOfScope
	TooDeep
	Trap       // a rule against endless sites refused it
	Denied     // on a denylist
	FirstSight // waits for a second page that links to it
	Seen       // admitted before; or, with the filter's chance of error, taken for such
	Admitted
	reasons // their number
)

var reasonNames = [reasons]string{
	Repeated: "repeated", Malformed: "malformed", UnsupportedScheme: "unsupported_scheme", NotFollowed: "not_followed",
	NoFollow: "nofollow", OutOfScope: "out_of_scope", TooDeep: "too_deep", Trap: "trap", Denied: "denied",
	FirstSight: "first_sight", Seen: "seen", Admitted: "admitted",
}

func (r Reason) String() string {
	if r >= reasons {
		return fmt.Sprintf("reason %d", uint8(r))
	}
	return reasonNames[r]
}

// reasonCounts counts links by what became of them.
type reasonCounts [reasons]uint64

func (c *reasonCounts) add(other *reasonCounts) {
	for i := range c {
		c[i] += other[i]
	}
}

func (c *reasonCounts) total() uint64 {
	var sum uint64
	for _, n := range c {
		sum += n
	}
	return sum
}

// byName leaves out what did not occur.
func (c *reasonCounts) byName() map[string]uint64 {
	named := make(map[string]uint64)
	for i, n := range c {
		if n > 0 {
			named[Reason(i).String()] = n
		}
	}
	return named
}

// MarshalJSON writes names, so that a reason may be added between others.
func (c reasonCounts) MarshalJSON() ([]byte, error) { return json.Marshal(c.byName()) }

// UnmarshalJSON reads names back. One that this program does not know is an error: the sums would not match.
func (c *reasonCounts) UnmarshalJSON(text []byte) error {
	var named map[string]uint64
	if err := json.Unmarshal(text, &named); err != nil {
		return err
	}
	*c = reasonCounts{}
	for r := range reasons {
		c[r] = named[r.String()]
		delete(named, r.String())
	}
	for name := range named {
		return fmt.Errorf("unknown reason %q", name)
	}
	return nil
}

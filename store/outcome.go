package store

import (
	"fmt"
	"strings"
)

// Outcome says how a visit ended. The list is closed; the numbers are part of the done log and never change.
type Outcome uint8

// The outcomes.
const (
	OutcomeOK            Outcome = 1 // 2xx with its body whole
	OutcomeTruncated     Outcome = 2 // an answer whose body is not whole: cut at a limit, by the peer, or while decoding
	OutcomeRedirect      Outcome = 3 // 3xx with a target, which is a link of its own
	OutcomeClientError   Outcome = 4 // 4xx
	OutcomeServerError   Outcome = 5 // 5xx, or 429, after all retries
	OutcomeFailed        Outcome = 6 // no answer after all retries
	OutcomeRobotsDenied  Outcome = 7 // robots.txt does not allow it; never requested
	OutcomeAddressDenied Outcome = 8 // its address is private or special; never requested
	OutcomeOutOfScope    Outcome = 9 // admitted under rules that changed since; never requested
	OutcomeOther         Outcome = 10
	OutcomeTooDeep       Outcome = 11 // admitted under another max_depth; never requested
	OutcomeNotModified   Outcome = 12 // 304: the page is as the record has it that Page.SameAs names
	OutcomeTrap          Outcome = 13 // admitted before a rule against endless sites was met; never requested
	OutcomeDenied        Outcome = 14 // on a denylist by now, or its host leads to an address on one; never requested
)

var outcomeNames = [...]string{
	OutcomeOK: "ok", OutcomeTruncated: "truncated", OutcomeRedirect: "redirect", OutcomeClientError: "client_error",
	OutcomeServerError: "server_error", OutcomeFailed: "failed", OutcomeRobotsDenied: "robots_denied",
	OutcomeAddressDenied: "address_denied", OutcomeOutOfScope: "out_of_scope", OutcomeOther: "other",
	OutcomeTooDeep: "too_deep", OutcomeNotModified: "not_modified", OutcomeTrap: "trap",
	OutcomeDenied: "denied",
}

// Outcomes lists the outcomes in the order of their numbers.
func Outcomes() []Outcome {
	all := make([]Outcome, 0, len(outcomeNames)-1)
	for o := range len(outcomeNames) - 1 {
		all = append(all, Outcome(o+1))
	}
	return all
}

func (o Outcome) known() bool { return o != 0 && int(o) < len(outcomeNames) }

func (o Outcome) String() string {
	if !o.known() {
		return fmt.Sprintf("outcome %d", uint8(o))
	}
	return outcomeNames[o]
}

// MarshalText returns the name used in page records and counters.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name back.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, name := range outcomeNames {
		if i > 0 && name == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q: want one of %s", text, strings.Join(outcomeNames[1:], ", "))
}

package fetch

// octetPairs are the octets of a request target, and its pairs of neighbours. Most rules with a "*" have one that the target
// lacks, which is found in the time of the rule, however long the target is.
type octetPairs struct {
	octets [256]bool
	pairs  [1 << 16 / 64]uint64
}

// worthPairs is how many octets are to be looked at, in sum over all rules, before octetPairs are worth being made.
const worthPairs = 64 << 10

func pairsOf(target string) *octetPairs {
	p := new(octetPairs)
	for i := range len(target) {
		p.octets[target[i]] = true
		if i > 0 {
			n := uint(target[i-1])<<8 | uint(target[i])
			p.pairs[n/64] |= 1 << (n % 64)
		}
	}
	return p
}

// allOf reports whether all that a pattern asks for is there, wherever.
func (p *octetPairs) allOf(pattern string) bool {
	if n := len(pattern); n > 0 && pattern[n-1] == '$' {
		pattern = pattern[:n-1]
	}
	last := byte('*')
	for i := range len(pattern) {
		c := pattern[i]
		if c != '*' {
			n := uint(last)<<8 | uint(c)
			if !p.octets[c] || last != '*' && p.pairs[n/64]&(1<<(n%64)) == 0 {
				return false
			}
		}
		last = c
	}
	return true
}

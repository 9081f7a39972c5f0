package seen

import (
	"errors"
	"fmt"
	"math"
)

// Plan is the arithmetic of a Bloom filter of one size: what so many keys cost at an error, or which error they make in
// so many bits. A zero field is one to be worked out by Solve.
//
// For Classic these are the closed forms: p = (1-e^(-kn/m))^k, and k near (m/n) ln 2. For Blocked p is the mean error
// of a line, over lines whose numbers of keys are Poisson distributed.
type Plan struct {
	Items  uint64  // n, distinct keys
	Rate   float64 // p, the chance that a key never added is called seen once all are in, above 0 and below 1
	Bits   uint64  // m, whole lines of 512 for Blocked and words of 64 for Classic: what is given is rounded down
	Hashes int     // k, bits that a key sets, up to 32 for Blocked and 64 for Classic
	Layout Layout  // "": Blocked
}

// ErrPlan is the error of a plan that cannot be solved. Its text names what is missing or what contradicts the rest.
var ErrPlan = errors.New("seen: plan")

// rounding is the relative error that a rate may have for the floating-point numbers of another machine.
const rounding = 1e-6

// Solve returns the plan with its zero fields worked out, from two of Items, Rate and Bits, with or without Hashes; by
// itself Hashes becomes the best number for the rest. Where all is given it checks that the error stays within Rate. A
// solved plan is its own solution. The error is ErrPlan, with every problem at once.
func (p Plan) Solve() (Plan, error) {
	if p.Layout == "" {
		p.Layout = Blocked
	}
	if err := p.check(); err != nil {
		return Plan{}, err
	}
	p.Bits -= p.Bits % p.Layout.unit()
	var err error
	switch {
	case p.Rate == 0:
		err = p.solveRate()
	case p.Bits == 0:
		err = p.solveBits()
	case p.Items == 0:
		err = p.solveItems()
	default:
		err = p.verify()
	}
	if err != nil {
		return Plan{}, err
	}
	return p, nil
}

// check reports fields out of range, and too few of them.
func (p Plan) check() error {
	if !p.Layout.valid() {
		return fmt.Errorf("%w: layout: want %q or %q, got %q", ErrPlan, Blocked, Classic, p.Layout)
	}
	var errs []error
	if p.Rate != 0 && !(p.Rate > 0 && p.Rate < 1) { // NaN too
		errs = append(errs, fmt.Errorf("%w: rate: want above 0 and below 1, got %g", ErrPlan, p.Rate))
	}
	if most := p.Layout.mostHashes(); p.Hashes < 0 || p.Hashes > most {
		errs = append(errs, fmt.Errorf("%w: hashes: want up to %d, got %d", ErrPlan, most, p.Hashes))
	}
	if unit := p.Layout.unit(); p.Bits > 0 && p.Bits < unit {
		errs = append(errs, fmt.Errorf("%w: bits: want at least %d, got %d", ErrPlan, unit, p.Bits))
	}
	if missing := p.missing(); missing != "" {
		errs = append(errs, fmt.Errorf("%w: want two of items, rate and bits, lack %s", ErrPlan, missing))
	}
	return errors.Join(errs...)
}

// missing names what is needed besides what is given; "" where it is enough.
func (p Plan) missing() string {
	switch items, rate, bits := p.Items > 0, p.Rate != 0, p.Bits > 0; {
	case items && !rate && !bits:
		return "rate or bits"
	case !items && rate && !bits:
		return "items or bits"
	case !items && !rate && bits:
		return "items or rate"
	case !items && !rate && !bits:
		return "all"
	default:
		return ""
	}
}

func (p *Plan) solveRate() error {
	n, m := float64(p.Items), float64(p.Bits)
	if p.Hashes == 0 {
		p.Hashes = p.Layout.bestHashes(n, m)
	}
	rate := p.Layout.rate(n, m, p.Hashes)
	if rate >= 1 {
		return fmt.Errorf("%w: %d items leave none of %d bits clear: every key is called seen", ErrPlan, p.Items, p.Bits)
	}
	p.Rate = max(rate, math.SmallestNonzeroFloat64)
	return nil
}

func (p *Plan) solveBits() error {
	perKey := p.perKey()
	unit := float64(p.Layout.unit())
	bits := max(1, math.Ceil(float64(p.Items)*perKey/unit)) * unit
	if !(bits < math.MaxUint64) {
		return fmt.Errorf("%w: %d items at rate %g take %.3g bits", ErrPlan, p.Items, p.Rate, bits)
	}
	p.Bits = uint64(bits)
	return nil
}

func (p *Plan) solveItems() error {
	items := math.Floor(float64(p.Bits) / p.perKey())
	if items < 1 {
		return fmt.Errorf("%w: %d bits hold not one item at rate %g", ErrPlan, p.Bits, p.Rate)
	}
	p.Items = uint64(items)
	return nil
}

// perKey returns the bits a key that the rate takes, after choosing Hashes where none is given.
func (p *Plan) perKey() float64 {
	if p.Hashes == 0 {
		k, bits := p.Layout.best(p.Rate)
		p.Hashes = k
		return bits
	}
	return p.Layout.bitsPerKey(p.Rate, p.Hashes)
}

// verify judges a plan in which items, rate and bits are given.
func (p *Plan) verify() error {
	n, m := float64(p.Items), float64(p.Bits)
	if p.Hashes == 0 {
		p.Hashes = p.Layout.bestHashes(n, m)
	}
	if rate := p.Layout.rate(n, m, p.Hashes); rate > p.Rate*(1+rounding) {
		return fmt.Errorf("%w: rate %g contradicts %d items in %d bits with %d hashes, which err at %.4g",
			ErrPlan, p.Rate, p.Items, p.Bits, p.Hashes, rate)
	}
	return nil
}

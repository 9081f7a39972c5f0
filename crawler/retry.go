package crawler

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"crawl/fetch"
)

// RetryClass is a kind of failure that may pass. Config.Retry has rules by class; the text is the key in config.yaml.
type RetryClass string

// The classes: a closed list, in the order in which a request meets them. What another try would not change has none: a
// name that does not exist, a certificate that is not trusted, an answer that is not HTTP.
const (
	RetryDNS       RetryClass = "dns"        // the name servers failed or kept silent
	RetryProxy     RetryClass = "proxy"      // the proxy failed
	RetryDial      RetryClass = "dial"       // no connection came about
	RetryTLS       RetryClass = "tls"        // the TLS handshake broke off, or took too long
	RetryTimeout   RetryClass = "timeout"    // connected, but the answer was not whole in time
	RetryReset     RetryClass = "reset"      // the connection ended before the answer was whole
	RetryStatus429 RetryClass = "status_429" // Too Many Requests
	RetryStatus503 RetryClass = "status_503" // Service Unavailable
	RetryStatus5xx RetryClass = "status_5xx" // every other answer of 500 and more
)

// RetryClasses lists the classes in their order.
func RetryClasses() []RetryClass {
	return []RetryClass{
		RetryDNS, RetryProxy, RetryDial, RetryTLS, RetryTimeout, RetryReset, RetryStatus429, RetryStatus503, RetryStatus5xx,
	}
}

// RetryRule is what differs for failures of one class. Nil fields change nothing.
type RetryRule struct {
	Retries *int           // after the first attempt, whatever that failed of
	Delay   *time.Duration // before the first retry; doubled for each further one
}

const (
	// maxRetries keeps the attempt number within the done log's field.
	maxRetries = 100
	// maxRetryWait is the longest that a URL waits for its next attempt. A Retry-After has a cap of its own.
	maxRetryWait = 24 * time.Hour
)

// What holds for a class of which Config.Retry says nothing follows Config.Retries and Config.RetryDelay, so that those
// two still steer everything. Name servers that fail do so for minutes: few attempts, far apart. So does a proxy. A server
// that answers 429 or 503 has too much to do, which a retry adds to.
const (
	dnsRetries = 2
	slowFactor = 3
)

// retryRule is a class's rule with nothing left open.
type retryRule struct {
	retries int
	delay   time.Duration
}

// wait returns how long a URL waits after attempt n, counted from 0. There is no chance in it: URLs of a host take turns
// anyway, so that their retries need not be spread.
func (r retryRule) wait(n int) time.Duration {
	wait := r.delay
	for ; n > 0 && wait < maxRetryWait; n-- {
		wait *= 2
	}
	return min(wait, maxRetryWait)
}

// retryPolicy has a rule for each class.
type retryPolicy map[RetryClass]retryRule

func (c Config) retryPolicy() retryPolicy {
	all := make(retryPolicy)
	for _, class := range RetryClasses() {
		r := retryRule{c.Retries, c.RetryDelay}
		switch class {
		case RetryDNS:
			r.retries, r.delay = min(r.retries, dnsRetries), slowFactor*r.delay
		case RetryProxy, RetryStatus429, RetryStatus503:
			r.delay *= slowFactor
		}
		if said := c.Retry[class]; said.Retries != nil {
			r.retries = *said.Retries
		}
		if said := c.Retry[class]; said.Delay != nil {
			r.delay = *said.Delay
		}
		all[class] = r
	}
	return all
}

// again returns how long to wait before the next attempt, after the given number of attempts before the one that failed;
// false when that was the last.
func (p retryPolicy) again(class RetryClass, attempt int) (wait time.Duration, more bool) {
	r, known := p[class]
	if !known || attempt >= r.retries {
		return 0, false
	}
	return r.wait(attempt), true
}

// longest returns the longest wait that any class has after attempt n.
func (p retryPolicy) longest(n int) time.Duration {
	var longest time.Duration
	for _, r := range p {
		longest = max(longest, r.wait(n))
	}
	return longest
}

// validateRetries reports what is wrong with rules by class, each under its key in config.yaml.
func validateRetries(rules map[RetryClass]RetryRule) error {
	var errs []error
	for _, class := range slices.Sorted(maps.Keys(rules)) {
		rule := rules[class]
		if !slices.Contains(RetryClasses(), class) {
			errs = append(errs, fmt.Errorf("retry: want one of %v, got %q", RetryClasses(), class))
		}
		if n := rule.Retries; n != nil && (*n < 0 || *n > maxRetries) {
			errs = append(errs, fmt.Errorf("retry: %s: retries: want 0 to %d, got %d", class, maxRetries, *n))
		}
		if d := rule.Delay; d != nil && (*d < 0 || *d > maxRetryWait) {
			errs = append(errs, fmt.Errorf("retry: %s: delay: want 0 to %s, got %s", class, maxRetryWait, *d))
		}
	}
	return errors.Join(errs...)
}

// retryClassOf returns the class of a request that got no answer; empty where another try would not change that. By its
// phase first: a timeout while connecting is the connection's.
func retryClassOf(err *fetch.Error) RetryClass {
	switch {
	case !err.Transient:
		return ""
	case err.Phase == fetch.PhaseResolve:
		return RetryDNS
	case err.Code() == fetch.CodeProxy:
		return RetryProxy
	case err.Phase == fetch.PhaseDial:
		return RetryDial
	case err.Phase == fetch.PhaseTLS:
		return RetryTLS
	case err.Code() == fetch.CodeTimeout:
		return RetryTimeout
	}
	return RetryReset
}

// retryClassOfStatus returns the class of an answer; empty for one that is final.
func retryClassOfStatus(status int) RetryClass {
	switch {
	case status == http.StatusTooManyRequests:
		return RetryStatus429
	case status == http.StatusServiceUnavailable:
		return RetryStatus503
	case status >= 500:
		return RetryStatus5xx
	}
	return ""
}

// retryClassOfCut returns the class of a body that is not whole; empty where a limit of ours cut it.
func retryClassOfCut(t fetch.Truncation) RetryClass {
	switch t {
	case fetch.TruncatedDisconnect:
		return RetryReset
	case fetch.TruncatedTime:
		return RetryTimeout
	}
	return ""
}

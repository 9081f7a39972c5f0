package config

// retryExample shows retry.
const retryExample = `retry:
  dns: {retries: 5, delay: 2m}
  status_503: {delay: 5m}
  status_5xx: {retries: 0}
`

// retrySettings say what is asked again after a failure.
var retrySettings = []setting{
	{key: "retries", section: requests, live: true,
		usage: "further attempts after one that may well succeed later",
		at:    func(s *Settings) slot { return one(&s.Retries) },
		check: func(s *Settings) string { return within(s.Retries, 0, maxRetries) },
	},
	{key: "retry_delay", section: requests, live: true,
		usage: "wait before the first retry, doubled for each further one",
		note: "Other pages of the host go on. A host that does not answer, or answers 429 or 503, is left alone as a whole: for 2s, or " +
			"this time if it is shorter, doubled for each such failure in a row, or for its Retry-After.",
		at:    func(s *Settings) slot { return one(&s.RetryDelay) },
		check: func(s *Settings) string { return within(s.RetryDelay, 0, maxRetryDelay) },
	},
	{key: "retry", section: requests, fileOnly: true,
		usage: "what differs for some kinds of failure",
		note: "A mapping of kinds, each with its own retries and delay: dns (the name servers failed), proxy (the proxy failed), dial (no connection), tls " +
			"(the handshake broke off), timeout, reset (the connection ended too soon), status_429, status_503, and status_5xx for " +
			"every other one. What is not said there follows the two settings above: dns has 2 retries at most and three times the " +
			"delay, since name servers that fail do so for a while; proxy, status_429 and status_503 have three times the delay. No wait " +
			"is longer than a day. Example:",
		example: retryExample,
		at:      func(s *Settings) slot { return retryRules(&s.Retry) },
		check:   func(s *Settings) string { return soundRetries(s.Retry) },
	},
	{key: "retry_after_max", section: requests, live: true,
		usage: "cap for the Retry-After of an answer",
		note:  "So long its host is left alone, whatever the status but 2xx.",
		at:    func(s *Settings) slot { return one(&s.RetryAfterMax) },
	},
}

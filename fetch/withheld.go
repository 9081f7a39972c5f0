package fetch

import (
	"bytes"
	"net/http"
	"slices"
)

// withheld stands for a credential in what is kept of a request.
const withheld = "(withheld)"

// secretNames are the fields whose values are kept nowhere, beside those that Config calls secret.
var secretNames = []string{"Authorization", "Cookie", "Proxy-Authorization"}

// namesOfSecrets returns the canonical names of all fields that may hold a credential.
func namesOfSecrets(cfg Config) []string {
	names := slices.Clone(secretNames)
	add := func(fields []Field) {
		for _, f := range fields {
			if f.Secret {
				names = append(names, http.CanonicalHeaderKey(f.Name))
			}
		}
	}
	add(cfg.Fields)
	for _, r := range cfg.Hosts {
		add(r.Fields)
	}
	return names
}

// withoutSecrets returns a copy of a request's head, for whoever keeps it, in which credentials are withheld.
func (c *credentials) withoutSecrets(head []byte) []byte {
	kept := make([]byte, 0, len(head))
	for line := range bytes.Lines(head) {
		name, _, found := bytes.Cut(line, []byte(":"))
		if found && slices.Contains(c.secret, http.CanonicalHeaderKey(string(name))) {
			kept = appendField(kept, string(name), withheld)
			continue
		}
		kept = append(kept, line...)
	}
	return kept
}

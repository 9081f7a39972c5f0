package scope

// Registrable returns the domain that somebody has registered and that a host, with or without a port, is of: by the public
// suffix list, its private part included. ok is false for an address, for a single label and for a public suffix.
func Registrable(host string) (domain string, ok bool) { return registrable(host) }

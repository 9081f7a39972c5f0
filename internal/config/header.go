package config

import (
	"slices"
	"strings"
)

// Header is a field to send with requests. Its value may hold references to secrets, and must where its name says that
// it is one.
type Header struct {
	name  string
	value reference

	plain string // what value stands for
}

// Name returns the field's name as it was written.
func (h Header) Name() string { return h.name }

// Value returns the field's value, in which references are what they stand for.
func (h Header) Value() string { return h.plain }

// Secret reports whether the value is a secret: by its name, or because a reference stands in it. Such a field goes to
// few hosts and into no file.
func (h Header) Secret() bool {
	_, named, _ := newReference(string(h.value))
	return named || namesSecret(h.name)
}

func (Header) parse(text string) (Header, error) {
	const want = "'Name: value', the value in printable characters"
	name, value, found := strings.Cut(text, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !found || name == "" || strings.Trim(name, tokenCharacters) != "" || value == "" {
		return Header{}, &badValue{want: want, got: "another text", secret: true}
	}
	if why, refused := framing(name); refused {
		return Header{}, bad(why, name)
	}
	ref, named, ok := newReference(value)
	switch {
	case namesSecret(name) && !named:
		return Header{}, literalSecret("'" + name + ": ${VARIABLE}' or '" + name + ": @FILE', which name the secret")
	case !ok:
		return Header{}, &badValue{want: "${VARIABLE}, @FILE or printable characters in the value of " + name, got: "others", secret: true}
	}
	h := Header{name: name, value: ref}
	if !named {
		h.plain = value
	}
	return h, nil
}

// framing tells the fields that only the client may set.
func framing(name string) (want string, refused bool) {
	switch strings.ToLower(name) {
	case "user-agent":
		return "user_agent for the name to send", true
	case "host", "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer",
		"transfer-encoding", "upgrade", "proxy-authorization":
		return "a field that does not frame the message or steer the connection", true
	}
	return "", false
}

// namesSecret reports whether a field of that name holds a credential: Authorization, Cookie, X-Api-Key, Private-Token and
// the like. What is wrongly taken for one only has to be written as a reference.
func namesSecret(name string) bool {
	for part := range strings.SplitSeq(strings.ToLower(name), "-") {
		if slices.Contains(secretWords, part) {
			return true
		}
	}
	return false
}

var secretWords = []string{
	"authorization", "auth", "cookie", "cookie2", "token", "secret", "password", "key", "apikey", "credential", "credentials", "session",
}

func (h Header) String() string { return h.name + ": " + string(h.value) }

// Type is the word that stands for a Header in a flag's help.
func (Header) Type() string { return "header" }

func (h *Header) resolve(env []string) (err error) {
	h.plain, err = h.value.resolve(env)
	return err
}

func (h *Header) references() []reference { return []reference{h.value} }

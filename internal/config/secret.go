package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// reference is a text in which secrets are named and not written. ${NAME} in it stands for a variable of the environment;
// a text that is @FILE stands for what that file holds, without the line end behind it. It is kept, rendered and shown as
// it was written, but for FILE, which is made absolute: a crawl may go on from another folder. What it stands for is
// looked up at each start, and is nowhere but in memory.
type reference string

// newReference reads a text. named reports whether it names a secret; ok is false for a ${ that nothing closes, a name
// that no variable can have, and an @ without a file.
func newReference(text string) (r reference, named, ok bool) {
	if file, isFile := strings.CutPrefix(text, "@"); isFile {
		path, err := filepath.Abs(file)
		return reference("@" + path), true, file != "" && err == nil && printable(file)
	}
	rest := variableMark.ReplaceAllLiteralString(text, "")
	return reference(text), rest != text, !strings.Contains(rest, "${") && printable(text)
}

// variableMark is what stands for a variable.
var variableMark = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// resolve returns what the reference stands for. A variable that is empty counts as not set, as everywhere.
func (r reference) resolve(env []string) (string, error) {
	if file, isFile := strings.CutPrefix(string(r), "@"); isFile {
		return secretFile(file)
	}
	var errs []error
	text := variableMark.ReplaceAllStringFunc(string(r), func(mark string) string {
		name := mark[len("${") : len(mark)-len("}")]
		value := lookup(env, name)
		switch {
		case value == "":
			errs = append(errs, fmt.Errorf("the variable %s is not set", name))
		case !printable(value):
			errs = append(errs, fmt.Errorf("the variable %s holds a line end or another control character", name))
		}
		return value
	})
	return text, errors.Join(errs...)
}

// maxSecretBytes is more than any token has, and little enough to refuse another file at once.
const maxSecretBytes = 16 << 10

// secretFile reads a secret. The file may be a pipe, as a shell's <(command) is.
func secretFile(name string) (string, error) {
	in, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxSecretBytes+1))
	if err != nil {
		return "", err
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	switch {
	case len(data) > maxSecretBytes:
		return "", fmt.Errorf("%s: more than %v is no secret", name, Size(maxSecretBytes))
	case text == "":
		return "", fmt.Errorf("%s: the file is empty", name)
	case !printable(text):
		return "", fmt.Errorf("%s: want one line without control characters", name)
	}
	return text, nil
}

// literalSecret is the problem of a secret that is written out. What was written is not shown, nor the line it stands on.
func literalSecret(want string) error {
	return &badValue{want: want, got: "it written out, which the crawl's directory would keep", secret: true}
}

// secretive is a value with references in it.
type secretive interface {
	// resolve looks up what they stand for.
	resolve(env []string) error
	// references returns them.
	references() []reference
}

// secretsIn returns those values among vs that have references.
func secretsIn[T any](vs []T) (found []secretive) {
	for i := range vs {
		if s, ok := any(&vs[i]).(secretive); ok {
			found = append(found, s)
		}
	}
	return found
}

// secrets looks up what all references stand for, and reports those that stand for nothing.
func (l *loader) secrets(env []string) {
	for i := range table {
		d := &table[i]
		from := l.origins[d.key]
		if from.broken {
			continue
		}
		for what, s := range d.secrets(&l.settings) {
			if err := s.resolve(env); err != nil {
				l.problems = append(l.problems, &Error{Key: d.key, Place: from.place, Problem: what + err.Error(), Excerpt: from.excerpt})
			}
		}
	}
}

// secrets goes through the values of a setting that have references. The text says where, as "a.example: auth: ".
func (d *setting) secrets(s *Settings) func(yield func(string, secretive) bool) {
	return func(yield func(string, secretive) bool) {
		at := d.at(s)
		list, isEntries := at.(entryList)
		if !isEntries {
			for _, one := range at.secrets() {
				if !yield("", one) {
					return
				}
			}
			return
		}
		for keys := range list.all() {
			name := strings.Join(keys[0].at.texts(), "")
			for _, k := range keys {
				for _, one := range k.at.secrets() {
					if !yield(name+": "+k.key+": ", one) {
						return
					}
				}
			}
		}
	}
}

// Variables returns the names of the variables that secrets are taken from.
func (s *Settings) Variables() []string {
	var names []string
	for i := range table {
		for _, one := range table[i].secrets(s) {
			for _, r := range one.references() {
				for _, mark := range variableMark.FindAllString(string(r), -1) {
					names = append(names, mark[len("${"):len(mark)-len("}")])
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

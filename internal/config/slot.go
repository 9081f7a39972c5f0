package config

import "strconv"

// slot is the place of one setting in a Settings, whatever its type. Files, variables and flags all write through it,
// and rendering reads through it.
type slot interface {
	// put reads one text. A single setting becomes its value, a list gets it as a further element. Errors are
	// *badValue.
	put(text string) error
	// texts returns what put would read to come to the same value.
	texts() []string
	// Type is the word that stands for a value in a flag's help.
	Type() string
	// clear empties a list, so that another source replaces it. A single setting keeps its value.
	clear()
	isList() bool
	// isOptional reports whether the setting can be absent.
	isOptional() bool
	// choices returns the values of a closed list; nil where the list is open.
	choices() []string
	// secrets returns what of the setting has references to secrets.
	secrets() []secretive
}

// one returns the slot of a single value.
func one[T value[T]](v *T) slot { return single[T]{v: v} }

// many returns the slot of a list.
func many[T value[T]](v *[]T) slot { return list[T]{v: v} }

// ordinary is what most slots are: single, always present, open.
type ordinary struct{}

func (ordinary) clear()               {}
func (ordinary) isList() bool         { return false }
func (ordinary) isOptional() bool     { return false }
func (ordinary) choices() []string    { return nil }
func (ordinary) secrets() []secretive { return nil }

type single[T value[T]] struct {
	ordinary
	v *T
}

func (s single[T]) put(text string) error { return set(s.v, text) }
func (s single[T]) texts() []string       { return []string{(*s.v).String()} }
func (s single[T]) Type() string          { return (*s.v).Type() }

func (s single[T]) secrets() []secretive {
	if one, ok := any(s.v).(secretive); ok {
		return []secretive{one}
	}
	return nil
}

func (s single[T]) isOptional() bool {
	_, can := any(*s.v).(absentable)
	return can
}

func (s single[T]) choices() []string {
	if c, ok := any(*s.v).(chooser); ok {
		return c.choices()
	}
	return nil
}

type list[T value[T]] struct {
	ordinary
	v *[]T
}

func (l list[T]) put(text string) error {
	var element T
	if err := set(&element, text); err != nil {
		return err
	}
	*l.v = append(*l.v, element)
	return nil
}

func (l list[T]) texts() []string {
	var texts []string
	for _, element := range *l.v {
		texts = append(texts, element.String())
	}
	return texts
}

func (list[T]) Type() string {
	var element T
	return element.Type()
}

func (l list[T]) clear()               { *l.v = nil }
func (list[T]) isList() bool           { return true }
func (l list[T]) secrets() []secretive { return secretsIn(*l.v) }

// onOff is the slot of a switch.
type onOff struct {
	ordinary
	v *bool
}

func (o onOff) put(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return bad("true or false", text)
	}
	*o.v = on
	return nil
}

func (o onOff) texts() []string { return []string{strconv.FormatBool(*o.v)} }
func (onOff) Type() string      { return "bool" }

// word is the slot of a text on one line.
type word struct {
	ordinary
	v *string
}

func (w word) put(text string) error {
	if !printable(text) {
		return bad("text without control characters", text)
	}
	*w.v = text
	return nil
}

func (w word) texts() []string { return []string{*w.v} }
func (word) Type() string      { return "text" }

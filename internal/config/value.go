package config

import "fmt"

// value is what a setting's type can do. parse does not look at its receiver: it is the type's reader, and only that
// lets Optional and the slots below find it at compile time.
type value[T any] interface {
	// parse reads what String wrote and whatever else the type accepts. Its error is a *badValue.
	parse(text string) (T, error)
	// String is the value as it stands in a file; parse gives it back.
	String() string
	// Type is the word that stands for the value in a flag's help.
	Type() string
}

// badValue tells of a text that is no value of its type.
type badValue struct {
	want, got string
	secret    bool // neither the text nor the line that it stands on may be shown
}

func bad(want, text string) error {
	if text == "" {
		return &badValue{want: want, got: "nothing"}
	}
	return &badValue{want: want, got: fmt.Sprintf("%.60q", text)}
}

func (b *badValue) Error() string { return "want " + b.want + ", got " + b.got }

// set reads text into v and leaves v alone when it cannot.
func set[T value[T]](v *T, text string) error {
	read, err := (*v).parse(text)
	if err != nil {
		return err
	}
	*v = read
	return nil
}

package config

import "errors"

// unset is how a limit that does not apply is written. In a file null and ~ say the same.
const unset = "none"

// Optional is a limit that may be absent. The zero Optional is absent: there is no limit. A present 0 is the limit 0.
type Optional[T value[T]] struct {
	value   T
	present bool
}

// Some returns a present limit.
func Some[T value[T]](limit T) Optional[T] { return Optional[T]{limit, true} }

// Get returns the limit, and whether there is one.
func (o Optional[T]) Get() (limit T, present bool) { return o.value, o.present }

// Or returns the limit, or absent where there is none.
func (o Optional[T]) Or(absent T) T {
	if o.present {
		return o.value
	}
	return absent
}

// absentable is a type with none among its values.
type absentable interface{ canBeAbsent() }

func (Optional[T]) canBeAbsent() {}

func (Optional[T]) parse(text string) (Optional[T], error) {
	if text == unset {
		return Optional[T]{}, nil
	}
	var zero T
	v, err := zero.parse(text)
	if wrong, ok := errors.AsType[*badValue](err); ok {
		return Optional[T]{}, &badValue{want: wrong.want + ", or " + unset, got: wrong.got, secret: wrong.secret}
	}
	return Some(v), err
}

func (o *Optional[T]) resolve(env []string) error {
	if s, ok := any(&o.value).(secretive); ok && o.present {
		return s.resolve(env)
	}
	return nil
}

func (o *Optional[T]) references() []reference {
	if s, ok := any(&o.value).(secretive); ok && o.present {
		return s.references()
	}
	return nil
}

// String writes the limit, or none.
func (o Optional[T]) String() string {
	if o.present {
		return o.value.String()
	}
	return unset
}

// Type implements pflag.Value.
func (o Optional[T]) Type() string { return o.value.Type() }

// Set implements pflag.Value.
func (o *Optional[T]) Set(text string) error { return set(o, text) }

// UnmarshalText implements encoding.TextUnmarshaler, by which YAML and JSON decoders read an Optional.
func (o *Optional[T]) UnmarshalText(text []byte) error { return set(o, string(text)) }

// MarshalText implements encoding.TextMarshaler.
func (o Optional[T]) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

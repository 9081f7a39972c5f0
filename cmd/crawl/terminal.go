package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// terminalLog writes log records for a person: the message first, what belongs to it in brackets, no time.
type terminalLog struct {
	out   io.Writer
	level slog.Level
	attrs []slog.Attr
}

func (t terminalLog) Enabled(_ context.Context, level slog.Level) bool { return level >= t.level }

func (t terminalLog) Handle(_ context.Context, record slog.Record) error {
	var parts []string
	add := func(a slog.Attr) bool {
		parts = append(parts, fmt.Sprintf("%s: %v", a.Key, a.Value))
		return true
	}
	for _, a := range t.attrs {
		add(a)
	}
	record.Attrs(add)
	line := record.Message
	if record.Level >= slog.LevelWarn {
		line = strings.ToLower(record.Level.String()) + ": " + line
	}
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	_, err := fmt.Fprintln(t.out, line)
	return err
}

func (t terminalLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	t.attrs = append(t.attrs[:len(t.attrs):len(t.attrs)], attrs...)
	return t
}

// WithGroup: nothing here logs in groups, and a person needs none.
func (t terminalLog) WithGroup(string) slog.Handler { return t }

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// console is stderr. On a terminal it keeps one status line at the bottom, under all that is written.
type console struct {
	out      io.Writer
	terminal bool

	mu     sync.Mutex // guards status and the order of writes
	status string
}

func newConsole(out io.Writer) *console { return &console{out: out, terminal: isTerminal(out)} }

const clearLine = "\r\x1b[K"

// Write writes above the status line.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status == "" {
		return c.out.Write(p)
	}
	if _, err := fmt.Fprintf(c.out, "%s%s%s", clearLine, p, c.status); err != nil {
		return 0, err
	}
	return len(p), nil
}

// setStatus shows a line in place of the one before; none for "". It does nothing where nobody looks.
func (c *console) setStatus(line string) {
	if !c.terminal {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = fit(line, c.width())
	fmt.Fprint(c.out, clearLine, c.status)
}

func (c *console) width() int {
	if f, ok := c.out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// fit cuts a line to a terminal's width, so that it can be overwritten.
func fit(line string, width int) string {
	runes := []rune(line)
	if len(runes) < width {
		return line
	}
	return strings.TrimSpace(string(runes[:max(width-2, 0)])) + "…"
}

package vfstest

import (
	"bytes"
	"os"
)

// node is a file or a folder, whatever its name.
type node struct {
	folder *folder // nil: a file
	path   string  // on the real disk; of one that was removed, where it was

	// outside marks a file that is written past the Crash: it is on the real disk as it is durable.
	outside bool

	durable []byte // as of the last sync
	pending []edit // what came after it
	size    int64  // with what is pending
}

// edit is a change of a file: bytes written at a place, or the file cut, or extended, to a length.
type edit struct {
	at   int64
	data []byte
	cut  bool
}

// weight is what an edit counts when a part of all is kept: its bytes.
func (e edit) weight() int {
	if e.cut {
		return 1
	}
	return len(e.data)
}

// split divides an edit after n of its weight.
func (e edit) split(n int) (edit, edit) {
	if e.cut {
		return edit{}, e
	}
	return edit{at: e.at, data: e.data[:n]}, edit{at: e.at + int64(n), data: e.data[n:]}
}

func (e edit) apply(content []byte) []byte {
	if e.cut && e.at <= int64(len(content)) {
		return content[:e.at]
	}
	if !e.cut && len(e.data) == 0 {
		return content
	}
	end := int(e.at) + len(e.data)
	if gap := end - len(content); gap > 0 {
		content = append(content, make([]byte, gap)...)
	}
	copy(content[e.at:], e.data)
	return content
}

// loadNode returns the node of a real file that was not written here yet.
func loadNode(path string) (*node, error) {
	content, err := os.ReadFile(path)
	return &node{path: path, durable: content, size: int64(len(content))}, err
}

// freeze makes a file that is written past the Crash one that is not: it is about to be replaced or removed.
func (n *node) freeze() error {
	if !n.outside {
		return nil
	}
	loaded, err := loadNode(n.path)
	if err == nil {
		*n = *loaded
	}
	return err
}

func (n *node) write(at int64, data []byte) {
	if len(data) > 0 {
		n.pending = append(n.pending, edit{at: at, data: bytes.Clone(data)})
		n.size = max(n.size, at+int64(len(data)))
	}
}

func (n *node) cut(size int64) {
	if size != n.size {
		n.pending = append(n.pending, edit{at: size, cut: true})
		n.size = size
	}
}

func (n *node) sync() {
	for _, e := range n.pending {
		n.durable = e.apply(n.durable)
	}
	n.pending = nil
}

// content is what a power cut leaves of the file. The slice is not the caller's.
func (n *node) content(keep func() float64, torn bool) ([]byte, error) {
	if n.outside {
		return os.ReadFile(n.path)
	}
	if len(n.pending) == 0 {
		return n.durable, nil
	}
	kept, lost := n.divide(keep)
	content := bytes.Clone(n.durable)
	for _, e := range kept {
		content = e.apply(content)
	}
	if torn && len(lost) > 0 {
		content = addRubbish(content, lost, keep)
	}
	return content, nil
}

// divide tells which of the pending edits are kept.
func (n *node) divide(keep func() float64) (kept, lost []edit) {
	all := 0
	for _, e := range n.pending {
		all += e.weight()
	}
	left := part(keep(), all)
	for i, e := range n.pending {
		if e.weight() > left {
			begun, rest := e.split(left)
			return append(kept, begun), append([]edit{rest}, n.pending[i+1:]...)
		}
		kept = append(kept, e)
		left -= e.weight()
	}
	return kept, nil
}

// addRubbish extends content to some of the length that it would have with the lost edits. What is durable stays: a disk
// that tears a sector which was not written is broken.
func addRubbish(content []byte, lost []edit, keep func() float64) []byte {
	whole := bytes.Clone(content)
	for _, e := range lost {
		whole = e.apply(whole)
	}
	more := part(keep(), max(len(whole)-len(content), 0))
	fill := byte(0)
	if more > 0 && keep() >= 0.5 {
		fill = 0xA5
	}
	for i := range more {
		content = append(content, fill*byte(i|1))
	}
	return content
}

// part returns how many of n a number from 0 to 1 stands for: each of the n+1 answers is as likely as any other.
func part(share float64, n int) int { return min(n, int(share*float64(n+1))) }

package sortedrun

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Merged walks several cursors as one, in order. For one goroutine; the cursors are its own until it is no longer used.
//
// It is a tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1): an entry costs one comparison for each
// doubling of the cursors, most of them of the keys' first eight bytes as numbers.
type Merged struct {
	cursors []*Cursor
	heads   []head
	losers  []int32 // by node: the cursor that lost there. Below node n are 2n and 2n+1; cursor i is node len(cursors)+i
	winner  int32
	begun   bool
	last    []byte // key of the present entry
	ahead   func(key []byte)
	err     error
}

// head is where a cursor stands.
type head struct {
	prefix uint64 // first eight bytes of key, big-endian, filled up with zeros; greatest once the cursor has ended
	key    []byte
	ended  bool
}

// Merge walks several cursors as one, in order. Of equal keys the first cursor's entry is the one that is seen: give the
// newest run first.
func Merge(cursors ...*Cursor) *Merged {
	return &Merged{cursors: cursors, heads: make([]head, len(cursors)), losers: make([]int32, len(cursors))}
}

// Ahead has fn called with each key as it is read, which is before its turn: by as many entries as there are cursors, where
// these are alike. fn keeps nothing of it. What an entry needs from memory can be asked for then.
func (m *Merged) Ahead(fn func(key []byte)) { m.ahead = fn }

// Next goes on to the next key. False: there is none, or Err.
func (m *Merged) Next() bool {
	if m.err != nil || len(m.cursors) == 0 {
		return false
	}
	if !m.begun {
		if !m.begin() {
			return false
		}
	} else if !m.step() {
		return false
	}
	w := &m.heads[m.winner]
	if w.ended {
		return false
	}
	m.last = append(m.last[:0], w.key...)
	return true
}

// step leaves the present key, in all cursors that have it.
func (m *Merged) step() bool {
	w := &m.heads[m.winner]
	for !w.ended {
		if !m.advance(m.winner) {
			return false
		}
		m.replay(m.winner)
		if w = &m.heads[m.winner]; !bytes.Equal(w.key, m.last) {
			break
		}
	}
	return true
}

// Key returns the key of the present entry.
func (m *Merged) Key() []byte { return m.heads[m.winner].key }

// Note returns the note of the present entry.
func (m *Merged) Note() []byte { return m.cursors[m.winner].Note() }

// Value returns the value of the present entry.
func (m *Merged) Value() []byte { return m.cursors[m.winner].Value() }

// Source returns which of the cursors the present entry is of.
func (m *Merged) Source() int { return int(m.winner) }

// Err returns why the walk ended early: the error of one of the cursors. A Seek begins anew.
func (m *Merged) Err() error { return m.err }

// Seek goes to before the first key that is not less than key, in all cursors.
func (m *Merged) Seek(key []byte) {
	for _, c := range m.cursors {
		c.Seek(key)
	}
	m.begun, m.err = false, nil
}

// advance goes on in one cursor.
func (m *Merged) advance(i int32) bool {
	c, h := m.cursors[i], &m.heads[i]
	if c.Next() {
		h.key, h.prefix, h.ended = c.block.key, keyPrefix(c.block.key), false
		if m.ahead != nil {
			m.ahead(h.key)
		}
		return true
	}
	m.err = c.err
	*h = head{prefix: math.MaxUint64, ended: true}
	return m.err == nil
}

func keyPrefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// less says whether cursor a's entry comes before cursor b's.
func (m *Merged) less(a, b int32) bool {
	x, y := &m.heads[a], &m.heads[b]
	if x.prefix != y.prefix {
		return x.prefix < y.prefix
	}
	return tiedLess(x, y, a < b)
}

// tiedLess says whether x comes before y, where their prefixes are equal. first: it does where their keys are equal too.
func tiedLess(x, y *head, first bool) bool {
	if x.ended || y.ended {
		return !x.ended
	}
	if c := bytes.Compare(x.key, y.key); c != 0 {
		return c < 0
	}
	return first
}

// begin goes on in every cursor and plays the whole tree.
func (m *Merged) begin() bool {
	m.begun = true
	n := len(m.cursors)
	winners := make([]int32, 2*n)
	for i := range n {
		if !m.advance(int32(i)) {
			return false
		}
		winners[n+i] = int32(i)
	}
	for node := n - 1; node > 0; node-- {
		a, b := winners[2*node], winners[2*node+1]
		if m.less(b, a) {
			a, b = b, a
		}
		winners[node], m.losers[node] = a, b
	}
	m.winner = winners[1]
	return true
}

// replay plays the games on the way from a cursor that has gone on to the root. It is less, written out, that the merge
// spends its time in.
func (m *Merged) replay(i int32) {
	heads, losers := m.heads, m.losers
	w, x := i, &heads[i]
	for node := (len(losers) + int(i)) / 2; node > 0; node /= 2 {
		l := losers[node]
		y := &heads[l]
		if y.prefix > x.prefix || y.prefix == x.prefix && !tiedLess(y, x, l < w) {
			continue
		}
		losers[node], w, x = w, l, y
	}
	m.winner = w
}

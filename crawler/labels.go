package crawler

import (
	"strconv"
	"strings"
	"sync"

	"crawl/store"
)

// labels numbers the labels of seeds, so that a URL carries four bytes instead of a text. Number 0 is no label. Labels
// are few beside URLs: as many as the user wrote.
type labels struct {
	mu     sync.RWMutex // guards all below
	byText map[string]uint32
	texts  []string // texts[n-1] is label n
}

func newLabels() *labels { return &labels{byText: make(map[string]uint32)} }

// number returns the number of a label; fresh says that it was given just now.
func (l *labels) number(text string) (n uint32, fresh bool) {
	if text == "" {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := l.byText[text]; ok {
		return n, false
	}
	l.texts = append(l.texts, text)
	n = uint32(len(l.texts))
	l.byText[text] = n
	return n, true
}

// text returns the label with that number.
func (l *labels) text(n uint32) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if n == 0 || int(n) > len(l.texts) {
		return ""
	}
	return l.texts[n-1]
}

// restore takes back a label that a checkpoint keeps. They come in any order.
func (l *labels) restore(key, text string) {
	n, err := strconv.ParseUint(strings.TrimPrefix(key, labelPrefix), 10, 32)
	if err != nil || n == 0 {
		return // no key of ours
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for uint64(len(l.texts)) < n {
		l.texts = append(l.texts, "")
	}
	l.texts[n-1] = text
	l.byText[text] = uint32(n)
}

// labelNumber returns a label's number, and has the next checkpoint keep a new one.
func (k *committer) labelNumber(text string) uint32 {
	n, fresh := k.labels.number(text)
	if fresh {
		k.rows = append(k.rows, store.Row{Key: labelPrefix + strconv.FormatUint(uint64(n), 10), Value: []byte(text)})
	}
	return n
}

package crawler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"crawl/frontier"
	"crawl/store"
)

// checkRows reads every row of the checkpoint as opening the crawl would.
func (v *verifier) checkRows(context.Context) error {
	if v.twin {
		v.skip("the rows of the checkpoint: they are in state.db")
		return nil
	}
	v.options.Progress("rows", 0, 1)
	sampled := uint64(0)
	err := v.inspection.Rows("", func(key string, value []byte) error {
		prefix, name, _ := strings.Cut(key, "/")
		err := checkRow(prefix+"/", name, value)
		if prefix+"/" == shadowPrefix {
			sampled += uint64(len(value) / 8)
		}
		if err != nil {
			v.found(partRows, v.source(), -1, fmt.Sprintf("the row %s: %v", key, err))
		}
		return nil
	})
	// What the filter was wrong about is lost where the sample was made again from the log.
	if loss := v.books.Loss; err == nil && (sampled > loss.Sampled || sampled < loss.Sampled-min(loss.Sampled, loss.Wrong)) {
		v.found(partRows, v.source(), -1, fmt.Sprintf("the shadow sample has %d hashes, want %d", sampled, loss.Sampled))
	}
	return v.note(err)
}

// checkRow judges a row by its sort. One that this program does not know is left alone.
func checkRow(prefix, name string, value []byte) error {
	switch prefix {
	case hostPrefix:
		var state frontier.HostState
		if err := json.Unmarshal(value, &state); err != nil {
			return err
		}
		if state.Host != name {
			return fmt.Errorf("it is of %s", state.Host)
		}
	case labelPrefix:
		if n, err := strconv.ParseUint(name, 10, 32); err != nil || n == 0 {
			return errors.New("it is no number of a label")
		}
	case addedPrefix:
		_, _, err := Seed{URL: name}.parse()
		return err
	case alikePrefix:
		_, err := readAlikeRow(name, value)
		return err
	case shadowPrefix:
		if len(value)%8 != 0 {
			return errors.New("it is no list of hashes")
		}
	case ledgerPrefix:
		_, err := readLedgerRow(prefix+name, value)
		return err
	case store.MarkPrefix:
		return store.CheckMark(store.Row{Key: prefix + name, Value: value})
	}
	return nil
}

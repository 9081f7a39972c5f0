package main

import (
	"errors"
	"os"
	"path/filepath"

	"crawl/crawler"
	"crawl/store"
)

// configFile is a crawl's config.yaml: the settings in force, for people to read, and to edit between two runs.
//
// A change of a running crawl lies beside it, as config.yaml.next, from before the checkpoint that holds the change until it
// takes the place of config.yaml. A process that is killed in between leaves both, and the checkpoint says which one is true:
// a change that was acknowledged is kept, and one that no checkpoint holds is gone.
type configFile string

func configIn(dir string) configFile { return configFile(filepath.Join(dir, "config.yaml")) }

func (f configFile) next() string { return string(f) + ".next" }

func (f configFile) write(text string) error { return store.WriteWhole(string(f), []byte(text), 0o600) }

// change replaces the settings by others once commit has made a checkpoint of them.
func (f configFile) change(text string, commit func() error) error {
	if err := store.WriteWhole(f.next(), []byte(text), 0o600); err != nil {
		return err
	}
	if err := commit(); err != nil {
		return err // settle knows whether a checkpoint holds it
	}
	return os.Rename(f.next(), string(f))
}

// settle brings a change to its end that a process did not. A file that is gone is made again.
func (f configFile) settle(cut store.Cut) error {
	kept, err := crawler.ReadRendering(cut)
	if err != nil {
		return err
	}
	switch next, err := os.ReadFile(f.next()); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	case string(next) == kept:
		return os.Rename(f.next(), string(f))
	default:
		if err := os.Remove(f.next()); err != nil {
			return err
		}
	}
	if _, err := os.Stat(string(f)); errors.Is(err, os.ErrNotExist) {
		return f.write(kept)
	}
	return nil
}

package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary stands in for the command: it is found in PATH as crawl.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"crawl": main})
}

// withoutSettings is the environment without settings of whoever runs the tests.
func withoutSettings() []string {
	var env []string
	for _, pair := range os.Environ() {
		if len(pair) < 6 || pair[:6] != "CRAWL_" {
			env = append(env, pair)
		}
	}
	return env
}

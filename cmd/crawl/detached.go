package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// detached refuses a value that stands apart from a flag which may go without one: the flag would take its widest meaning,
// and the value would become a seed. line is the command line as it was given.
func detached(cmd *cobra.Command, line []string) error {
	for i, word := range line {
		if word == "--" || i+1 == len(line) {
			return nil
		}
		name, long := strings.CutPrefix(word, "--")
		flag := cmd.Flags().Lookup(name)
		if !long || flag == nil || flag.NoOptDefVal == "" || flag.NoOptDefVal == "true" {
			continue
		}
		if next := line[i+1]; !strings.HasPrefix(next, "-") && !strings.Contains(next, "://") {
			if next == flag.NoOptDefVal {
				return usagef("%s %s: write %s=%s", word, next, word, next)
			}
			return usagef("%s %s: write %s=%s, or %s=%s for all", word, next, word, next, word, flag.NoOptDefVal)
		}
	}
	return nil
}

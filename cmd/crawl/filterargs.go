package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"crawl/internal/config"
)

// wants checks how many arguments a command is given, and says what they are and how it is called.
func wants(check cobra.PositionalArgs, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if check(cmd, given) == nil {
			return nil
		}
		return usagef("filter %s: want %s: %s %s", cmd.Name(), what, cmd.Parent().CommandPath(), cmd.Use)
	}
}

// fromInput is the check of a command whose lines come from standard input: what it is given is a file that it should
// have been fed.
func fromInput(cmd *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	line := cmd.CommandPath()
	cmd.Flags().Visit(func(f *pflag.Flag) { line += " " + flagWord(f) })
	if out := cmd.Flags().Lookup("output"); out != nil && !out.Changed {
		line += " -o x.filter"
	}
	if len(given) == 1 {
		line += " < " + given[0]
	} else {
		line = "cat " + strings.Join(given, " ") + " | " + line
	}
	return usagef("filter %s: lines come from standard input: %s", cmd.Name(), line)
}

// flagWord writes a flag as it was given.
func flagWord(f *pflag.Flag) string {
	switch {
	case f.Value.Type() == "bool":
		return "--" + f.Name
	case f.Name == "output":
		return "-o " + f.Value.String()
	}
	return "--" + f.Name + " " + f.Value.String()
}

// onlyFlags is the check of `filter size`: a number that is given alone belongs to a flag.
func onlyFlags(cmd *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	flag := "--items"
	if isItems := new(config.Count).Set(given[0]) == nil; !isItems {
		flag = "--fp"
		if err := new(config.Rate).Set(given[0]); err != nil {
			return usagef("filter size: takes no %q, flags only: %s %s", given[0], cmd.Parent().CommandPath(), cmd.Use)
		}
	}
	return usagef("filter size: %s is to stand behind its flag: %s %s", given[0], flag, given[0])
}

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// dirArgument stands for the crawl's directory in the usage of commands that need not be told it.
const dirArgument = "[DIR]"

// flagError says of a flag that cannot be read which one it is, and what is wanted.
func flagError(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag, cause := wrong.GetFlag(), wrong.Unwrap()
		switch flag.Value.Type() {
		case "bool":
			return usagef("--%s: want true or false, got %.60q", flag.Name, wrong.GetValue())
		case "int", "uint64":
			return usagef("--%s: want a whole number, got %.60q", flag.Name, wrong.GetValue())
		}
		return usagef("--%s: %w", flag.Name, cause)
	}
	hint := fmt.Sprintf("see %s --help", cmd.CommandPath())
	unknown, isUnknown := errors.AsType[*pflag.NotExistError](err)
	if isUnknown && strings.Contains(cmd.Use, dirArgument) && slices.Contains([]string{"dir", "d"}, unknown.GetSpecifiedName()) {
		// It is of run alone, which has seeds where others have their directory.
		hint = "the crawl's directory stands by itself: " + cmd.CommandPath() + " DIR ..."
	}
	return usagef("%w (%s)", err, hint)
}

// refuseEmpty refuses flags that were given an empty text. A script's variable that is not set would otherwise turn into
// another command: one without that flag.
func refuseEmpty(cmd *cobra.Command) error {
	var errs []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			texts := list.GetSlice()
			empty = len(texts) == 0 || slices.Contains(texts, "")
		}
		if empty && f.Name != "content-type" { // which an answer may lack
			errs = append(errs, fmt.Errorf("--%s: want a value, got nothing", f.Name))
		}
	})
	if err := errors.Join(errs...); err != nil {
		return &usageError{err}
	}
	return nil
}

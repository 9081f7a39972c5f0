package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

func (a figures) print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 1, ' ', 0)
	if len(a.Costs) > 0 {
		fmt.Fprintf(w, "%d keys, ns a key and (ratio to the first of the comparison, its bar)\n\n", a.Items)
		fmt.Fprintln(w, "| comparison\t| fp\t| filter\t| seen\t| new\t| bits/key\t| wrong yes\t| allocations\t| bars\t|")
		fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
		for _, f := range a.Costs {
			fmt.Fprintf(w, "| %s\t| %g%%\t| %s\t| %v\t| %v\t| %.2f\t| %.4f%%\t| %d\t| %s\t|\n", f.Race, f.Rate*100, f.Subject, f.Seen, f.New,
				f.Bits, f.WrongYes*100, f.Mallocs, verdict(f.Seen.met() && f.New.met()))
		}
	}
	if len(a.Chains) > 0 {
		fmt.Fprintln(w, "\n| chain from\t| fp\t| keys\t| layers\t| error, of fp\t| Rate, of fp\t| bits/key of full layers\t| bits/key in all\t| new, ns\t| as one layer: bits/key\t| error, of fp\t| ns a key\t| bars\t|")
		fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
		for _, g := range a.Chains {
			fmt.Fprintf(w, "| %d\t| %g%%\t| %d\t| %d\t| %.3f\t| %.3f\t| %.2f (%g)\t| %.1f\t| %.0f\t| %s\t| %s\t|\n", g.First, g.Rate*100, g.Keys, g.Layers,
				g.Measured, g.Says, g.Full, g.FullBar, g.Bits, g.New, g.compacted(), verdict(g.met()))
		}
	}
	if l := a.Load; l != nil {
		fmt.Fprintln(w, "\n| saved keys\t| MB\t| read cold, s\t| at most\t| CPU, s\t| the file alone, s\t| bars\t|")
		fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
		fmt.Fprintf(w, "| %d\t| %.0f\t| %.2f\t| %g\t| %.2f\t| %.2f\t| %s\t|\n", l.Keys, float64(l.Bytes)/1e6, l.Wall, l.WallBar, l.CPU, l.Floor, verdict(l.met()))
	}
	if len(a.Dedups) > 0 {
		fmt.Fprintln(w, "\n| program\t| lines\t| printed\t| CPU, s (ratio, bar)\t| peak, MiB (ratio, bar)\t| bars\t|")
		fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|")
		for _, d := range a.Dedups {
			fmt.Fprintf(w, "| %s\t| %d\t| %d\t| %.1f%s\t| %.0f%s\t| %s\t|\n", d.Program, d.Lines, d.Kept,
				d.CPU, against(d.CPURatio, d.CPUBar), d.MiB, against(d.MemoryRatio, d.MemoryBar), verdict(d.met()))
		}
	}
	return w.Flush()
}

func (c cost) String() string {
	if c.Bar == 0 {
		return fmt.Sprintf("%.1f", c.Nanoseconds)
	}
	return fmt.Sprintf("%.1f (%.2f, %.2f)", c.Nanoseconds, c.Ratio, c.Bar)
}

// against writes a ratio and its bar, as far as there are such.
func against(ratio, bar float64) string {
	switch {
	case ratio == 0:
		return ""
	case bar == 0:
		return fmt.Sprintf(" (%.2f)", ratio)
	default:
		return fmt.Sprintf(" (%.2f, %g)", ratio, bar)
	}
}

func (g growth) compacted() string {
	if g.Compact == 0 {
		return "\t| \t| "
	}
	return fmt.Sprintf("%.1f\t| %.3f\t| %.0f", g.OneLayer, g.OneError, g.Compact)
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

package config

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"
)

// Load returns the settings for a new crawl: the defaults, then the file, then the environment (as os.Environ gives
// it), then the flags, which Register has added. An empty file name and nil flags are left out. The error joins an
// *Error for every problem, or says that the file cannot be read; there are no settings then.
func Load(file string, env []string, flags *pflag.FlagSet) (Settings, error) {
	l := newLoader()
	l.files(file)
	l.environment(env)
	l.flags(flags)
	l.judge()
	l.secrets(env)
	return l.result()
}

// Resume returns the settings to go on with a crawl. stored is the file that Render wrote for it; file, environment and
// flags go over it as in Load. What the crawl's state is built on may be said again, but not changed.
func Resume(stored, file string, env []string, flags *pflag.FlagSet) (Settings, error) {
	l, before := again(stored, file, env, flags)
	l.compare(&before)
	return l.result()
}

// Rebuild is Resume for a crawl whose filter is made again: what that is built on may change as well.
func Rebuild(stored, file string, env []string, flags *pflag.FlagSet) (Settings, error) {
	l, _ := again(stored, file, env, flags)
	return l.result()
}

// again gathers the settings to go on with, and returns those that were stored too.
func again(stored, file string, env []string, flags *pflag.FlagSet) (l *loader, before Settings) {
	l = newLoader()
	l.files(stored)
	before = l.settings
	l.files(file)
	l.environment(env)
	l.flags(flags)
	l.judge()
	l.secrets(env)
	return l, before
}

// loader gathers settings, and the problems met on the way.
type loader struct {
	settings Settings
	origins  map[string]origin // by key, of every setting that some source has set
	problems []error
}

// origin is where a setting's value came from.
type origin struct {
	place, excerpt string
	broken         bool // a text of it could not be read, so the value is not what was meant
}

func newLoader() *loader {
	return &loader{settings: Default(), origins: map[string]origin{}}
}

// item is one text that some source has for a setting.
type item struct {
	text    string
	place   string
	excerpt string
}

// apply sets a setting from all that one source says about it. A list is replaced, not extended.
func (l *loader) apply(d *setting, from origin, items []item) {
	at := d.at(&l.settings)
	at.clear()
	for _, it := range items {
		if err := at.put(it.text); err != nil {
			l.problems = append(l.problems, &Error{Key: d.key, Place: it.place, Problem: err.Error(), Excerpt: shown(err, it.excerpt)})
			from.broken = true
		}
	}
	l.origins[d.key] = from
}

// shown returns the excerpt that an error may come with: none, where a secret stands in it.
func shown(err error, excerpt string) string {
	if wrong, ok := errors.AsType[*badValue](err); ok && wrong.secret {
		return ""
	}
	return excerpt
}

// judge tests what came out. A setting whose text could not be read is reported already.
func (l *loader) judge() {
	for i := range table {
		l.report(&table[i], table[i].wanted(&l.settings))
	}
}

// compare reports settings that a resumed crawl cannot change.
func (l *loader) compare(before *Settings) {
	for i := range table {
		d := &table[i]
		was, is := d.at(before).texts(), d.at(&l.settings).texts()
		if d.fixed != "" && !slices.Equal(was, is) {
			l.report(d, was[0]+", which the crawl was started with ("+d.fixed+")")
		}
	}
}

// report adds the problem that a setting is not as wanted, unless nothing is wanted or its text is reported already.
func (l *loader) report(d *setting, want string) {
	from := l.origins[d.key]
	if want == "" || from.broken {
		return
	}
	problem := d.problem(from.place, want, &l.settings)
	problem.Excerpt = from.excerpt
	l.problems = append(l.problems, problem)
	from.broken = true
	l.origins[d.key] = from
}

func (l *loader) result() (Settings, error) {
	if len(l.problems) > 0 {
		return Settings{}, errors.Join(l.problems...)
	}
	return l.settings, nil
}

package config

import (
	"reflect"
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

// live returns the changes that a command line asks for.
func live(t *testing.T, args ...string) Changes {
	t.Helper()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	RegisterLive(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return GivenLive(fs)
}

func TestChange(t *testing.T) {
	for _, tt := range []struct {
		name  string
		args  []string
		set   func(*Settings)
		want  []Changed
		flags []string
	}{
		{"nothing", nil, func(*Settings) {}, nil, nil},
		{"several, in the order of a file", []string{"--delay=2s", "--max-pages=none", "--concurrency", "64"}, func(s *Settings) {
			s.MaxPages, s.Concurrency, s.HostDelay = Optional[Count]{}, 64, Duration(2e9)
		}, []Changed{{"max_pages", "5", "none"}, {"concurrency", "16", "64"}, {"host_delay", "1s", "2s"}},
			[]string{"--max-pages", "--concurrency", "--host-delay"}},
		{"what is so already", []string{"--retries=3"}, func(*Settings) {}, nil, []string{"--retries"}},
		{"the last one counts", []string{"--retries=7", "--retries=8"}, func(s *Settings) { s.Retries = 8 },
			[]Changed{{"retries", "3", "8"}}, []string{"--retries"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, want := Default(), Default()
			before.MaxPages, want.MaxPages = Some[Count](5), Some[Count](5)
			tt.set(&want)
			given := live(t, tt.args...)
			got, changed, err := before.Change(given)
			if err != nil || !reflect.DeepEqual(got, want) || !slices.Equal(changed, tt.want) {
				t.Errorf("got %+v, changed %v, %v", got, changed, err)
			}
			if flags := given.Flags(); !slices.Equal(flags, tt.flags) {
				t.Errorf("flags %v, want %v", flags, tt.flags)
			}
			if before.MaxPages != Some[Count](5) {
				t.Error("the settings before have changed")
			}
		})
	}
}

func TestChangeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		to   Changes
		want string
	}{
		{"bad value", live(t, "--delay=soon"), `--host-delay: want a time with its unit, such as 1s, 1m30s or 250ms, got "soon"`},
		{"out of range", live(t, "--concurrency=0"), "--concurrency: want from 1 to 65536, got 0"},
		{"not while it runs", Changes{"per_ip": {"true"}}, "per_ip: cannot change while a crawl runs"},
		{"no setting", Changes{"weather": {"fine"}}, "weather: cannot change while a crawl runs"},
		{"no text", Changes{"max_pages": {""}}, "--max-pages: want a whole number such as 500, 200k or 1.5M, or none, got nothing"},
		{"no texts", Changes{"retries": nil, "max_pages": {"1"}}, ""},
		{"two problems", Changes{"weather": {"fine"}, "retries": {"101"}}, "weather: cannot change while a crawl runs\n--retries: want from 0 to 100, got 101"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Default().Change(tt.to)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// Each setting that can change while a crawl runs is one value: a change of it can be told in a line.
func TestLiveSettingsAreSingle(t *testing.T) {
	for i := range table {
		if d := &table[i]; d.live && (d.fileOnly || d.fixed != "" || d.at(new(Settings)).isList()) {
			t.Errorf("%s is a list, fixed, or for files alone", d.key)
		}
	}
}

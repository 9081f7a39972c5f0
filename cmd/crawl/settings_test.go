package main

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"crawl/frontier"
	"crawl/internal/config"
)

// loaded returns what the crawler takes of a file of settings.
func loaded(t *testing.T, text string) config.Settings {
	t.Helper()
	name := filepath.Join(t.TempDir(), "crawl.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := config.Load(name, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLimitsReachTheCrawler(t *testing.T) {
	cfg, err := crawlConfig(loaded(t, `
max_bytes: 1Gi
max_pages_per_host: 5
max_bytes_per_host: 1Mi
per_ip: true
min_free: 2Gi
max_hosts: 7
max_tasks: 8
`))
	if err != nil {
		t.Fatal(err)
	}
	got := []any{*cfg.MaxBytes, cfg.Frontier.MaxHostPages, cfg.Frontier.MaxHostBytes, cfg.Frontier.PerIP, cfg.Store.MinFreeBytes,
		cfg.Frontier.MaxHosts, cfg.Frontier.MaxTasks}
	if want := []any{uint64(1 << 30), uint64(5), uint64(1 << 20), true, int64(2 << 30), 7, 8}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	cfg, err = crawlConfig(config.Default())
	if err != nil || cfg.MaxBytes != nil || cfg.Frontier.MaxHostPages != 0 || cfg.Frontier.MaxHostBytes != 0 || cfg.Frontier.Overrides != nil {
		t.Errorf("got %+v, %v, want no limits", cfg, err)
	}
}

func TestHostsReachTheFrontier(t *testing.T) {
	cfg, err := crawlConfig(loaded(t, `hosts:
  - {pattern: A.example, delay: 0, concurrency: 3, robots: ignore, max_pages: 0, max_bytes: 1Mi}
  - {pattern: '*.example', robots: obey, max_pages: none, max_bytes: none}
  - {pattern: '*', cookies: on}
`))
	want := []frontier.Override{
		{Pattern: "a.example", HostDelay: new(time.Duration(0)), HostConcurrency: new(3), IgnoreRobots: new(true),
			MaxPages: new(uint64(0)), MaxBytes: new(uint64(1 << 20))},
		{Pattern: "*.example", IgnoreRobots: new(false), MaxPages: new(uint64(math.MaxUint64)), MaxBytes: new(uint64(math.MaxUint64))},
		{Pattern: "*"},
	}
	if err != nil || !reflect.DeepEqual(cfg.Frontier.Overrides, want) {
		t.Errorf("got %+v, %v, want %+v", cfg.Frontier.Overrides, err, want)
	}
}

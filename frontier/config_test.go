package frontier

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestZeroConfigIsTheDefault(t *testing.T) {
	if got := (Config{}).resolved(); !reflect.DeepEqual(got, Default()) {
		t.Errorf("%+v, want %+v", got, Default())
	}
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
	none := Config{
		HostDelay: None, DelayFactor: None, MaxCrawlDelay: None, RobotsTTL: None, RobotsDeadline: None, BackoffBase: None,
		BackoffMax: None, MaxRetryAfter: None, GiveUpAfter: None, MaxIdleHosts: None, MaxHosts: 1, MaxTasks: 1,
		MaxRulesBytes: 1,
	}
	if err := none.Validate(); err != nil {
		t.Error(err)
	}
	if got, want := none.resolved(), (Config{HostConcurrency: 1, MaxHosts: 1, MaxTasks: 1, MaxRulesBytes: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestValidate(t *testing.T) {
	const bad = -5 * time.Second
	err := Config{
		HostDelay: bad, DelayFactor: math.NaN(), MaxCrawlDelay: bad, HostConcurrency: -2, RobotsTTL: bad, RobotsDeadline: bad,
		BackoffBase: bad, BackoffMax: 2 * bad, MaxRetryAfter: bad, GiveUpAfter: -2, MaxIdleHosts: -2,
		MaxHosts: -1, MaxTasks: -1, MaxRulesBytes: -1,
	}.Validate()
	if err == nil {
		t.Fatal("valid")
	}
	for _, key := range []string{
		"host_delay", "delay_factor", "max_crawl_delay", "host_concurrency", "robots_ttl", "robots_deadline", "backoff_base",
		"backoff_max", "max_retry_after", "give_up_after", "max_idle_hosts", "max_hosts", "max_tasks",
	} {
		if !strings.Contains("\n"+err.Error(), "\n"+key+": want ") {
			t.Errorf("%s is not named:\n%v", key, err)
		}
	}
	if f, err := New(Config{HostDelay: bad}); f != nil || err == nil || err.Error() != "host_delay: want 0s or more, got -5s" {
		t.Errorf("New: %v", err)
	}
	if _, err := New(Config{BackoffBase: time.Hour}); err == nil || err.Error() != "backoff_max: want at least backoff_base (1h0m0s), got 10m0s" {
		t.Errorf("New: %v", err)
	}
}

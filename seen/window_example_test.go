package seen_test

import (
	"fmt"
	"log"
	"time"

	"crawl/seen"
)

// Reports are kept for ninety days. One that comes again meanwhile is a duplicate; afterwards it is news.
func ExampleWindow() {
	now := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	reports, err := seen.NewWindow(seen.WindowConfig{
		Config: seen.Config{ExpectedItems: 100_000},
		Span:   90 * 24 * time.Hour,
		Now:    func() time.Time { return now },
	})
	if err != nil {
		log.Fatal(err)
	}
	report := reports.HashString("disk full on db3")
	for _, days := range []int{0, 1, 90, 102} {
		now = time.Date(2025, 3, 1+days, 0, 0, 0, 0, time.UTC)
		was, _ := reports.TestAndAdd(report)
		fmt.Printf("day %3d: duplicate %v\n", days, was)
	}
	// Output:
	// day   0: duplicate false
	// day   1: duplicate true
	// day  90: duplicate true
	// day 102: duplicate false
}

// What keeps coming stays quiet for as long as it does: Add renews its age.
func ExampleWindow_Add() {
	now := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	alarms, err := seen.NewWindow(seen.WindowConfig{Span: 24 * time.Hour, Now: func() time.Time { return now }})
	if err != nil {
		log.Fatal(err)
	}
	alarm := []uint64{alarms.HashString("disk full on db3")}
	for _, hours := range []int{0, 20, 20, 20, 28} {
		now = now.Add(time.Duration(hours) * time.Hour)
		has, _ := alarms.Has(alarm[0])
		alarms.Add(alarm)
		fmt.Println(has)
	}
	// Output:
	// false
	// true
	// true
	// true
	// false
}

// Links are followed once a second page has them.
func ExampleWindow_secondSight() {
	firstSights, err := seen.NewWindow(seen.WindowConfig{Span: 24 * time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	for _, link := range []string{"https://a.example/", "https://b.example/", "https://a.example/"} {
		second, _ := firstSights.TestAndAdd(firstSights.HashString(link))
		fmt.Println(link, second)
	}
	// Output:
	// https://a.example/ false
	// https://b.example/ false
	// https://a.example/ true
}

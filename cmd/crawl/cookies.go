package main

import (
	"errors"
	"fmt"
	"os"

	"crawl/crawler"
	"crawl/fetch"
	"crawl/internal/config"
)

// maxNamedLines is how many bad lines of a file of cookies are named one by one.
const maxNamedLines = 10

// loadCookies reads the file of cookies, if one is set. Lines that hold none are named and passed over.
func (s *session) loadCookies(settings config.Settings, cfg *crawler.Config) error {
	file, some := settings.LoadCookies.Get()
	if !some {
		return nil
	}
	in, err := os.Open(string(file))
	if err != nil {
		return &usageError{fmt.Errorf("load_cookies: %w", err)}
	}
	defer in.Close()
	bad := 0
	for c, err := range fetch.ReadCookies(in) {
		_, passedOver := errors.AsType[*fetch.CookieLineError](err)
		switch {
		case passedOver:
			if bad++; bad <= maxNamedLines {
				s.log.Warn("a line of the file of cookies is passed over", "file", string(file), "err", err)
			}
		case err != nil:
			return &usageError{fmt.Errorf("load_cookies: %s: %w", file, err)}
		default:
			cfg.Fetch.LoadedCookies = append(cfg.Fetch.LoadedCookies, c)
		}
	}
	if bad > 0 && len(cfg.Fetch.LoadedCookies) == 0 {
		return usagef("load_cookies: %s holds no cookie: want a cookies.txt, as browsers and curl write it", file)
	}
	if bad > maxNamedLines {
		s.log.Warn("more lines of the file of cookies are passed over", "file", string(file), "lines", bad-maxNamedLines)
	}
	return nil
}

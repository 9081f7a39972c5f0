package fetch_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"crawl/canon"
	"crawl/fetch"
)

func ExampleClient_Fetch() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
			return
		}
		io.WriteString(w, "welcome")
	}))
	defer site.Close()
	client, err := fetch.New(fetch.Config{
		UserAgent:    "examplebot/1.0",
		Contact:      "bot@example.com",
		AllowPrivate: []string{"127.0.0.1"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	for _, path := range []string{"/old", "/new"} {
		u, err := canon.Parse(site.URL + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		res, err := client.Fetch(context.Background(), fetch.Request{URL: u})
		if err != nil {
			fmt.Println(err)
			return
		}
		if to, ok := res.Location(); ok {
			fmt.Println(res.Status, "to", to)
		} else {
			fmt.Println(res.Status, string(res.Body))
		}
		res.Release()
	}
	// Output:
	// 301 to /new
	// 200 welcome
}

func ExampleRobots_Test() {
	robots, err := fetch.ParseRobots(strings.NewReader("User-agent: *\nDisallow: /private/\nCrawl-delay: 2\n"), "examplebot")
	if err != nil {
		fmt.Println(err)
		return
	}
	u, err := canon.Parse("https://site.example/private/page")
	if err != nil {
		fmt.Println(err)
		return
	}
	d := robots.Test(u)
	fmt.Println(d.Allowed, d.Line, d.Rule)
	// Output: false 2 Disallow: /private/
}

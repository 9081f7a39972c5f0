// Package testweb is a web on one loopback port that knows what a right crawl of it is.
//
// Everything is a function of Config: hosts, links, bodies, redirects, robots.txt and the list of what a polite crawler
// fetches. That list, Site.Expected, comes from the plan of the web and never from its pages, so a crawler is judged by
// something it had no part in. The price is that the web knows only what its plan has: it holds what servers and pages
// rightly do, however odd. Servers that lie, stall or break the protocol are in package hostile.
//
//	Seeds() ── http://www00.test/      www01.test ... www04.test      each host introduces four more
//	              │ slot 0
//	      ┌───────┼────────┬─────────────┐
//	   slot 1   slot 2   slot 3        slot 4         a slot is a number and a URL: /p/3.html, /caf%C3%A9/3, ...
//	              │
//	      ┌───────┼────────┬─────────────┐            this tree alone makes every slot reachable; a page has
//	   slot 9   slot 10  slot 11       slot 12        some 60 links more, to slots that are reachable anyway
//	   page     redirect disallowed    unlinked
//	            → a page (never asked) (sitemap only)
//
// A slot has a kind (slot.go): four in five are pages, the others are redirects, errors, copies, files, or URLs that
// robots.txt forbids. Only pages and framesets introduce further slots, so nothing hangs on a slot that a crawl may skip.
// The link that introduces a slot is written in any of the ways that browsers understand (spell.go, markup.go): a crawler
// that misses a way misses what lies behind it. Decoys are links in comments, scripts and other places where they are none.
//
// A server (serve.go) keeps a journal of what it was asked. Site.Check compares a crawl's own list, or the journal's,
// with Expected:
//
//	site, err := testweb.New(testweb.Config{Seed: 1, Hosts: 20, PagesPerHost: 50})
//	server, err := site.Start()
//	// crawl site.Seeds() with --connect-to server.ConnectTo()
//	report := site.Check(server.Journal().Fetched())
//
// Hosts are www00.test, www01.test and so on, all at the server's one address; URLs carry no port. A client that cannot
// be told where to connect may use the server as its HTTP proxy.
package testweb

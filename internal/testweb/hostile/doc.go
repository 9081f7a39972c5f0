// Package hostile is a web of servers that lie, stall, flood and break the protocol, each in one way that has a name.
//
// A Behaviour says what one server does and what a right crawler makes of it: the outcome, the kind and the phase of the
// failure, how often it asks at most. Server runs them, each on a port of its own, since some misbehave before they could
// know which host is meant; and it counts what was asked, how long a client let itself be held, what it let itself be
// sent, and which connections it left open. The hosts are NAME.test, so that a failure names the behaviour:
//
//	server, err := hostile.Start(hostile.Short())
//	// crawl the seeds of server.Behaviours() with --connect-to each of server.ConnectTo(), trusting server.Root()
//	for _, b := range server.Behaviours() { ... b.Want, b.Also, server.Asked(b.Name) }
//
// What is wanted holds for the limits that the server was started with: Short ones, by which a stalled server costs a test
// seconds, or the Usual. Where the
// order of two machines' steps decides, as with a reset that may meet the request or the wait for its answer, a want names
// all that may be. The price: it is written on bare connections, answers no more than a crawler asks, and knows one
// machine: what real networks do to packets is not in it.
package hostile

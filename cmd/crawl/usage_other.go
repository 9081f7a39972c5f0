//go:build !unix

package main

// usage: this system has no getrusage.
func usage() usageFigures { return usageFigures{} }

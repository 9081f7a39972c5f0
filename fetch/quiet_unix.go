//go:build unix

package fetch

import (
	"net"
	"syscall"
)

// socketProbe returns a function that reports whether nc is open with nothing to read, without waiting. It is made once a
// connection, so that asking costs no memory.
func socketProbe(nc net.Conn) (quiet func() bool) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return func() bool { return true }
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return func() bool { return false }
	}
	var b [1]byte
	var readErr error
	read := func(fd uintptr) { _, readErr = syscall.Read(int(fd), b[:]) } // the socket does not block
	return func() bool { return raw.Control(read) == nil && readErr == syscall.EAGAIN }
}

//go:build !unix

package fetch

import "net"

// socketProbe cannot look without waiting here: a connection that the server has closed is found by the request on it
// failing, which is then sent again.
func socketProbe(net.Conn) (quiet func() bool) { return func() bool { return true } }

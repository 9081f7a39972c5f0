//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package seen

func preferLargePages([]byte) {}

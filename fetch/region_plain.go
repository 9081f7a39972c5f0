//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package fetch

const mapNoReserve = 0

func smallPages([]byte) {}

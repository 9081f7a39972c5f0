package fetch

import "syscall"

const mapNoReserve = syscall.MAP_NORESERVE

// smallPages keeps the system from using 2 MiB at the first byte: the budget counts by the byte. A kernel without huge
// pages refuses, and has no need of it.
func smallPages(region []byte) { _ = syscall.Madvise(region, syscall.MADV_NOHUGEPAGE) }

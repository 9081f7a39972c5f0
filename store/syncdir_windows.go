package store

// ignoreUnsupported: Windows cannot sync a directory handle; its metadata journal keeps names.
func ignoreUnsupported(error) error { return nil }

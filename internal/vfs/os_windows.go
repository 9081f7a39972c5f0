package vfs

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// cannotSyncDir: Windows cannot sync the handle of a folder; its metadata journal keeps names.
func cannotSyncDir(error) bool { return true }

func free(name string) (uint64, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, &fs.PathError{Op: "free", Path: name, Err: err}
	}
	var available uint64
	if err := windows.GetDiskFreeSpaceEx(path, &available, nil, nil); err != nil {
		return 0, &fs.PathError{Op: "free", Path: name, Err: err}
	}
	return available, nil
}

package config

import "path/filepath"

// File names a file, which is made absolute: a crawl may go on from another folder.
type File string

func (File) parse(text string) (File, error) {
	path, err := filepath.Abs(text)
	if text == "" || err != nil || !printable(text) {
		return "", bad("the name of a file", text)
	}
	return File(path), nil
}

func (f File) String() string { return string(f) }

// Type is the word that stands for a File in a flag's help.
func (File) Type() string { return "file" }

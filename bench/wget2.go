package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
)

const wget2Name = "wget2"

// wget2 takes the web's server as its HTTP proxy: the names of the web's hosts need no resolving, and the server answers
// either way at the same price. It stays on the hosts of its seeds, as crawl does; robots.txt it obeys by default.
func (g *rig) wget2(ctx context.Context) (subject, error) {
	binary, err := exec.LookPath("wget2")
	if err != nil {
		return subject{}, fmt.Errorf("%s: %w, left out (in Debian: apt install wget2)", wget2Name, errAbsent)
	}
	out, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return subject{}, fmt.Errorf("version: %w", err)
	}
	version, _, _ := bytes.Cut(out, []byte("\n"))
	return subject{
		name: wget2Name, version: string(version), exits: []int{0, 8}, // 8: some answer was an error, as a 404
		command: func(addr, _ string) []string {
			return []string{
				binary, "--config=", "--quiet", "--recursive", "--level=inf", "--max-threads=" + strconv.Itoa(g.concurrency),
				"--http-proxy=http://" + addr,
				"--delete-after",                // nothing is written
				"--ignore-tags=img,link,script", // navigation alone, as crawl
				"--input-file=" + g.seeds,
			}
		},
	}, nil
}

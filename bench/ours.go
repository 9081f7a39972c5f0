package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

const (
	oursName     = "crawl"
	buildTimeout = 10 * time.Minute
)

// ours is crawl with its default settings, apart from the delay. It keeps its page records on disk, synced at each
// checkpoint, as it always does; the peers keep nothing.
func (g *rig) ours(ctx context.Context) (subject, error) {
	binary, version, err := g.binary(ctx)
	return subject{
		name: oursName, version: version, exits: []int{0},
		command: func(addr, dir string) []string {
			return []string{
				binary, "run", "--seeds", g.seeds, "--dir", filepath.Join(dir, "web.crawl"), "--delay", "0",
				"--concurrency", strconv.Itoa(g.concurrency), "--connect-to", "::" + addr,
			}
		},
	}, err
}

// binary returns the crawl to run, building it if none is given.
func (g *rig) binary(ctx context.Context) (path, version string, err error) {
	if g.crawl != "" {
		path, err = filepath.Abs(g.crawl)
		return path, g.crawl, err
	}
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	path = filepath.Join(g.dir, "crawl")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/crawl")
	cmd.Dir = g.source
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", "", fmt.Errorf("build: %w", err)
	}
	return path, "built from " + g.source, nil
}

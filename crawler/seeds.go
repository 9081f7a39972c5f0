package crawler

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"crawl/canon"
	"crawl/store"
)

// A Seed is where a crawl starts.
type Seed struct {
	URL   string // a bare host is taken as https, and as http when that gives no answer
	Label string // kept with every page that descends from this seed; may be empty
	Line  int    // where it came from, for messages; 0: not from a file
}

// ErrNoSeed: not one of the seeds can be used.
var ErrNoSeed = errors.New("no usable seed")

// A SeedError names a seed that cannot be used; the others are.
type SeedError struct {
	Seed Seed
	Err  error
}

func (e *SeedError) Error() string {
	if e.Seed.Line > 0 {
		return fmt.Sprintf("seed on line %d: %v", e.Seed.Line, e.Err)
	}
	return fmt.Sprintf("seed %q: %v", e.Seed.URL, e.Err)
}

func (e *SeedError) Unwrap() error { return e.Err }

// maxSeedLine bounds a line of a seed file, in bytes.
const maxSeedLine = 1 << 20

// ReadSeeds reads one seed a line: a URL, and after a tab its label. Blank lines, lines that start with #, carriage
// returns and a byte order mark are passed over. An error ends the sequence.
func ReadSeeds(r io.Reader) iter.Seq2[Seed, error] {
	return func(yield func(Seed, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxSeedLine)
		for n := 1; lines.Scan(); n++ {
			text := lines.Text()
			if n == 1 {
				text = strings.TrimPrefix(text, "\ufeff")
			}
			seed, ok := parseSeedLine(text)
			if !ok {
				continue
			}
			seed.Line = n
			if !yield(seed, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Seed{}, fmt.Errorf("read seeds: %w", err))
		}
	}
}

func parseSeedLine(text string) (Seed, bool) {
	url, label, _ := strings.Cut(text, "\t")
	url = strings.TrimSpace(url)
	if url == "" || strings.HasPrefix(url, "#") {
		return Seed{}, false
	}
	return Seed{URL: url, Label: strings.TrimSpace(label)}, true
}

// parse returns the URL to request first, and whether its scheme was a guess.
func (s Seed) parse() (u canon.URL, guessed bool, err error) {
	text := strings.TrimSpace(s.URL)
	if !hasScheme(text) {
		guessed, text = true, "https://"+strings.TrimPrefix(text, "//")
	}
	if u, err = canon.Parse(text); err != nil {
		return canon.URL{}, false, &SeedError{s, err}
	}
	return u, guessed, nil
}

// hasScheme tells "mailto:x" and "http:x" from "a.example", "a.example:8080/x" and "localhost:8080".
func hasScheme(text string) bool {
	scheme, rest, found := strings.Cut(text, ":")
	if !found || strings.ContainsAny(scheme, "./?#[") {
		return false
	}
	return rest == "" || rest[0] < '0' || rest[0] > '9'
}

// seedFile is the crawl's own copy of its seeds: usable ones only, one a line.
type seedFile string

func seedsIn(dir string) seedFile { return seedFile(filepath.Join(dir, "seeds")) }

// write copies the usable seeds, durably, and returns how many there are. The others go to refused, as *SeedError.
func (f seedFile) write(seeds iter.Seq2[Seed, error], refused func(error)) (n int, err error) {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o755); err != nil {
		return 0, err
	}
	file, err := os.OpenFile(string(f), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	n, err = writeSeeds(file, seeds, refused)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return n, &store.WriteError{File: string(f), Err: err}
	}
	return n, nil
}

func writeSeeds(w io.Writer, seeds iter.Seq2[Seed, error], refused func(error)) (n int, err error) {
	out := bufio.NewWriter(w)
	for seed, err := range seeds {
		if err != nil {
			return n, err
		}
		u, guessed, err := seed.parse()
		if err != nil {
			refused(err)
			continue
		}
		n++
		text := u.String()
		if guessed {
			text = strings.TrimPrefix(text, "https://")
		}
		label := strings.ReplaceAll(seed.Label, "\n", " ")
		if _, err := fmt.Fprintf(out, "%s\t%s\n", text, label); err != nil {
			return n, err
		}
	}
	return n, out.Flush()
}

// storedSeed is a seed with the place after it in the file.
type storedSeed struct {
	Seed
	end int64
}

// from reads the stored seeds behind a place.
func (f seedFile) from(offset int64) iter.Seq2[storedSeed, error] {
	return func(yield func(storedSeed, error) bool) {
		file, err := os.Open(string(f))
		if err != nil {
			yield(storedSeed{}, &store.DamageError{File: string(f), Offset: -1, Err: err})
			return
		}
		defer file.Close()
		if _, err := file.Seek(offset, io.SeekStart); err != nil {
			yield(storedSeed{}, &store.DamageError{File: string(f), Offset: offset, Err: err})
			return
		}
		lines := bufio.NewReaderSize(file, 64<<10)
		for at := offset; ; {
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) && line == "" {
				return
			}
			at += int64(len(line))
			seed, ok := parseSeedLine(line)
			if err != nil || !ok {
				yield(storedSeed{}, &store.DamageError{File: string(f), Offset: at - int64(len(line)),
					Err: errors.New("a seed's line is not whole")})
				return
			}
			if !yield(storedSeed{seed, at}, nil) {
				return
			}
		}
	}
}

// OpenedBy returns what a seed opens for fetch.Config.AllowPrivate: its address and port, when it is a literal address or
// localhost. The user named them.
func OpenedBy(seed canon.URL) []string {
	name := seed.Hostname()
	if _, err := netip.ParseAddr(name); err != nil && name != "localhost" {
		return nil
	}
	return []string{net.JoinHostPort(name, seed.Port())}
}

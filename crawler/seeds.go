package crawler

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	return fmt.Sprintf("seed %q: %v", shortened(withoutUser(e.Seed.URL)), e.Err)
}

func (e *SeedError) Unwrap() error { return e.Err }

// shortened keeps a text of megabytes out of a message.
func shortened(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// maxSeedLine bounds a line of a seed file, in bytes.
const maxSeedLine = 1 << 20

var errLongLine = fmt.Errorf("the line is longer than %d bytes", maxSeedLine)

// ReadSeeds reads one seed a line: a URL, and after a tab its label. Blank lines, lines that start with #, carriage
// returns and a byte order mark are passed over. A line of more than 1 MiB comes as a *SeedError, after which the others
// follow; any other error ends the sequence.
func ReadSeeds(r io.Reader) iter.Seq2[Seed, error] {
	return func(yield func(Seed, error) bool) {
		lines := bufio.NewReaderSize(r, 64<<10)
		for n := 1; ; n++ {
			text, long, err := readLine(lines, maxSeedLine)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Seed{}, fmt.Errorf("read seeds: line %d: %w", n, err))
				return
			}
			if n == 1 {
				text = strings.TrimPrefix(text, "\ufeff")
			}
			seed, some := parseSeedLine(text)
			seed.Line = n
			var refused error
			if long && !strings.HasPrefix(strings.TrimSpace(text), "#") {
				seed, some, refused = Seed{Line: n}, true, &SeedError{Seed{Line: n}, errLongLine}
			}
			if some && !yield(seed, refused) || err != nil {
				return
			}
		}
	}
}

// readLine returns the next line without its end. Of a long one it returns the beginning and reads all. What comes with
// io.EOF is the last line.
func readLine(r *bufio.Reader, most int) (line string, long bool, err error) {
	var text []byte
	for {
		piece, err := r.ReadSlice('\n')
		piece = bytes.TrimSuffix(piece, []byte("\n"))
		if long = long || len(text)+len(piece) > most; !long || len(text) == 0 {
			text = append(text, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(text), long, err
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

// parse returns the URL to request first, and whether its scheme was a guess. A path by itself has no host to guess a scheme
// for; behind "https://" its first part would become one.
func (s Seed) parse() (u canon.URL, guessed bool, err error) {
	text := strings.TrimSpace(s.URL)
	if path := strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//"); !path && !hasScheme(text) {
		guessed, text = true, "https://"+strings.TrimPrefix(text, "//")
	}
	switch u, err = canon.Parse(text); {
	case err == nil && tooLong(u):
		err = errTooLong
	case err == nil && withoutUser(text) != text:
		err = errUserInSeed
	}
	if err != nil {
		return canon.URL{}, false, &SeedError{s, err}
	}
	return u, guessed, nil
}

// errUserInSeed: canon drops user and password, and what is left would be asked for without them.
var errUserInSeed = errors.New("user and password of a URL are not used, since they would be kept and shown with it: " +
	"leave them out, and name them in auth")

// withoutUser takes user and password out of a seed's text.
func withoutUser(text string) string {
	authority := text
	if hasScheme(text) {
		var scheme string
		if scheme, authority, _ = strings.Cut(text, ":"); strings.EqualFold(scheme, "mailto") {
			return text // what it has is no user
		}
	}
	authority = strings.TrimLeft(authority, "/\\\t")
	start := len(text) - len(authority)
	if i := strings.IndexAny(authority, `/\?#`); i >= 0 {
		authority = authority[:i]
	}
	return text[:start] + text[start+strings.LastIndexByte(authority, '@')+1:]
}

// seedText is what a seed is kept as: it parses to the same URL, with the same guess.
func seedText(u canon.URL, guessed bool) string {
	if guessed {
		return strings.TrimPrefix(u.String(), "https://")
	}
	return u.String()
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

// write copies the usable seeds, durably, and returns how many there are. The others go to refused, as *SeedError. An error
// of the disk is a *store.WriteError, one of the sequence is returned as it is.
func (f seedFile) write(seeds iter.Seq2[Seed, error], refused func(error)) (n int, err error) {
	file, err := os.OpenFile(string(f), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, &store.WriteError{File: string(f), Err: err}
	}
	out := bufio.NewWriter(file) // keeps its first error for Flush
	n, err = writeSeeds(out, seeds, refused)
	failure := errors.Join(out.Flush(), file.Sync(), file.Close())
	switch {
	case err != nil:
		return n, err
	case failure != nil:
		return n, &store.WriteError{File: string(f), Err: failure}
	}
	return n, nil
}

func writeSeeds(out *bufio.Writer, seeds iter.Seq2[Seed, error], refused func(error)) (n int, err error) {
	for seed, err := range seeds {
		var u canon.URL
		var guessed bool
		if err == nil {
			u, guessed, err = seed.parse()
		}
		if bad, ok := errors.AsType[*SeedError](err); ok {
			refused(bad)
			continue
		}
		if err != nil {
			return n, err
		}
		n++
		label := strings.ReplaceAll(seed.Label, "\n", " ")
		if _, err := fmt.Fprintf(out, "%s\t%s\n", seedText(u, guessed), label); err != nil {
			break // Flush tells it again
		}
	}
	return n, nil
}

// storedSeed is a seed of the crawl's own copy.
type storedSeed struct {
	url     canon.URL
	guessed bool
	label   string
	end     int64 // the place after it in the file
}

// from reads the stored seeds behind a place. What is not as it was written is a *store.DamageError, and ends the sequence.
func (f seedFile) from(offset int64) iter.Seq2[storedSeed, error] {
	return func(yield func(storedSeed, error) bool) {
		damaged := func(at int64, err error) {
			yield(storedSeed{}, &store.DamageError{File: string(f), Offset: at, Err: err})
		}
		file, err := os.Open(string(f))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			damaged(-1, err)
			return
		case err != nil: // too many open files, or no permission
			yield(storedSeed{}, err)
			return
		}
		defer file.Close()
		if _, err := file.Seek(offset, io.SeekStart); err != nil {
			damaged(offset, err)
			return
		}
		lines := bufio.NewReaderSize(file, 64<<10)
		for at := offset; ; {
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) && line == "" {
				return
			}
			seed, err := readStoredSeed(line, err)
			if err != nil {
				damaged(at, err)
				return
			}
			at += int64(len(line))
			seed.end = at
			if !yield(seed, nil) {
				return
			}
		}
	}
}

// readStoredSeed judges what was read of the file: a line, or less and why.
func readStoredSeed(line string, err error) (storedSeed, error) {
	if errors.Is(err, io.EOF) {
		return storedSeed{}, errors.New("the last line is not whole")
	}
	if err != nil {
		return storedSeed{}, err
	}
	seed, ok := parseSeedLine(line)
	if !ok {
		return storedSeed{}, errors.New("a line holds no seed")
	}
	u, guessed, err := seed.parse()
	if err != nil {
		return storedSeed{}, err
	}
	return storedSeed{url: u, guessed: guessed, label: seed.Label}, nil
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

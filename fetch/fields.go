package fetch

import (
	"net/http"
	"net/textproto"
	"strings"
)

// parseHead reads a whole head. Of its fields it is as lenient as browsers are: a line that is no field (no colon, no name, a
// name with a blank in it) is passed over, one that begins with a blank goes on with the field before it, blanks before the
// colon fall away, and NUL and CR within a value count as blanks (RFC 9110, section 5.5; RFC 9112, sections 5.1 and 5.2).
func parseHead(text string) (head, error) {
	line, rest := cutLine(text)
	h, err := parseStatusLine(line)
	if err != nil {
		return head{}, err
	}
	h.text = text
	n := strings.Count(rest, "\n")
	h.header = make(http.Header, n)
	values := make([]string, 0, n) // one piece of memory for all
	last := ""
	for rest != "" {
		line, rest = cutLine(rest)
		if line != "" && (line[0] == ' ' || line[0] == '\t') {
			h.fold(last, line)
			continue
		}
		name, value, isField := strings.Cut(line, ":")
		trimmed := strings.TrimRight(name, " \t")
		if last = ""; !isField || !isToken(trimmed) {
			continue
		}
		last = textproto.CanonicalMIMEHeaderKey(trimmed)
		if len(trimmed) != len(name) && framesMessage(last) {
			h.odd = true
		}
		value = cleanValue(value)
		if before := h.header[last]; before != nil {
			h.header[last] = append(before, value)
			continue
		}
		values = append(values, value)
		h.header[last] = values[len(values)-1 : len(values) : len(values)]
	}
	return h, nil
}

func cutLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// fold adds a folded line to the field named last.
func (h *head) fold(last, line string) {
	values := h.header[last]
	if len(values) == 0 {
		return
	}
	if framesMessage(last) {
		h.odd = true
	}
	if line = cleanValue(line); line == "" {
		return
	}
	if v := &values[len(values)-1]; *v == "" {
		*v = line
	} else {
		*v += " " + line
	}
}

func framesMessage(name string) bool { return name == "Content-Length" || name == "Transfer-Encoding" }

func cleanValue(value string) string {
	if strings.ContainsAny(value, "\x00\r") {
		value = blanks.Replace(value)
	}
	return strings.Trim(value, " \t")
}

var blanks = strings.NewReplacer("\x00", " ", "\r", " ")

// isToken reports whether name can name a field (RFC 9110, section 5.6.2).
func isToken(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || isDigit(c) || c == '-' || strings.IndexByte("!#$%&'*+.^_`|~", c) >= 0 {
			continue
		}
		return false
	}
	return name != ""
}

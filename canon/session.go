package canon

import "strings"

// sessionNames are the names under which servers put a session's id into URLs, in lower case.
var sessionNames = []string{
	"jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "sid", "aspsessionid", "cfid", "cftoken", "oscsid", "zenid", "xtcsid",
	"s_id", "psession", "viewstate_sid",
}

// sessionLeast is how long an id is at least: what is shorter counts something.
const sessionLeast = 8

// isSession reports whether a parameter names a session. Names that programs number, such as ASPSESSIONIDABCDEFGH, count
// by their start.
func isSession(name, value string) bool {
	if len(value) < sessionLeast || !mixed(value) {
		return false
	}
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "aspsessionid") {
		return true
	}
	for _, known := range sessionNames {
		if name == known {
			return true
		}
	}
	return false
}

// mixed reports whether a value holds a digit and no blank: a session's id does, most words do not.
func mixed(value string) bool {
	return strings.ContainsAny(value, "0123456789") && !strings.ContainsAny(value, "+ ")
}

// dropSessionIDs takes session ids out of the query and of path parameters: /page;jsessionid=0A1B2C3D?PHPSESSID=0a1b2c3d.
func (s *parts) dropSessionIDs() (changed bool) {
	for i := strings.IndexByte(s.path, ';'); i >= 0 && i < len(s.path); {
		end := i + 1
		for end < len(s.path) && s.path[end] != ';' && s.path[end] != '/' {
			end++
		}
		if name, value, _ := strings.Cut(s.path[i+1:end], "="); isSession(name, value) {
			if without := s.path[:i] + s.path[end:]; dots(segmentAt(without, i)) == 0 { // what would be a dot segment is left
				s.path, changed, end = without, true, i
			}
		}
		next := strings.IndexByte(s.path[end:], ';')
		if next < 0 {
			break
		}
		i = end + next
	}
	return s.filter(func(name, value string) bool { return !isSession(name, value) }) || changed
}

// segmentAt returns the segment of path that holds, or ends at, path[i].
func segmentAt(path string, i int) string {
	segment, _, _ := strings.Cut(path[strings.LastIndexByte(path[:i], '/')+1:], "/")
	return segment
}

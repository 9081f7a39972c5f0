package parse

import "strings"

// maxRobots is how many bytes of Page.Robots are kept. NoFollow is judged before.
const maxRobots = 512

// readRobots reads a meta element that speaks to robots.
func (p *Parser) readRobots(content []byte) {
	if forbidsFollowing(string(content)) {
		p.page.NoFollow = true
	}
	said := collapsed(content, maxRobots)
	if p.page.Robots != "" && said != "" {
		said = p.page.Robots + ", " + said
	}
	if said != "" {
		p.page.Robots = cut(said, maxRobots)
	}
}

// robotsTag reports whether an X-Robots-Tag header forbids all robots, or agent, to follow the page's links. A name
// and a colon say whom the directives behind them are for.
func robotsTag(value, agent string) bool {
	forUs := true
	for item := range strings.SplitSeq(value, ",") {
		item = strings.Trim(item, httpSpace)
		if name, rest, ok := strings.Cut(item, ":"); ok && isHTTPToken(name) && !takesValue(name) {
			forUs = agent != "" && strings.EqualFold(name, agent)
			item = rest
		}
		if forUs && forbidsFollowing(item) {
			return true
		}
	}
	return false
}

// takesValue reports whether the name is a directive with a value, and not a robot's.
func takesValue(name string) bool {
	name = strings.ToLower(name)
	return name == "unavailable_after" || strings.HasPrefix(name, "max-")
}

// forbidsFollowing reports whether one of the directives is nofollow or none. Pages separate them by commas and
// spaces.
func forbidsFollowing(directives string) bool {
	for item := range strings.SplitSeq(directives, ",") {
		if strings.Contains(item, ":") {
			continue // "max-image-preview: none"
		}
		if hasToken([]byte(item), "nofollow", "none") {
			return true
		}
	}
	return false
}

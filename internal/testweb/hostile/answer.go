package hostile

import (
	"fmt"
	"strings"
)

// answer is an honest answer with further fields.
func answer(fields, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", fields, len(body), body)
}

// chunked is the head of an answer whose chunks are to follow.
const chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"

// lengthOf is the head of an answer that promises a body of so many bytes.
func lengthOf(n string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " + n + "\r\n\r\n"
}

// untilClose is the head of an answer that the connection's end ends.
const untilClose = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"

// chunk is one chunk.
func chunk(data string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }

// forged is an answer that nobody asked for. No record may ever have its title.
var forged = whole("<title>" + Forged + "</title>")

// Forged is the title of answers that a right crawler takes for nothing: who finds it in a record was tricked.
const Forged = "forged"

// filler is text that a body can be made of without end.
var filler = strings.Repeat("<p>There is always a little more of this.</p>\n", 1500)[:64<<10]

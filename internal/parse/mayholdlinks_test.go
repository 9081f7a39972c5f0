package parse

import "testing"

func TestMayHoldLinks(t *testing.T) {
	for contentType, want := range map[string]bool{
		"": true, "nonsense": true, "text/html": true, "TEXT/HTML; charset=x": true, "text/plain": true, "text/css": true, "application/xml": true,
		"application/atom+xml": true, "application/xhtml+xml": true, "application/ld+json": true, "application/x-gzip": true,
		"image/png": false, "image/svg+xml": false, "video/mp4": false, "application/octet-stream": false, "application/pdf": false, "application/zip": false,
		"font/woff2": false,
	} {
		if got := MayHoldLinks(contentType); got != want {
			t.Errorf("%q: %v, want %v", contentType, got, want)
		}
	}
}

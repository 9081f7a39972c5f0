package canon_test

import (
	"errors"
	"fmt"

	"crawl/canon"
)

func Example() {
	base, err := canon.Parse("https://www.example.com/shop/")
	if err != nil {
		fmt.Println(err)
		return
	}
	var rules *canon.Rules // the safe ones
	for _, ref := range []string{"../%7eann/list?size=38|39#top", "//BÜCHER.example:443", "mailto:ann@example.com"} {
		u, err := rules.Parse(base, ref)
		if e, ok := errors.AsType[*canon.Error](err); ok {
			fmt.Println("skipped:", e.Reason, e.Detail)
			continue
		}
		fmt.Println("request", u.String(), "remember", u.Key())
	}
	// Output:
	// request https://www.example.com/%7eann/list?size=38|39 remember https://www.example.com/~ann/list?size=38%7C39
	// request https://xn--bcher-kva.example/ remember https://xn--bcher-kva.example/
	// skipped: unsupported scheme mailto
}

package causeway

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strconv"
)

// Listing is a list that is read while it is iterated, page by page. Each iteration begins with the first page.
type Listing[T any] struct {
	ctx  context.Context
	call *call
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	// NextPage is the token of the next page; empty on the last one.
	NextPage string
	// TotalCount is the number of entries on all pages, where it is known.
	TotalCount *int
	// Pushdown is how much of the query the provider evaluated. It is empty for lists of the platform.
	Pushdown QueryPushdown
	// PartialResult is the reason why a page ended early, such as `scan-budget`. It is empty for other pages.
	PartialResult string
	// RequestID identifies the request in logs and in [ActivityAPI.GetActivity].
	RequestID string
	// Header has the other headers of the response.
	Header http.Header
}

func listing[T any](ctx context.Context, call *call) Listing[T] { return Listing[T]{ctx, call} }

// All iterates over the items of all pages. An error is the last element.
func (l Listing[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for page, err := range l.Pages() {
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// Pages iterates over the pages. An error is the last element.
func (l Listing[T]) Pages() iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		for token := ""; ; {
			page, err := l.page(token)
			if err == nil && page.NextPage != "" && page.NextPage == token {
				err = errors.New("causeway: the service returned the current page as the next one, so the list would never end")
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) || page.NextPage == "" {
				return
			}
			token = page.NextPage
		}
	}
}

// Page reads the first page.
func (l Listing[T]) Page() (*Page[T], error) { return l.page("") }

// Collect reads all pages.
func (l Listing[T]) Collect() ([]T, error) {
	var items []T
	for page, err := range l.Pages() {
		if err != nil {
			return items, err
		}
		items = append(items, page.Items...)
	}
	return items, nil
}

// As converts the items of a listing to another type: `causeway.As[Employee](client.List(…))`.
func As[T, Item any](listing Listing[Item]) Listing[T] { return Listing[T](listing) }

// To converts a record to another type, by the `json` tags of its fields.
func To[T any](record Record) (value T, err error) {
	text, err := json.Marshal(record)
	if err != nil {
		return value, err
	}
	return value, decode(text, &value)
}

func (l Listing[T]) page(token string) (*Page[T], error) {
	call := l.call.at(token)
	response, err := call.send(l.ctx, readWhole)
	if err != nil {
		return nil, err
	}
	page := &Page[T]{
		NextPage:      response.Header.Get("Elements-Next-Page-Token"),
		Pushdown:      QueryPushdown(response.Header.Get("Elements-Query-Pushdown")),
		PartialResult: response.Header.Get("Elements-Partial-Result"),
		RequestID:     response.Header.Get("Elements-Request-Id"),
		Header:        response.Header,
	}
	if total, err := strconv.Atoi(response.Header.Get("Elements-Total-Count")); err == nil {
		page.TotalCount = &total
	}
	return page, call.read(response, &page.Items)
}

// at returns the same call for the page of a token; without a token, for the first page.
func (c *call) at(token string) *call {
	if token == "" {
		return c
	}
	next := *c
	next.query = make(map[string][]string, len(c.query)+1)
	for name, values := range c.query {
		if name != "page" {
			next.query[name] = values
		}
	}
	next.query.Set("nextPage", token)
	return &next
}

package causeway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// call is one call of an operation, which may need several attempts. It keeps the first fault in building it, which ends
// the call before anything is sent.
type call struct {
	client       *Client
	method, path string
	scheme       scheme
	query        url.Values
	header       http.Header
	// rawQuery is sent instead of query.
	rawQuery string
	body     []byte
	// form is sent instead of body. It can be sent only once.
	form *form
	// isRepeatable is true if sending the call twice has the same effect as sending it once.
	isRepeatable bool
	// isKeyed is true if the call is repeatable because of its Idempotency-Key.
	isKeyed bool
	err     error
}

// newCall starts a call. inPath replaces each `{name}` in the path.
func (c *Client) newCall(method, path string, scheme scheme) *call {
	header := http.Header{}
	header.Set("Accept", "application/json")
	call := &call{client: c, method: method, path: path, scheme: scheme, query: url.Values{}, header: header}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete:
		call.isRepeatable = true
	case http.MethodPost:
		call.keyed("")
	}
	return call
}

// inPath inserts a value into one path segment. A value that would lead to another path is a fault.
func (c *call) inPath(name string, value any) {
	text := fmt.Sprint(value)
	if text == "" || text == "." || text == ".." {
		c.fail(fmt.Errorf("causeway: %s %s: %q cannot be the %s", c.method, c.path, text, name))
	}
	c.path = strings.Replace(c.path, "{"+name+"}", url.PathEscape(text), 1)
}

// inQuery adds a query parameter, unless the value is not set.
func (c *call) inQuery(name string, value any) {
	texts, err := parameter(value)
	if err != nil {
		c.fail(err)
	}
	for _, text := range texts {
		c.query.Add(name, text)
	}
}

// inHeader adds a header, unless the value is not set.
func (c *call) inHeader(name string, value any) {
	texts, err := parameter(value)
	if err != nil {
		c.fail(err)
	}
	for _, text := range texts {
		c.header.Set(name, text)
	}
}

// keyed makes a call repeatable by an idempotency key: the caller's, or a new one for all attempts of this call.
func (c *call) keyed(key string) {
	if key == "" {
		key = rand.Text()
	}
	c.header.Set("Idempotency-Key", key)
	c.isRepeatable, c.isKeyed = true, true
}

// once marks a call for which the service stores no idempotency key.
func (c *call) once() {
	c.header.Del("Idempotency-Key")
	c.isRepeatable, c.isKeyed = false, false
}

// withBody sets a JSON body; nil sets none.
func (c *call) withBody(value any) {
	if pointer := reflect.ValueOf(value); pointer.Kind() == reflect.Pointer && pointer.IsNil() {
		return
	}
	body, err := json.Marshal(value)
	if err != nil {
		c.fail(fmt.Errorf("causeway: %s %s: the body cannot be written as JSON: %w", c.method, c.path, err))
	}
	c.body = body
	c.header.Set("Content-Type", "application/json")
}

func (c *call) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// request builds the request of one attempt.
func (c *call) request(ctx context.Context, content io.Reader) (*http.Request, error) {
	address := c.client.base.String() + c.path
	if query := c.rawQuery + c.query.Encode(); query != "" {
		address += "?" + query
	}
	request, err := http.NewRequestWithContext(ctx, c.method, address, content)
	if err != nil {
		return nil, fmt.Errorf("causeway: %s %s: no request can be made of this", c.method, c.path)
	}
	request.Header = c.header.Clone()
	if err := c.client.setHeaders(request.Header, c.scheme); err != nil {
		return nil, err
	}
	return request, nil
}

// answerOf sends the call and reads the response.
func answerOf[T any](ctx context.Context, c *call) (answer T, err error) {
	response, err := c.send(ctx, readWhole)
	if err != nil {
		return answer, err
	}
	return answer, c.read(response, &answer)
}

// read reads the whole body as JSON.
func (c *call) read(response *answered, target any) error {
	if err := decode(response.body, target); err != nil {
		return &Error{
			Method: c.method, Path: c.path, Status: response.StatusCode,
			Message:   fmt.Sprintf("a response that cannot be read: %v", err),
			RequestID: response.Header.Get("Elements-Request-Id"),
		}
	}
	return nil
}

func pointerTo[T any](value T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &value, nil
}

// parameter returns the texts of a parameter; none if it is not set.
func parameter(value any) ([]string, error) {
	switch value := value.(type) {
	case Filter:
		text, err := value.Text()
		return notEmpty(text), err
	case *bool:
		if value == nil {
			return nil, nil
		}
		return []string{fmt.Sprint(*value)}, nil
	case time.Time:
		if value.IsZero() {
			return nil, nil
		}
		return []string{value.UTC().Format(time.RFC3339Nano)}, nil
	case []string:
		return value, nil
	}
	if reflect.ValueOf(value).IsZero() {
		return nil, nil
	}
	return []string{fmt.Sprint(value)}, nil
}

func notEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

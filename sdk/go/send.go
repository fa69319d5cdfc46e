package causeway

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Retries configures how calls are retried after 429, 502, 503, 504, or without a response. Only calls that can safely
// be sent twice are retried: GET, PUT and DELETE, and POST with an Idempotency-Key, which is the same for all attempts.
// PATCH is retried only after 429, because the service then did nothing. Calls with a file are never retried.
type Retries struct {
	// Attempts is the maximum number of attempts; 1 disables retries.
	Attempts int
	// FirstPause is the approximate pause before the second attempt. Each further pause is twice as long.
	FirstPause time.Duration
	// LongestPause is the maximum pause, unless `Retry-After` requests a longer one.
	LongestPause time.Duration
	// Total is the maximum time from the start of the first attempt to the start of the last one. If the next attempt
	// would start later, for example because of `Retry-After`, the call fails at once.
	Total time.Duration
}

// DefaultRetries returns four attempts within two minutes.
func DefaultRetries() Retries {
	return Retries{Attempts: 4, FirstPause: 500 * time.Millisecond, LongestPause: 20 * time.Second, Total: 2 * time.Minute}
}

func (r *Retries) orDefault() Retries {
	retries := DefaultRetries()
	if r == nil {
		return retries
	}
	return Retries{
		Attempts:     cmp.Or(r.Attempts, retries.Attempts),
		FirstPause:   cmp.Or(r.FirstPause, retries.FirstPause),
		LongestPause: cmp.Or(r.LongestPause, retries.LongestPause),
		Total:        cmp.Or(r.Total, retries.Total),
	}
}

// mode is the part of a response that is read before a call ends.
type mode int

const (
	// readWhole means that the body is read within the time of the attempt.
	readWhole mode = iota
	// leaveBody means that the body is left to be read, and that a 304 is a success.
	leaveBody
)

// answered is a successful response.
type answered struct {
	*http.Response
	body []byte
}

// send makes attempts until one succeeds, or further attempts are pointless.
func (c *call) send(ctx context.Context, mode mode) (*answered, error) {
	if c.err != nil {
		return nil, c.err
	}
	started := c.client.clock.now()
	for attempt := 1; ; attempt++ {
		response, err := c.attempt(ctx, mode)
		if err == nil {
			return response, nil
		}
		if ctx.Err() != nil || !c.isWorthRepeating(err, attempt) {
			return nil, err
		}
		pause := c.client.config.Retries.pause(attempt, err)
		now := c.client.clock.now()
		if now.Add(pause).Sub(started) > c.client.config.Retries.Total || endsBefore(ctx, now.Add(pause)) {
			return nil, err
		}
		if c.client.clock.sleep(ctx, pause) != nil {
			return nil, fmt.Errorf("causeway: %s %s: %w, after: %w", c.method, c.path, context.Cause(ctx), err)
		}
	}
}

func (c *call) isWorthRepeating(err error, attempt int) bool {
	if attempt >= c.client.config.Retries.Attempts || c.form != nil {
		return false
	}
	var failure *Error
	if !errors.As(err, &failure) {
		var certificate *tls.CertificateVerificationError
		return c.isRepeatable && isOnTheWay(err) && !errors.As(err, &certificate)
	}
	switch {
	case failure.Status == http.StatusTooManyRequests:
		return true
	case c.isKeyed && failure.Code == ErrorCodeConflict:
		// The previous attempt got no response, and the service is still processing it.
		return attempt > 1
	case c.isKeyed && isOutcomeUnknown(failure.Code):
		// The service returns the same response for a key, because the provider may have done its work.
		return false
	}
	return c.isRepeatable && isAway(failure.Status)
}

func isAway(status int) bool {
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// isOnTheWay reports whether the request may not have arrived, or the response may have been lost.
func isOnTheWay(err error) bool {
	var connection *ConnectionError
	var timeout *TimeoutError
	return errors.As(err, &connection) || errors.As(err, &timeout)
}

func isOutcomeUnknown(code ErrorCode) bool {
	switch code {
	case ErrorCodeProviderTimeout, ErrorCodeProviderUnavailable, ErrorCodeProviderProtocol, ErrorCodeInternal:
		return true
	}
	return false
}

// pause returns a pause that is at least what the service requests. It is random, so that clients do not all retry at
// the same time.
func (r *Retries) pause(attempt int, err error) time.Duration {
	pause := r.FirstPause
	for range attempt - 1 {
		pause = min(2*pause, r.LongestPause)
	}
	pause = pause/2 + time.Duration(rand.Float64()*float64(pause)/2)
	var failure *Error
	if errors.As(err, &failure) && failure.RetryAfter > 0 {
		return failure.RetryAfter + pause/2
	}
	return pause
}

func endsBefore(ctx context.Context, at time.Time) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Before(at)
}

// attempt sends the request once.
func (c *call) attempt(ctx context.Context, mode mode) (*answered, error) {
	limited, cancel := context.WithCancelCause(ctx)
	watch := newWatch(c.client.config.Timeout, cancel)
	content, endContent := c.content(watch)
	defer endContent()
	request, err := c.request(limited, content)
	if err != nil {
		watch.end()
		return nil, err
	}
	response, err := c.client.http.Do(request)
	if err != nil {
		defer watch.end()
		return nil, c.broken(ctx, limited, watch, err)
	}
	if mode == leaveBody && (response.StatusCode/100 == 2 || response.StatusCode == http.StatusNotModified) {
		watch.stop()
		body := &body{response.Body, watch, func(err error) error { return c.broken(ctx, limited, watch, err) }}
		response.Body = body
		return &answered{response, nil}, nil
	}
	defer watch.end()
	defer response.Body.Close()
	whole, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, c.broken(ctx, limited, watch, err)
	}
	if response.StatusCode/100 != 2 {
		return nil, errorOf(c.method, c.path, response, whole, c.client.clock.now())
	}
	return &answered{response, whole}, nil
}

// content starts the body. While a form makes progress, its attempt does not time out.
func (c *call) content(watch *watch) (content io.Reader, end func()) {
	switch {
	case c.form != nil:
		reader, contentType := c.form.open()
		c.header.Set("Content-Type", contentType)
		return &watchedReader{reader, watch}, func() { reader.Close() }
	case c.body != nil:
		return bytes.NewReader(c.body), func() {}
	}
	return nil, func() {}
}

// broken returns the reason why there is no response: the caller's context ended, the time was up, or the connection
// broke. Errors of the standard library contain the whole URL, whose query may contain a secret.
func (c *call) broken(ctx, limited context.Context, watch *watch, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("causeway: %s %s: %w", c.method, c.path, context.Cause(ctx))
	}
	var timeout net.Error
	if context.Cause(limited) == errTimeout {
		return &TimeoutError{c.method, c.path, watch.limit}
	}
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &TimeoutError{c.method, c.path, time.Since(watch.started).Round(time.Millisecond)}
	}
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err
	}
	return &ConnectionError{c.method, c.path, err}
}

// watch ends an attempt when nothing happens for as long as its limit.
type watch struct {
	limit   time.Duration
	started time.Time
	timer   *time.Timer
	cancel  context.CancelCauseFunc
}

func newWatch(limit time.Duration, cancel context.CancelCauseFunc) *watch {
	return &watch{limit, time.Now(), time.AfterFunc(limit, func() { cancel(errTimeout) }), cancel}
}

func (w *watch) restart() { w.timer.Reset(w.limit) }
func (w *watch) stop()    { w.timer.Stop() }

func (w *watch) end() {
	w.timer.Stop()
	w.cancel(nil)
}

// watchedReader is a body that is being sent. While it makes progress, the attempt does not time out.
type watchedReader struct {
	io.Reader
	watch *watch
}

func (r *watchedReader) Read(buffer []byte) (int, error) {
	r.watch.restart()
	return r.Reader.Read(buffer)
}

// body is a response that is read as it arrives. Only waiting for the service counts, not the time that the reader
// takes.
type body struct {
	io.ReadCloser
	watch  *watch
	broken func(error) error
}

func (b *body) Read(buffer []byte) (int, error) {
	b.watch.restart()
	length, err := b.ReadCloser.Read(buffer)
	b.watch.stop()
	if err != nil && err != io.EOF {
		err = b.broken(err)
	}
	return length, err
}

func (b *body) Close() error {
	b.watch.end()
	return b.ReadCloser.Close()
}

// clock is the time of a client.
type clock struct {
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

func systemClock() clock { return clock{time.Now, sleep} }

func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package causeway

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestErrorsAreTyped(t *testing.T) {
	body := `{"requestId":"request-1","code":"WHERE_INVALID","message":"Unknown field 'nam'. Did you mean 'name'?",
		"details":[{"position":0,"length":3,"message":"Unknown field 'nam'.","nearest":"name"}]}`
	_, client := serve(t, answer(400, body), failure(404, ErrorCodeNotFound), failure(418, "NEW_CODE"), answer(500, "<html>"))
	_, err := client.List(t.Context(), "incident", Query{Where: Where("nam = ?", "x")}).Page()
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatal(err)
	}
	expect(t, "code", failure.Code, ErrorCodeWhereInvalid)
	expect(t, "status", failure.Status, 400)
	expect(t, "request id", failure.RequestID, "request-1")
	expect(t, "position", *failure.Details[0].Position, 0)
	expect(t, "length", *failure.Details[0].Length, 3)
	expect(t, "nearest", *failure.Details[0].Nearest, "name")
	position, length, ok := failure.At()
	expect(t, "place", position == 0 && length == 3 && ok, true)
	expect(t, "suggestion", failure.Suggestion(), "name")
	expect(t, "kind", errors.Is(err, ErrWhere), true)
	expect(t, "another kind", errors.Is(err, ErrNotFound), false)
	expect(t, "text", err.Error(), "causeway: GET /incident: 400 WHERE_INVALID: Unknown field 'nam'. Did you mean 'name'? (request request-1)")
	_, err = client.Get(t.Context(), "incident", "1")
	expect(t, "not found", errors.Is(err, ErrNotFound), true)
	_, err = client.Get(t.Context(), "incident", "1")
	expect(t, "a code of a later version", errors.As(err, &failure) && failure.Code == "NEW_CODE", true)
	_, err = client.Get(t.Context(), "incident", "1")
	expect(t, "an answer of another", errors.As(err, &failure) && failure.Code == "" && strings.Contains(failure.Message, "<html>"), true)
}

func TestRateLimitSaysWhen(t *testing.T) {
	_, client := serve(t, failure(429, ErrorCodeProviderRateLimited, "Retry-After", "86400"))
	_, err := client.Get(t.Context(), "incident", "1")
	var failure *Error
	expect(t, "kind", errors.Is(err, ErrRateLimited) && errors.Is(err, ErrProvider), true)
	expect(t, "retry after", errors.As(err, &failure) && failure.RetryAfter == 24*time.Hour, true)
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Thu, 01 Jan 2026 03:05:05 GMT": 0,
		"999999999999": maxRetryAfter * time.Second,
	} {
		expect(t, text, retryAfter(text, now), want)
	}
}

// TestWhatIsRepeated runs calls with a first response each; the second response is always a success.
func TestWhatIsRepeated(t *testing.T) {
	get := func(client *Client) error { _, err := client.Get(t.Context(), "a", "1"); return err }
	remove := func(client *Client) error { return client.Delete(t.Context(), "a", "1") }
	create := func(client *Client) error { _, err := client.Create(t.Context(), "a", Record{"b": 1}); return err }
	update := func(client *Client) error { _, err := client.Update(t.Context(), "a", "1", Record{"b": 1}); return err }
	explain := func(client *Client) error { _, err := client.Explain(t.Context(), "a", Query{}); return err }
	for _, test := range []struct {
		name  string
		call  func(*Client) error
		first http.HandlerFunc
		calls int
	}{
		{"GET, 429", get, failure(429, ErrorCodeRateLimited), 2},
		{"GET, 502", get, failure(502, ErrorCodeProviderUnavailable), 2},
		{"GET, 503", get, failure(503, ErrorCodeOverloaded), 2},
		{"GET, 504", get, failure(504, ErrorCodeProviderTimeout), 2},
		{"GET, broken", get, hangUp, 2},
		{"GET, a proxy's 502", get, answer(502, "<html>"), 2},
		{"GET, 500", get, failure(500, ErrorCodeInternal), 1},
		{"GET, 404", get, failure(404, ErrorCodeNotFound), 1},
		{"DELETE, 503", remove, failure(503, ErrorCodeOverloaded), 2},
		{"DELETE, broken", remove, hangUp, 2},
		{"POST with a key, 503", create, failure(503, ErrorCodeOverloaded), 2},
		{"POST with a key, broken", create, hangUp, 2},
		{"POST with a key, a proxy's 504", create, answer(504, ""), 2},
		{"POST with a key whose outcome is unknown", create, failure(504, ErrorCodeProviderTimeout), 1},
		{"POST with a key, 409", create, failure(409, ErrorCodeConflict), 1},
		{"PATCH, 503", update, failure(503, ErrorCodeOverloaded), 1},
		{"PATCH, 429", update, failure(429, ErrorCodeRateLimited), 2},
		{"PATCH, broken", update, hangUp, 1},
		{"POST that changes nothing, broken", explain, hangUp, 2},
	} {
		service, client := serve(t, test.first)
		err := test.call(client)
		expect(t, test.name, len(service.seen()), test.calls)
		expect(t, test.name+", good in the end", err == nil, test.calls == 2)
		expect(t, test.name+", pauses", len(service.pauses), test.calls-1)
	}
}

func TestOneKeyForAllAttempts(t *testing.T) {
	service, client := serve(t, hangUp, failure(409, ErrorCodeConflict), failure(503, ErrorCodeOverloaded))
	must(client.Create(t.Context(), "incident", Record{"name": "a"}))(t)
	must(client.Create(t.Context(), "incident", Record{"name": "a"}))(t)
	expect(t, "calls", len(service.seen()), 5)
	keys := map[string]int{}
	for index, call := range service.seen() {
		keys[call.Header.Get("Idempotency-Key")]++
		expect(t, "body", service.sent()[index], `{"name":"a"}`)
	}
	expect(t, "keys", len(keys), 2)
	must(client.Records.CreateRecord(t.Context(), "incident", Record{}, &CreateRecordParams{IdempotencyKey: "own"}))(t)
	expect(t, "own key", service.seen()[5].Header.Get("Idempotency-Key"), "own")
	must(client.Explain(t.Context(), "incident", Query{}))(t)
	must(client.Update(t.Context(), "incident", "1", Record{}))(t)
	must(client.Get(t.Context(), "incident", "1"))(t)
	for _, call := range service.seen()[6:] {
		expect(t, call.Method+" without a key", call.Header.Get("Idempotency-Key"), "")
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	always := slices.Repeat([]http.HandlerFunc{failure(503, ErrorCodeOverloaded)}, 10)
	service, client := serve(t, always...)
	_, err := client.Get(t.Context(), "incident", "1")
	expect(t, "calls", len(service.seen()), 4)
	expect(t, "error", err.(*Error).Code, ErrorCodeOverloaded)
	for index, pause := range service.pauses {
		whole := 500 * time.Millisecond << index
		expect(t, "pause", pause >= whole/2 && pause <= whole, true)
	}
	service, client = serve(t, always...)
	client.config.Retries = &Retries{Attempts: 1}
	_, err = client.Get(t.Context(), "incident", "1")
	expect(t, "calls without retries", len(service.seen()), 1)
	expect(t, "error without retries", err != nil, true)
	once := must(New(Config{URL: "http://host", UserSecret: "u", Retries: &Retries{Attempts: 9}}))(t)
	expect(t, "what is not said", *once.config.Retries, Retries{9, 500 * time.Millisecond, 20 * time.Second, 2 * time.Minute})
}

func TestTimeOfAllAttemptsIsBounded(t *testing.T) {
	service, client := serve(t, failure(429, ErrorCodeRateLimited, "Retry-After", "30"), failure(429, ErrorCodeRateLimited, "Retry-After", "95"))
	now := time.Now()
	client.clock.now = func() time.Time { return now }
	client.clock.sleep = func(_ context.Context, pause time.Duration) error {
		expect(t, "at least Retry-After", pause >= 30*time.Second && pause < 31*time.Second, true)
		now = now.Add(pause)
		return nil
	}
	_, err := client.Get(t.Context(), "incident", "1")
	expect(t, "calls", len(service.seen()), 2)
	expect(t, "error", errors.Is(err, ErrRateLimited), true)
	service, client = serve(t, failure(429, ErrorCodeRateLimited, "Retry-After", "30"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = client.Get(ctx, "incident", "1")
	expect(t, "calls that cannot be in time", len(service.seen()), 1)
	expect(t, "error", errors.Is(err, ErrRateLimited), true)
}

// The limits leave a busy machine the time in which a request reaches the server.
func TestTimeout(t *testing.T) {
	t.Parallel()
	never := func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }
	service, client := serve(t, never, json200(`{"a":1}`))
	client.config.Timeout = time.Second
	must(client.Get(t.Context(), "incident", "1"))(t)
	expect(t, "calls", len(service.seen()), 2)
	service, client = serve(t, never)
	client.config.Timeout = time.Second
	_, err := client.Update(t.Context(), "incident", "1", Record{})
	var timeout *TimeoutError
	expect(t, "a time-out", errors.As(err, &timeout) && timeout.Timeout(), true)
	expect(t, "text", err.Error(), "causeway: PATCH /incident/1: no response within 1s")
	expect(t, "calls", len(service.seen()), 1)
}

func TestTimeoutWithinTheBody(t *testing.T) {
	t.Parallel()
	half := func(response http.ResponseWriter, request *http.Request) {
		io.WriteString(response, `{"a":`)
		response.(http.Flusher).Flush()
		<-request.Context().Done()
	}
	service, client := serve(t, half)
	client.config.Timeout = time.Second
	_, err := client.Update(t.Context(), "incident", "1", Record{})
	var timeout *TimeoutError
	expect(t, "a time-out", errors.As(err, &timeout), true)
	expect(t, "calls", len(service.seen()), 1)
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	service, client := serve(t, func(_ http.ResponseWriter, request *http.Request) {
		cancel()
		<-request.Context().Done()
	})
	_, err := client.Get(ctx, "incident", "1")
	expect(t, "cancelled", errors.Is(err, context.Canceled), true)
	expect(t, "calls", len(service.seen()), 1)

	ctx, cancel = context.WithCancel(t.Context())
	service, client = serve(t, failure(503, ErrorCodeOverloaded))
	client.clock.sleep = func(ctx context.Context, _ time.Duration) error {
		cancel()
		return sleep(ctx, time.Hour)
	}
	_, err = client.Get(ctx, "incident", "1")
	expect(t, "cancelled in a pause", errors.Is(err, context.Canceled), true)
	var failure *Error
	expect(t, "says what was before", errors.As(err, &failure), true)
	expect(t, "calls", len(service.seen()), 1)
}

func TestACertificateThatIsNotTrustedIsNotTriedAgain(t *testing.T) {
	service := httptest.NewUnstartedServer(http.NotFoundHandler())
	service.Config.ErrorLog = log.New(io.Discard, "", 0)
	service.StartTLS()
	defer service.Close()
	_, client := serve(t)
	client.base = must(url.Parse(service.URL))(t)
	client.clock.sleep = func(context.Context, time.Duration) error {
		t.Error("tried again")
		return nil
	}
	_, err := client.Get(t.Context(), "incident", "1")
	var connection *ConnectionError
	expect(t, "error", errors.As(err, &connection), true)
}

func TestNoConnection(t *testing.T) {
	service, client := serve(t)
	service.Close()
	_, err := client.Elements.GetOAuthUrl(t.Context(), "salesforce", &GetOAuthUrlParams{ApiSecret: "of-the-provider"})
	var connection *ConnectionError
	expect(t, "kind", errors.As(err, &connection), true)
	expect(t, "pauses", len(service.pauses), 3)
	if strings.Contains(err.Error(), "of-the-provider") || !strings.Contains(err.Error(), "GET /elements/salesforce/oauth/url") {
		t.Errorf("got %v", err)
	}
}

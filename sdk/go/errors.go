package causeway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Error is an error that the service returned. Decide by its Code, or by [errors.Is] and one of the kinds such as
// [ErrNotFound], never by the text of the message.
type Error struct {
	// Method and Path are those of the call. The path has no query.
	Method, Path string
	// Status is the status of the response.
	Status int
	// Code is one of the ErrorCode constants, or one that this version does not know. It is empty when something else
	// than the service responded, such as a proxy.
	Code ErrorCode
	// Message says what went wrong, where, and what was expected.
	Message string
	// RequestID identifies the request in logs and in [ActivityAPI.GetActivity].
	RequestID string
	// Details are the single faults. Position and length of a fault in a `where` count UTF-16 units.
	Details []ErrorDetail
	// ProviderMessage is the provider's own text.
	ProviderMessage string
	// RetryAfter is the time to wait before the next attempt; 0 when the service did not report it.
	RetryAfter time.Duration
}

// Error returns the call, the status and the reason. It contains no secret.
func (e *Error) Error() string {
	text := fmt.Sprintf("causeway: %s %s: %d %s: %s", e.Method, e.Path, e.Status, e.Code, e.Message)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// At returns the position of the first fault in the `where`, in UTF-16 units.
func (e *Error) At() (position, length int, ok bool) {
	for _, detail := range e.Details {
		if detail.Position != nil {
			return *detail.Position, ValueOf(detail.Length), true
		}
	}
	return 0, 0, false
}

// Suggestion returns the most similar known name for an unknown one; empty without a similar name.
func (e *Error) Suggestion() string {
	for _, detail := range e.Details {
		if detail.Nearest != nil {
			return *detail.Nearest
		}
	}
	return ""
}

// Is reports whether the error is of a kind such as [ErrNotFound].
func (e *Error) Is(target error) bool {
	kind, ok := target.(*kind)
	return ok && slices.Contains(kind.codes, e.Code)
}

// kind is a group of error codes.
type kind struct {
	text  string
	codes []ErrorCode
}

func (k *kind) Error() string { return "causeway: " + k.text }

// These are the kinds of errors for [errors.Is].
var (
	// ErrNotFound means that the record, the object or another resource does not exist.
	ErrNotFound error = &kind{"not found", []ErrorCode{ErrorCodeNotFound}}
	// ErrWhere means that the filter is invalid, does not fit the object, or cannot be evaluated. The Details have the
	// position.
	ErrWhere error = &kind{"filter refused", []ErrorCode{
		ErrorCodeWhereSyntax, ErrorCodeWhereInvalid, ErrorCodeWhereUnsupported,
	}}
	// ErrRateLimited means too many requests to the service or to the provider. RetryAfter is the time to wait.
	ErrRateLimited error = &kind{"rate limited", []ErrorCode{ErrorCodeRateLimited, ErrorCodeProviderRateLimited}}
	// ErrUnauthenticated means that a secret is wrong, or that its owner is inactive.
	ErrUnauthenticated error = &kind{"unauthenticated", []ErrorCode{ErrorCodeUnauthenticated}}
	// ErrForbidden means that the user lacks the privilege.
	ErrForbidden error = &kind{"forbidden", []ErrorCode{ErrorCodeForbidden}}
	// ErrConflict means that the current state does not allow the operation.
	ErrConflict error = &kind{"conflict", []ErrorCode{ErrorCodeConflict}}
	// ErrCredentials means that the provider rejects the credentials, so the account must be connected again.
	ErrCredentials error = &kind{"credentials refused by the provider", []ErrorCode{
		ErrorCodeProviderCredentialsInvalid, ErrorCodeInstanceCredentialsFailed,
	}}
	// ErrProvider means that the provider rejected the request, failed, or did not respond.
	ErrProvider error = &kind{"failure of the provider", []ErrorCode{
		ErrorCodeProviderRejected, ErrorCodeProviderRateLimited, ErrorCodeProviderUnavailable,
		ErrorCodeProviderProtocol, ErrorCodeProviderTimeout,
		ErrorCodeProviderCredentialsInvalid, ErrorCodeInstanceCredentialsFailed,
	}}
)

// ConnectionError reports a call without a complete response. The service may have processed it.
type ConnectionError struct {
	Method, Path string
	Err          error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("causeway: %s %s: no response: %v", e.Method, e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

// TimeoutError reports a call whose last attempt took longer than the timeout of the client. The end of a context is
// another error: [context.DeadlineExceeded] or [context.Canceled].
type TimeoutError struct {
	Method, Path string
	After        time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("causeway: %s %s: no response within %s", e.Method, e.Path, e.After)
}

// Timeout returns true, as [net.Error] defines it.
func (e *TimeoutError) Timeout() bool { return true }

// errTimeout ends an attempt that takes too long.
var errTimeout = errors.New("the attempt took too long")

// maxMessage is the maximum length that is kept of a response that did not come from the service.
const maxMessage = 200

func errorOf(method, path string, response *http.Response, body []byte, now time.Time) *Error {
	failure := &Error{
		Method: method, Path: path, Status: response.StatusCode,
		RequestID:  response.Header.Get("Elements-Request-Id"),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), now),
	}
	var answer ErrorResponse
	if json.Unmarshal(body, &answer) != nil || answer.Code == "" {
		text := strings.ToValidUTF8(string(body[:min(len(body), maxMessage)]), "")
		failure.Message = "a response that does not come from the service: " + strconv.Quote(text)
		return failure
	}
	failure.Code, failure.Message, failure.Details = answer.Code, answer.Message, answer.Details
	failure.ProviderMessage = ValueOf(answer.ProviderMessage)
	if failure.RequestID == "" {
		failure.RequestID = answer.RequestId
	}
	return failure
}

// retryAfter reads seconds or a date. It returns 0 for any other text and for a time in the past.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), maxRetryAfter)) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// maxRetryAfter is a year in seconds. A longer time would not fit into a Duration.
const maxRetryAfter = 365 * 24 * 60 * 60

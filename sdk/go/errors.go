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

// Error is a failure that the service answered. Decide by its Code, or by [errors.Is] and one of the kinds such as
// [ErrNotFound], never by the text of the message.
type Error struct {
	// Method and Path of the call, the path without its query.
	Method, Path string
	// Status of the answer.
	Status int
	// Code is one of the ErrorCode constants, or one that this version does not know. Empty when the answer is not
	// one of the service, as where a proxy in between answered.
	Code ErrorCode
	// Message says what went wrong, where, and what was expected.
	Message string
	// RequestID finds the request in logs and in [ActivityAPI.GetActivity].
	RequestID string
	// Details are the faults one by one. The position and the length of a fault in a `where` count UTF-16 units.
	Details []ErrorDetail
	// ProviderMessage is in the provider's own words.
	ProviderMessage string
	// RetryAfter is when another try makes sense; 0 when the service did not say.
	RetryAfter time.Duration
}

// Error says what was called, what came and why. It has no secret in it.
func (e *Error) Error() string {
	text := fmt.Sprintf("causeway: %s %s: %d %s: %s", e.Method, e.Path, e.Status, e.Code, e.Message)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// At says where in the `where` the first fault is, in UTF-16 units.
func (e *Error) At() (position, length int, ok bool) {
	for _, detail := range e.Details {
		if detail.Position != nil {
			return *detail.Position, ValueOf(detail.Length), true
		}
	}
	return 0, 0, false
}

// Suggestion is the known name that is closest to one that is not known; empty where there is none.
func (e *Error) Suggestion() string {
	for _, detail := range e.Details {
		if detail.Nearest != nil {
			return *detail.Nearest
		}
	}
	return ""
}

// Is tells whether the error is of a kind such as [ErrNotFound].
func (e *Error) Is(target error) bool {
	kind, ok := target.(*kind)
	return ok && slices.Contains(kind.codes, e.Code)
}

// kind is what several codes have in common.
type kind struct {
	text  string
	codes []ErrorCode
}

func (k *kind) Error() string { return "causeway: " + k.text }

// Kinds of failures, for [errors.Is].
var (
	// ErrNotFound - there is no such record, object or other thing.
	ErrNotFound error = &kind{"not found", []ErrorCode{ErrorCodeNotFound}}
	// ErrWhere - the filter cannot be read, does not fit the object, or cannot be answered. The Details say where.
	ErrWhere error = &kind{"filter refused", []ErrorCode{
		ErrorCodeWhereSyntax, ErrorCodeWhereInvalid, ErrorCodeWhereUnsupported,
	}}
	// ErrRateLimited - too many requests, for the service or for the provider. RetryAfter says how long to wait.
	ErrRateLimited error = &kind{"rate limited", []ErrorCode{ErrorCodeRateLimited, ErrorCodeProviderRateLimited}}
	// ErrUnauthenticated - a secret is wrong, or what it stands for is inactive.
	ErrUnauthenticated error = &kind{"unauthenticated", []ErrorCode{ErrorCodeUnauthenticated}}
	// ErrForbidden - the user may not do this.
	ErrForbidden error = &kind{"forbidden", []ErrorCode{ErrorCodeForbidden}}
	// ErrConflict - what is there does not let this happen.
	ErrConflict error = &kind{"conflict", []ErrorCode{ErrorCodeConflict}}
	// ErrCredentials - the provider does not take the credentials, so somebody has to connect again.
	ErrCredentials error = &kind{"credentials refused by the provider", []ErrorCode{
		ErrorCodeProviderCredentialsInvalid, ErrorCodeInstanceCredentialsFailed,
	}}
	// ErrProvider - the provider refused, failed, or did not answer.
	ErrProvider error = &kind{"failure of the provider", []ErrorCode{
		ErrorCodeProviderRejected, ErrorCodeProviderRateLimited, ErrorCodeProviderUnavailable,
		ErrorCodeProviderProtocol, ErrorCodeProviderTimeout,
		ErrorCodeProviderCredentialsInvalid, ErrorCodeInstanceCredentialsFailed,
	}}
)

// ConnectionError is a call that got no answer, or not all of it: the service may have done what it was asked.
type ConnectionError struct {
	Method, Path string
	Err          error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("causeway: %s %s: no answer: %v", e.Method, e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

// TimeoutError is a call whose last attempt took longer than the timeout of the client. The end of a context is not one:
// that is [context.DeadlineExceeded] or [context.Canceled].
type TimeoutError struct {
	Method, Path string
	After        time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("causeway: %s %s: no answer within %s", e.Method, e.Path, e.After)
}

// Timeout is true, as [net.Error] has it.
func (e *TimeoutError) Timeout() bool { return true }

// errTimeout ends an attempt that takes too long.
var errTimeout = errors.New("the attempt took too long")

// maxMessage is how much is kept of an answer that the service did not make.
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
		failure.Message = "an answer that is not one of the service: " + strconv.Quote(text)
		return failure
	}
	failure.Code, failure.Message, failure.Details = answer.Code, answer.Message, answer.Details
	failure.ProviderMessage = ValueOf(answer.ProviderMessage)
	if failure.RequestID == "" {
		failure.RequestID = answer.RequestId
	}
	return failure
}

// retryAfter reads seconds or a date; 0 when it is neither, or past.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), maxRetryAfter)) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// maxRetryAfter is a year, in seconds: what is longer would be too long for a Duration.
const maxRetryAfter = 365 * 24 * 60 * 60

package causeway

import (
	"bytes"
	"encoding/json"
)

// Record is what a provider has under one id, by the names of its fields. Numbers are [json.Number], so that none is
// rounded.
type Record = map[string]any

// InstanceProviderGrant has every parameter that came to the callback URL of an OAuth 2.0 code flow, `code` and `state`
// and what the provider sends beside them.
type InstanceProviderGrant map[string]string

// ObjectSummaryOrName is the summary: names alone are answered to other versions of the API.
type ObjectSummaryOrName = ObjectSummary

// Ptr gives a pointer to a value, for members that may be left out.
func Ptr[T any](value T) *T { return &value }

// ValueOf gives what a pointer points to, and the zero value for nil.
func ValueOf[T any](pointer *T) (value T) {
	if pointer != nil {
		value = *pointer
	}
	return value
}

// Nullable is a value that may be null, which is something else than absent. The zero Nullable is absent.
type Nullable[T any] struct {
	value *T
	isSet bool
}

// NonNull is a value.
func NonNull[T any](value T) Nullable[T] { return Nullable[T]{&value, true} }

// Null is sent as null.
func Null[T any]() Nullable[T] { return Nullable[T]{nil, true} }

// Get gives the value, and whether there is one.
func (n Nullable[T]) Get() (value T, ok bool) { return ValueOf(n.value), n.value != nil }

// IsZero tells whether the value is absent, so neither null nor a value.
func (n Nullable[T]) IsZero() bool { return !n.isSet }

// MarshalJSON writes the value or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// UnmarshalJSON reads a value or null.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	n.value, n.isSet = nil, true
	return decode(data, &n.value)
}

// decode is json.Unmarshal, but for numbers of any type, which keep all their digits.
func decode(data []byte, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(target)
}

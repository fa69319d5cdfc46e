package causeway

import (
	"bytes"
	"encoding/json"
)

// Record is a record of a provider, with its values by field name. Numbers are [json.Number], so that they keep all
// their digits.
type Record = map[string]any

// InstanceProviderGrant has every parameter that the callback URL of an OAuth 2.0 code flow received: `code`, `state`,
// and those that the provider adds.
type InstanceProviderGrant map[string]string

// ObjectSummaryOrName is always the summary, because only other versions of the API return names alone.
type ObjectSummaryOrName = ObjectSummary

// Ptr returns a pointer to a value, for optional members.
func Ptr[T any](value T) *T { return &value }

// ValueOf returns the value of a pointer, and the zero value for nil.
func ValueOf[T any](pointer *T) (value T) {
	if pointer != nil {
		value = *pointer
	}
	return value
}

// Nullable is a value that may be null, which differs from absent. The zero Nullable is absent.
type Nullable[T any] struct {
	value *T
	isSet bool
}

// NonNull returns a Nullable with a value.
func NonNull[T any](value T) Nullable[T] { return Nullable[T]{&value, true} }

// Null returns a Nullable that is sent as null.
func Null[T any]() Nullable[T] { return Nullable[T]{nil, true} }

// Get returns the value, and whether there is one.
func (n Nullable[T]) Get() (value T, ok bool) { return ValueOf(n.value), n.value != nil }

// IsZero reports whether the value is absent, so neither null nor a value.
func (n Nullable[T]) IsZero() bool { return !n.isSet }

// MarshalJSON encodes the value or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// UnmarshalJSON decodes a value or null.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	n.value, n.isSet = nil, true
	return decode(data, &n.value)
}

// decode works like json.Unmarshal, but numbers of any type keep all their digits.
func decode(data []byte, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(target)
}

package causeway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// ErrSignature is the error of a delivery without a valid signature, or with one from another time.
var ErrSignature = errors.New("causeway: the signature is not good")

// Event is an event as a receiver gets it.
type Event struct {
	// ID is the same for every attempt and every redelivery. Ignore an event whose id you have seen.
	ID string `json:"id"`
	// Type is `<objectName>.created`, `.updated`, `.deleted` or `.unknown`, or the type of an operational event.
	Type string `json:"type"`
	// Timestamp is the time of the change.
	Timestamp time.Time `json:"timestamp"`
	Data      EventData `json:"data"`
}

// EventData describes the change and its record. Operational events have other members, which are only in Rest.
type EventData struct {
	ObjectName string          `json:"objectName"`
	ObjectID   string          `json:"objectId"`
	ElementKey string          `json:"elementKey"`
	Hub        string          `json:"hub"`
	AccountID  int64           `json:"accountId"`
	Instance   *EventInstance  `json:"instance"`
	Object     Record          `json:"object"`
	Raw        json.RawMessage `json:"raw"`
	// Rest has all members as received.
	Rest Record `json:"-"`
}

// EventInstance is the instance that an event belongs to.
type EventInstance struct {
	ID   int64    `json:"id"`
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

// UnmarshalJSON decodes all members.
func (d *EventData) UnmarshalJSON(text []byte) error {
	type named EventData
	if err := decode(text, (*named)(d)); err != nil {
		return err
	}
	return decode(text, &d.Rest)
}

// EventVerifier verifies that events come from the service.
type EventVerifier struct {
	webhooks []*standardwebhooks.Webhook
}

// NewEventVerifier creates a verifier from the secrets of a subscription. One of them must match: for 24 hours after a
// rotation, deliveries are signed with both the old and the new one.
func NewEventVerifier(secrets ...string) (*EventVerifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("causeway: a verifier needs a secret")
	}
	verifier := &EventVerifier{}
	for _, secret := range secrets {
		webhook, err := standardwebhooks.NewWebhook(secret)
		if err != nil || secret == "" || secret == "whsec_" {
			return nil, errors.New("causeway: a secret of a subscription cannot be read; it is `whsec_` and base64")
		}
		verifier.webhooks = append(verifier.webhooks, webhook)
	}
	return verifier, nil
}

// Verify verifies the headers and the unchanged body of a delivery, and returns its event. It fails with [ErrSignature],
// or with another error for a signed body that is no event.
func (v *EventVerifier) Verify(body []byte, header http.Header) (*Event, error) {
	if err := v.check(body, header); err != nil {
		return nil, err
	}
	event := &Event{}
	if err := decode(body, event); err != nil {
		return nil, fmt.Errorf("causeway: the body is no event: %w", err)
	}
	return event, nil
}

func (v *EventVerifier) check(body []byte, header http.Header) (err error) {
	for _, webhook := range v.webhooks {
		if err = webhook.Verify(body, header); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: %w", ErrSignature, err)
}

// VerifyBody verifies the header `Elements-Webhook-Signature` of an unchanged body with one of the keys. Instances with
// `event.notification.signature.key` send it. It does not show when the body was signed.
func VerifyBody(body []byte, header http.Header, keys ...string) error {
	text, found := strings.CutPrefix(header.Get("Elements-Webhook-Signature"), "sha256=")
	signature, err := base64.StdEncoding.DecodeString(text)
	if !found || err != nil {
		return fmt.Errorf("%w: the header Elements-Webhook-Signature is missing or not `sha256=` and base64", ErrSignature)
	}
	for _, key := range keys {
		hash := hmac.New(sha256.New, []byte(key))
		hash.Write(body)
		if key != "" && hmac.Equal(signature, hash.Sum(nil)) {
			return nil
		}
	}
	return ErrSignature
}

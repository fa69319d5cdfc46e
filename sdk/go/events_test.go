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
	"testing"
	"time"
)

const (
	oldSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	newSecret = "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
)

const eventBody = `{"id":"evt_1","type":"incident.created","timestamp":"2026-01-20T08:32:50.000Z","data":{"objectName":"incident",
	"objectId":"9","accountId":12,"instance":{"id":427,"name":"n","tags":["t"]},"object":{"priority":9007199254740993},"later":true}}`

// signed returns the headers of a delivery that is signed with the secrets as Standard Webhooks defines it.
func signed(body string, at time.Time, secrets ...string) http.Header {
	header := http.Header{}
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
	var signatures []string
	for _, secret := range secrets {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		signatures = append(signatures, "v1,"+sign(key, fmt.Sprintf("evt_1.%d.%s", at.Unix(), body)))
	}
	header.Set("webhook-signature", strings.Join(signatures, " "))
	return header
}

func sign(key []byte, text string) string {
	hash := hmac.New(sha256.New, key)
	hash.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(hash.Sum(nil))
}

func TestEventsAreVerified(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		name    string
		body    string
		header  http.Header
		secrets []string
		isGood  bool
	}{
		{"its secret", eventBody, signed(eventBody, now, newSecret), []string{newSecret}, true},
		{"another secret", eventBody, signed(eventBody, now, newSecret), []string{oldSecret}, false},
		{"two secrets of the receiver", eventBody, signed(eventBody, now, newSecret), []string{oldSecret, newSecret}, true},
		{"two signatures", eventBody, signed(eventBody, now, newSecret, oldSecret), []string{oldSecret}, true},
		{"another body", strings.Replace(eventBody, "9", "8", 1), signed(eventBody, now, newSecret), []string{newSecret}, false},
		{"an hour ago", eventBody, signed(eventBody, now.Add(-time.Hour), newSecret), []string{newSecret}, false},
		{"no headers", eventBody, http.Header{}, []string{newSecret}, false},
	} {
		event, err := must(NewEventVerifier(test.secrets...))(t).Verify([]byte(test.body), test.header)
		expect(t, test.name, err == nil, test.isGood)
		expect(t, test.name+", kind", errors.Is(err, ErrSignature), !test.isGood)
		expect(t, test.name+", event", event != nil, test.isGood)
	}
}

func TestEventIsRead(t *testing.T) {
	event := must(must(NewEventVerifier(newSecret))(t).Verify([]byte(eventBody), signed(eventBody, time.Now(), newSecret)))(t)
	expect(t, "id", event.ID, "evt_1")
	expect(t, "type", event.Type, "incident.created")
	expect(t, "time", event.Timestamp, time.Date(2026, 1, 20, 8, 32, 50, 0, time.UTC))
	expect(t, "object", event.Data.ObjectName+" "+event.Data.ObjectID, "incident 9")
	expect(t, "instance", event.Data.Instance.ID, 427)
	expect(t, "record", event.Data.Object["priority"], any(json.Number("9007199254740993")))
	expect(t, "what a later version adds", event.Data.Rest["later"], any(true))
	_, err := must(NewEventVerifier(newSecret))(t).Verify([]byte("no JSON"), signed("no JSON", time.Now(), newSecret))
	expect(t, "a signed body that is no event", err != nil && !errors.Is(err, ErrSignature), true)
}

func TestSecretsOfSubscriptionsAreChecked(t *testing.T) {
	for _, secrets := range [][]string{{}, {""}, {"whsec_"}, {"whsec_no base64!"}, {newSecret, ""}} {
		_, err := NewEventVerifier(secrets...)
		if err == nil || strings.Contains(err.Error(), "base64!") {
			t.Errorf("%q: got %v", secrets, err)
		}
	}
}

func TestBodySignature(t *testing.T) {
	header := func(text string) http.Header { return http.Header{"Elements-Webhook-Signature": {text}} }
	good := "sha256=" + sign([]byte("key"), eventBody)
	expect(t, "good", VerifyBody([]byte(eventBody), header(good), "key"), nil)
	expect(t, "good by the second", VerifyBody([]byte(eventBody), header(good), "other", "key"), nil)
	for name, err := range map[string]error{
		"another key":    VerifyBody([]byte(eventBody), header(good), "other"),
		"no key":         VerifyBody([]byte(eventBody), header(good)),
		"an empty key":   VerifyBody([]byte(eventBody), header("sha256="+sign(nil, eventBody)), ""),
		"another body":   VerifyBody([]byte(eventBody+" "), header(good), "key"),
		"no header":      VerifyBody([]byte(eventBody), http.Header{}, "key"),
		"another prefix": VerifyBody([]byte(eventBody), header(strings.TrimPrefix(good, "sha256=")), "key"),
		"no base64":      VerifyBody([]byte(eventBody), header("sha256=!"), "key"),
	} {
		expect(t, name, errors.Is(err, ErrSignature), true)
	}
}

package causeway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	userSecret         = "user-secret-1"
	organizationSecret = "organization-secret-2"
	elementToken       = "element-token-3"
)

// script is a service that sends prepared responses one after the other, and records the requests.
type script struct {
	*httptest.Server
	mutex   sync.Mutex
	answers []http.HandlerFunc
	calls   []*http.Request
	bodies  []string
	pauses  []time.Duration
}

func (s *script) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	s.mutex.Lock()
	s.calls = append(s.calls, request)
	s.bodies = append(s.bodies, string(body))
	answer := json200(`{}`)
	if len(s.answers) > 0 {
		answer, s.answers = s.answers[0], s.answers[1:]
	}
	s.mutex.Unlock()
	answer(response, request)
}

// seen returns the requests so far, with their bodies.
func (s *script) seen() []*http.Request {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.calls
}

func (s *script) sent() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.bodies
}

// serve starts a scripted service and a client of it that never waits.
func serve(t *testing.T, answers ...http.HandlerFunc) (*script, *Client) {
	t.Helper()
	service := &script{answers: answers}
	service.Server = httptest.NewServer(service)
	t.Cleanup(service.Close)
	client, err := New(Config{
		URL: service.URL, UserSecret: userSecret, OrganizationSecret: organizationSecret, ElementToken: elementToken,
	})
	if err != nil {
		t.Fatal(err)
	}
	client.clock.sleep = func(ctx context.Context, pause time.Duration) error {
		service.pauses = append(service.pauses, pause)
		return ctx.Err()
	}
	return service, client
}

func json200(body string, header ...string) http.HandlerFunc { return answer(200, body, header...) }

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(response http.ResponseWriter, _ *http.Request) {
		for index := 0; index < len(header); index += 2 {
			response.Header().Set(header[index], header[index+1])
		}
		response.Header().Set("Content-Type", "application/json")
		response.Header().Set("Elements-Request-Id", "request-1")
		response.WriteHeader(status)
		io.WriteString(response, body)
	}
}

func failure(status int, code ErrorCode, header ...string) http.HandlerFunc {
	return answer(status, fmt.Sprintf(`{"requestId":"request-1","code":%q,"message":"No."}`, code), header...)
}

// hangUp breaks the connection.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func TestURL(t *testing.T) {
	for given, want := range map[string]string{
		"http://host:1":                   "http://host:1/elements/api-v2",
		"http://host:1/":                  "http://host:1/elements/api-v2",
		"https://host/elements/api-v2":    "https://host/elements/api-v2",
		"https://host/elements/api-v2///": "https://host/elements/api-v2",
		"https://host/other":              "https://host/other",
	} {
		client := must(New(Config{URL: given, UserSecret: "u"}))(t)
		expect(t, given, client.base.String(), want)
	}
	for _, given := range []string{"", "host", "ftp://host", "http://", "http://u:pass@host", "http://host?a=b", "http://host#a", "::"} {
		if _, err := New(Config{URL: given, UserSecret: "u"}); err == nil || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%q: got %v", given, err)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	t.Setenv("CAUSEWAY_URL", "http://host")
	t.Setenv("CAUSEWAY_USER_SECRET", "u")
	t.Setenv("CAUSEWAY_ORGANIZATION_SECRET", "o")
	t.Setenv("CAUSEWAY_ELEMENT_TOKEN", "e")
	client := must(FromEnvironment(func(config *Config) { config.Timeout = time.Second }))(t)
	expect(t, "authorization", must(client.authorization(byUserElement))(t), "User u, Organization o, Element e")
	expect(t, "time-out", client.config.Timeout, time.Second)
	for _, name := range []string{"CAUSEWAY_USER_SECRET", "CAUSEWAY_URL"} {
		t.Setenv(name, "")
		if _, err := FromEnvironment(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: got %v", name, err)
		}
	}
}

func TestAuthorization(t *testing.T) {
	service, client := serve(t, json200(`[]`), json200(`[]`), json200(`[]`), json200(`{}`))
	ctx := t.Context()
	must(client.List(ctx, "incident", Query{}).Page())(t)
	must(client.Instances.ListInstances(ctx, nil).Page())(t)
	must(client.WithInstance("another").List(ctx, "incident", Query{}).Page())(t)
	must(client.WithAccount("acme").Accounts.GetAccount(ctx, "1"))(t)
	platform := "User user-secret-1, Organization organization-secret-2"
	for index, want := range []string{platform + ", Element element-token-3", platform, platform + ", Element another", platform} {
		expect(t, "Authorization", service.seen()[index].Header.Get("Authorization"), want)
		expect(t, "Elements-Version", service.seen()[index].Header.Get("Elements-Version"), "Helium")
		agent := service.seen()[index].Header.Get("User-Agent")
		if !strings.HasPrefix(agent, "causeway-go/"+Version+" (go1.") {
			t.Errorf("User-Agent: %s", agent)
		}
	}
	expect(t, "account", service.seen()[3].Header.Get("Elements-Account-Id"), "acme")
	expect(t, "no account", service.seen()[2].Header.Get("Elements-Account-Id"), "")
}

func TestAccessKey(t *testing.T) {
	service, _ := serve(t, json200(`[]`), json200(`[]`), json200(`[]`))
	client := must(New(Config{URL: service.URL, Key: "ck_1"}))(t)
	must(client.List(t.Context(), "incident", Query{}).Page())(t)
	must(client.WithInstanceID(3).List(t.Context(), "incident", Query{}).Page())(t)
	must(client.WithInstanceID(3).Instances.ListInstances(t.Context(), nil).Page())(t)
	for index, id := range []string{"", "3", ""} {
		expect(t, "Authorization", service.seen()[index].Header.Get("Authorization"), "Bearer ck_1")
		expect(t, "Elements-Instance-Id", service.seen()[index].Header.Get("Elements-Instance-Id"), id)
	}
	for _, config := range []Config{{Key: "ck_1", UserSecret: "u"}, {Key: "ck_1", ElementToken: "e"}, {UserSecret: "u", InstanceID: 3}} {
		config.URL = service.URL
		if _, err := New(config); err == nil {
			t.Errorf("%d: got a client", config.InstanceID)
		}
	}
	t.Setenv("CAUSEWAY_URL", "http://host")
	t.Setenv("CAUSEWAY_KEY", "ck_1")
	t.Setenv("CAUSEWAY_USER_SECRET", "ignored")
	t.Setenv("CAUSEWAY_INSTANCE_ID", "3")
	expect(t, "the id", must(FromEnvironment())(t).config.InstanceID, 3)
	t.Setenv("CAUSEWAY_INSTANCE_ID", "x")
	if _, err := FromEnvironment(); err == nil || !strings.Contains(err.Error(), "CAUSEWAY_INSTANCE_ID") {
		t.Errorf("got %v", err)
	}
}

func TestMissingAndBrokenSecrets(t *testing.T) {
	service, _ := serve(t)
	for name, config := range map[string]Config{
		"no token":           {UserSecret: "u", OrganizationSecret: "o"},
		"a blank":            {UserSecret: "u", ElementToken: "se cret"},
		"a comma":            {UserSecret: "u", ElementToken: "a,Organization"},
		"a line end":         {UserSecret: "u\r\nX-Injected: 1", ElementToken: "e"},
		"a letter of others": {UserSecret: "ü", ElementToken: "e"},
	} {
		config.URL = service.URL
		_, err := must(New(config))(t).Get(t.Context(), "incident", "1")
		if err == nil || strings.Contains(err.Error(), "Injected") || strings.Contains(err.Error(), "se cret") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := must(New(Config{URL: service.URL, UserSecret: "u"}))(t).Accounts.GetAccount(t.Context(), "1"); err == nil {
		t.Error("a call on the platform without the organization")
	}
	if _, err := New(Config{URL: service.URL}); err == nil {
		t.Error("a client of nobody")
	}
	expect(t, "calls", len(service.seen()), 0)
}

// TestSecretsStaySecret prints a client, its parts and its errors in every possible way.
func TestSecretsStaySecret(t *testing.T) {
	_, client := serve(t, failure(401, ErrorCodeUnauthenticated), hangUp)
	config := Config{UserSecret: userSecret, OrganizationSecret: organizationSecret, ElementToken: elementToken}
	_, refused := client.Get(t.Context(), "incident", "1")
	_, broken := client.Elements.GetOAuthUrl(t.Context(), "salesforce", &GetOAuthUrlParams{ApiSecret: userSecret})
	hidden := struct{ client *Client }{client}
	values := []any{client, *client, hidden, config, &config, client.Records, client.List(t.Context(), "a", Query{}), refused, broken}
	var log bytes.Buffer
	for _, value := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&log, verb+"\n", value)
		}
		slog.New(slog.NewJSONHandler(&log, nil)).Info("", "value", value)
		slog.New(slog.NewTextHandler(&log, nil)).Info("", "value", value)
		text, _ := json.Marshal(value)
		log.Write(text)
	}
	for _, secret := range []string{userSecret, organizationSecret, elementToken, fmt.Sprintf("%x", userSecret)} {
		if at := strings.Index(log.String(), secret); at >= 0 {
			t.Errorf("%s is printed: …%s…", secret, log.String()[max(0, at-100):at+20])
		}
	}
	if !strings.Contains(fmt.Sprint(client), "causeway.Client(http://127.0.0.1") {
		t.Errorf("a client prints as %v", client)
	}
}

func TestPathsAndQueries(t *testing.T) {
	service, client := serve(t)
	ctx := t.Context()
	must(client.Get(ctx, "affiliates/commissions", "a/b?c#d%20é"))(t)
	expect(t, "path", service.seen()[0].URL.EscapedPath(), "/elements/api-v2/affiliates%2Fcommissions/a%2Fb%3Fc%23d%2520%C3%A9")
	for _, id := range []string{"", ".", ".."} {
		if _, err := client.Get(ctx, "incident", id); err == nil {
			t.Errorf("%q was taken for an id", id)
		}
	}
	client.Instances.ListInstances(ctx, &ListInstancesParams{Tags: []string{"a", "b&c"}, PageSize: 5, Where: Where("name = ?", "x & y+z")}).Page()
	expect(t, "query", service.seen()[1].URL.RawQuery, "pageSize=5&tags%5B%5D=a&tags%5B%5D=b%26c&where=name+%3D+%27x+%26+y%2Bz%27")
	client.Notifications.ListDeliveries(ctx, &ListDeliveriesParams{Hydrate: Ptr(false)}).Page()
	expect(t, "false is sent", service.seen()[2].URL.RawQuery, "hydrate=false")
	client.List(ctx, "incident", Query{Fields: []string{"a", "b.c"}, MaxProviderCalls: 3, Mode: QueryModePushdownOnly}).Page()
	expect(t, "fields", service.seen()[3].URL.Query().Get("fields"), "a,b.c")
	expect(t, "budget", service.seen()[3].Header.Get("Elements-Max-Provider-Calls"), "3")
	expect(t, "mode", service.seen()[3].Header.Get("Elements-Query-Mode"), "pushdown-only")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	other, _ := serve(t)
	_, client := serve(t, answer(307, "", "Location", other.URL))
	_, err := client.Get(t.Context(), "incident", "1")
	var failure *Error
	if !errors.As(err, &failure) || failure.Status != 307 || failure.Code != "" {
		t.Errorf("got %v", err)
	}
	expect(t, "calls", len(other.seen()), 0)
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	_, client := serve(t, json200(`{"id":9007199254740993,"price":0.10}`))
	record := must(client.Get(t.Context(), "incident", "1"))(t)
	expect(t, "id", record["id"], any(json.Number("9007199254740993")))
	expect(t, "price", record["price"], any(json.Number("0.10")))
	type priced struct {
		ID    int64       `json:"id"`
		Price json.Number `json:"price"`
	}
	expect(t, "as a type", must(To[priced](record))(t), priced{9007199254740993, "0.10"})
}

func TestNullable(t *testing.T) {
	for want, update := range map[string]UserUpdate{
		`{}`:                  {},
		`{"externalId":null}`: {ExternalId: Null[string]()},
		`{"externalId":"a"}`:  {ExternalId: NonNull("a")},
		`{"active":false}`:    {Active: Ptr(false)},
		`{"firstName":""}`:    {FirstName: Ptr("")},
	} {
		expect(t, "JSON", string(must(json.Marshal(update))(t)), want)
	}
	var user User
	if err := json.Unmarshal([]byte(`{"externalId":null,"memberOfALaterVersion":1}`), &user); err != nil {
		t.Fatal(err)
	}
	_, ok := user.ExternalId.Get()
	expect(t, "null is a value", ok, false)
	expect(t, "null is absent", user.ExternalId.IsZero(), false)
}

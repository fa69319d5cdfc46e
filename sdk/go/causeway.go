// Package causeway is the client of Causeway, one API over many providers.
//
// A [Client] is made by [New] or [FromEnvironment] and used by any number of goroutines. What has to do with one
// connection to a provider goes through a client that is bound to it by [Client.WithInstance]: its records, objects and
// bulk downloads. Everything else is the platform: [Client.Instances], [Client.Accounts] and the others.
package causeway

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"
)

// Version is that of this module and of the specification it was made from.
const Version = "0.0.0-dev"

// basePath is where a service has its API, unless the URL says another path.
const basePath = "/elements/api-v2"

// DefaultTimeout is how long one attempt of a call may take.
const DefaultTimeout = 60 * time.Second

// Credential is a text that is never printed, logged or put into JSON.
type Credential string

// Format prints the same for every secret, whatever the verb.
func (Credential) Format(state fmt.State, _ rune) { io.WriteString(state, "********") }

// MarshalText is the same for every secret.
func (Credential) MarshalText() ([]byte, error) { return []byte("********"), nil }

// LogValue is the same for every secret.
func (Credential) LogValue() slog.Value { return slog.StringValue("********") }

// Config is what a client is made of. URL, UserSecret and OrganizationSecret or ElementToken are needed.
type Config struct {
	// URL of the service. Without a path, `/elements/api-v2` is added.
	URL string
	// UserSecret says who calls.
	UserSecret Credential
	// OrganizationSecret is needed for the platform.
	OrganizationSecret Credential
	// ElementToken is that of an instance, needed for its records; [Client.WithInstance] sets another one.
	ElementToken Credential
	// AccountID is the account to work in, by its id or its external id, for users who may work in several; the own one
	// unless given.
	AccountID string
	// HTTPClient sends the requests, without following redirects; one of its own unless given.
	HTTPClient *http.Client
	// UserAgent is added to what the client calls itself, such as `my-service/1.2`.
	UserAgent string
	// Timeout of one attempt, DefaultTimeout unless given. Of a file it is the longest pause between two pieces.
	// The time of a whole call, with all its attempts, is limited by its context.
	Timeout time.Duration
	// Retries says how calls are tried again; what is 0 in it is as in [DefaultRetries].
	Retries *Retries
}

// Client calls a Causeway service. It is safe for use by several goroutines.
type Client struct {
	operations
	// Behind a pointer, so that nothing that prints a client prints its secrets.
	config *Config
	base   *url.URL
	http   *http.Client
	agent  string
	clock  clock
}

// New makes a client. It sends nothing.
func New(config Config) (*Client, error) {
	base, err := parseBase(config.URL)
	if err != nil {
		return nil, err
	}
	if config.UserSecret == "" {
		return nil, errors.New("causeway: UserSecret is missing")
	}
	if config.Timeout < 0 {
		return nil, errors.New("causeway: Timeout is negative")
	}
	config.Timeout = cmp.Or(config.Timeout, DefaultTimeout)
	retries := config.Retries.orDefault()
	config.Retries = &retries
	client := &Client{
		config: &config, base: base, http: httpClient(config.HTTPClient), agent: userAgent(config.UserAgent), clock: systemClock(),
	}
	client.operations = operationsOf(client)
	return client, nil
}

// FromEnvironment makes a client from CAUSEWAY_URL, CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET and
// CAUSEWAY_ELEMENT_TOKEN. Each option may change what was read.
func FromEnvironment(options ...func(*Config)) (*Client, error) {
	config := Config{
		URL:                os.Getenv("CAUSEWAY_URL"),
		UserSecret:         Credential(os.Getenv("CAUSEWAY_USER_SECRET")),
		OrganizationSecret: Credential(os.Getenv("CAUSEWAY_ORGANIZATION_SECRET")),
		ElementToken:       Credential(os.Getenv("CAUSEWAY_ELEMENT_TOKEN")),
	}
	for _, option := range options {
		option(&config)
	}
	if config.URL == "" {
		return nil, errors.New("causeway: CAUSEWAY_URL is not set")
	}
	if config.UserSecret == "" {
		return nil, errors.New("causeway: CAUSEWAY_USER_SECRET is not set")
	}
	return New(config)
}

// WithInstance gives a client that is bound to the instance with this token, and like this one in everything else.
func (c *Client) WithInstance(token string) *Client {
	return c.with(func(config *Config) { config.ElementToken = Credential(token) })
}

// WithAccount gives a client that works in another account of the organization, named by its id or its external id.
func (c *Client) WithAccount(id string) *Client {
	return c.with(func(config *Config) { config.AccountID = id })
}

func (c *Client) with(change func(*Config)) *Client {
	config := *c.config
	change(&config)
	changed := &Client{config: &config, base: c.base, http: c.http, agent: c.agent, clock: c.clock}
	changed.operations = operationsOf(changed)
	return changed
}

// Format shows where a client calls, and never by which secrets.
func (c Client) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "causeway.Client(%s)", c.base)
}

// LogValue is what [Client.Format] prints.
func (c Client) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// MarshalText is what [Client.Format] prints.
func (c Client) MarshalText() ([]byte, error) { return fmt.Append(nil, c), nil }

// scheme says by which secrets an operation is authorized.
type scheme int

const (
	byUserOrganization scheme = iota
	byUserElement
)

// authorization gives the header. To the platform the token of an instance is not sent: with it a path may name an object
// of the provider.
func (c *Client) authorization(scheme scheme) (string, error) {
	parts := []string{"User " + string(c.config.UserSecret)}
	if c.config.OrganizationSecret != "" {
		parts = append(parts, "Organization "+string(c.config.OrganizationSecret))
	} else if scheme == byUserOrganization {
		return "", errors.New("causeway: this call needs the OrganizationSecret, which the client was made without")
	}
	if scheme == byUserElement {
		if c.config.ElementToken == "" {
			return "", errors.New("causeway: this call is on an instance: make it with the client that WithInstance gives")
		}
		parts = append(parts, "Element "+string(c.config.ElementToken))
	}
	for _, part := range parts {
		if keyword, secret, _ := strings.Cut(part, " "); strings.ContainsFunc(secret, isNotInSecrets) {
			return "", fmt.Errorf("causeway: the secret for %s has a character that none has, such as a blank or a comma", keyword)
		}
	}
	return strings.Join(parts, ", "), nil
}

func (c *Client) setHeaders(header http.Header, scheme scheme) error {
	authorization, err := c.authorization(scheme)
	if err != nil {
		return err
	}
	header.Set("Authorization", authorization)
	header.Set("User-Agent", c.agent)
	header.Set("Elements-Version", "Helium")
	if c.config.AccountID != "" {
		header.Set("Elements-Account-Id", c.config.AccountID)
	}
	return nil
}

func parseBase(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return nil, errors.New("causeway: URL is not that of a service, such as https://causeway.example.com")
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("causeway: URL has a user, a query or a fragment, which mean nothing here")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	if base.Path == "" {
		base.Path = basePath
	}
	return base, nil
}

// httpClient is the given one, but for redirects: the service sends none, and the secrets are for nobody else.
func httpClient(given *http.Client) *http.Client {
	client := &http.Client{}
	if given != nil {
		*client = *given
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

func userAgent(suffix string) string {
	return strings.TrimSpace(fmt.Sprintf("causeway-go/%s (%s; %s) %s", Version, runtime.Version(), runtime.GOOS, suffix))
}

func isNotInSecrets(character rune) bool {
	return character <= ' ' || character == ',' || character > '~'
}

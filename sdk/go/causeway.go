// Package causeway is the client of Causeway, one API over many providers.
//
// [New] or [FromEnvironment] creates a [Client], which any number of goroutines can use. [Client.WithInstance] binds a
// client to one connected account of a provider, for its records, objects and bulk downloads. Everything else belongs to
// the platform: [Client.Instances], [Client.Accounts] and the others.
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
	"strconv"
	"strings"
	"time"
)

// Version is the version of this module, and of the specification that it was generated from.
const Version = "0.0.0-dev"

// basePath is the path of the API at a service, unless the URL has another path.
const basePath = "/elements/api-v2"

// DefaultTimeout is the time limit of one attempt.
const DefaultTimeout = 60 * time.Second

// Credential is a text that is never printed, logged or encoded as JSON.
type Credential string

// Format prints the same text for every secret, whatever the verb is.
func (Credential) Format(state fmt.State, _ rune) { io.WriteString(state, "********") }

// MarshalText returns the same text for every secret.
func (Credential) MarshalText() ([]byte, error) { return []byte("********"), nil }

// LogValue returns the same text for every secret.
func (Credential) LogValue() slog.Value { return slog.StringValue("********") }

// Config configures a client. URL is required, and Key, or UserSecret with OrganizationSecret or ElementToken.
type Config struct {
	// URL is the address of the service. Without a path, `/elements/api-v2` is added.
	URL string
	// Key is an access key. It replaces the other secrets.
	Key Credential
	// InstanceID is, with a Key, the id of the instance. A key that can be used with only one instance needs none.
	InstanceID int64
	// UserSecret identifies the user.
	UserSecret Credential
	// OrganizationSecret is required for operations of the platform.
	OrganizationSecret Credential
	// ElementToken is the token of an instance, required for its records. [Client.WithInstance] sets another one.
	ElementToken Credential
	// AccountID selects the account by its id or its external id, for users who may work in several. Default: the user's
	// own.
	AccountID string
	// HTTPClient sends the requests. Its redirects are not followed. Default: a client of its own.
	HTTPClient *http.Client
	// UserAgent is added to the client's own `User-Agent`, such as `my-service/1.2`.
	UserAgent string
	// Timeout is the time limit of one attempt. Default: DefaultTimeout. For a file, it is the longest pause between two
	// pieces. The context limits the whole call with all its attempts.
	Timeout time.Duration
	// Retries configures retries. Members that are 0 have the values of [DefaultRetries].
	Retries *Retries
}

// Client calls a Causeway service. It is safe for use by several goroutines.
type Client struct {
	operations
	// The secrets are behind a pointer, so that printing a client does not print them.
	config *Config
	base   *url.URL
	http   *http.Client
	agent  string
	clock  clock
}

// New creates a client. It sends nothing.
func New(config Config) (*Client, error) {
	base, err := parseBase(config.URL)
	if err != nil {
		return nil, err
	}
	if err := config.checkSecrets(); err != nil {
		return nil, err
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

func (c *Config) checkSecrets() error {
	if c.Key == "" && c.InstanceID != 0 {
		return errors.New("causeway: InstanceID needs a Key: without one, ElementToken names the instance")
	}
	if c.Key == "" && c.UserSecret == "" {
		return errors.New("causeway: UserSecret is missing")
	}
	if c.Key != "" && (c.UserSecret != "" || c.OrganizationSecret != "" || c.ElementToken != "") {
		return errors.New("causeway: a client needs either secrets or a Key, not both")
	}
	return nil
}

// FromEnvironment creates a client from CAUSEWAY_URL and CAUSEWAY_KEY, with CAUSEWAY_INSTANCE_ID if it is set. Without a
// key, it takes CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET and CAUSEWAY_ELEMENT_TOKEN. Each option can change the
// configuration.
func FromEnvironment(options ...func(*Config)) (*Client, error) {
	config, err := configFromEnvironment()
	if err != nil {
		return nil, err
	}
	for _, option := range options {
		option(&config)
	}
	if config.URL == "" {
		return nil, errors.New("causeway: CAUSEWAY_URL is not set")
	}
	if config.Key == "" && config.UserSecret == "" {
		return nil, errors.New("causeway: CAUSEWAY_USER_SECRET is not set")
	}
	return New(config)
}

func configFromEnvironment() (Config, error) {
	config := Config{URL: os.Getenv("CAUSEWAY_URL"), Key: Credential(os.Getenv("CAUSEWAY_KEY"))}
	if config.Key == "" {
		config.UserSecret = Credential(os.Getenv("CAUSEWAY_USER_SECRET"))
		config.OrganizationSecret = Credential(os.Getenv("CAUSEWAY_ORGANIZATION_SECRET"))
		config.ElementToken = Credential(os.Getenv("CAUSEWAY_ELEMENT_TOKEN"))
		return config, nil
	}
	text := os.Getenv("CAUSEWAY_INSTANCE_ID")
	if text == "" {
		return config, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return config, errors.New("causeway: CAUSEWAY_INSTANCE_ID must be the id of an instance, a whole number")
	}
	config.InstanceID = id
	return config, nil
}

// WithInstance returns a client with the same configuration that is bound to the instance with this token.
func (c *Client) WithInstance(token string) *Client {
	return c.with(func(config *Config) { config.ElementToken = Credential(token) })
}

// WithInstanceID returns a client with the same configuration and its Key that is bound to the instance with this id.
func (c *Client) WithInstanceID(id int64) *Client {
	return c.with(func(config *Config) { config.InstanceID = id })
}

// WithAccount returns a client that works in another account of the organization, selected by its id or its external id.
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

// Format prints the address that the client calls, and never its secrets.
func (c Client) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "causeway.Client(%s)", c.base)
}

// LogValue returns the text that [Client.Format] prints.
func (c Client) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// MarshalText returns the text that [Client.Format] prints.
func (c Client) MarshalText() ([]byte, error) { return fmt.Append(nil, c), nil }

// scheme is the set of secrets that authorizes an operation.
type scheme int

const (
	byUserOrganization scheme = iota
	byUserElement
)

// authorization returns the Authorization header. Operations of the platform do not send the token of an instance,
// because with it a path may name an object of the provider.
func (c *Client) authorization(scheme scheme) (string, error) {
	if c.config.Key != "" {
		if c.config.ElementToken != "" || strings.ContainsFunc(string(c.config.Key), isNotInSecrets) {
			return "", errors.New("causeway: a client with a Key takes no token, and its Key has neither blanks nor commas")
		}
		return "Bearer " + string(c.config.Key), nil
	}
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
	if scheme == byUserElement && c.config.InstanceID != 0 {
		header.Set("Elements-Instance-Id", strconv.FormatInt(c.config.InstanceID, 10))
	}
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

// httpClient returns the given client without redirects: the service sends none, and the secrets must not go elsewhere.
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

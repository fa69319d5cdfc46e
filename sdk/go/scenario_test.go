package causeway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	causeway "causeway/client"
)

// This test runs the steps of sdk/scenario.md.

const (
	language      = "go"
	anotherSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	// longestFilter is the maximum length of a filter that the service accepts, in bytes.
	longestFilter = 16_000
	listLength    = 100
)

type incident struct {
	ID          string `json:"sys_id"`
	Number      string `json:"number"`
	Priority    int    `json:"priority"`
	Caller      string `json:"caller_id"`
	Description string `json:"short_description"`
}

// scenario is the state that the steps share.
type scenario struct {
	*testing.T
	ctx       context.Context
	client    *causeway.Client
	account   *causeway.Client
	instance  *causeway.Instance
	caller    string
	receiver  string
	delivered func(func(delivery) bool) *delivery
}

type delivery struct {
	body   []byte
	header http.Header
}

func TestScenario(t *testing.T) {
	if os.Getenv("CAUSEWAY_URL") == "" {
		t.Skip("CAUSEWAY_URL is not set: node scripts/sdk-scenario.ts sets it")
	}
	s := &scenario{T: t, ctx: t.Context()}
	s.listen()
	for _, step := range []struct {
		name string
		run  func(*scenario)
	}{
		{"1 connect", connect}, {"2 discover", discover}, {"3 query", query}, {"4 change", change}, {"5 oauth", oauth},
		{"6 explain", explain}, {"7 values", values}, {"8 error", faults}, {"9 event", event}, {"10 bulk", bulk}, {"11 end", end},
	} {
		good := t.Run(step.name, func(t *testing.T) {
			s.T = t
			step.run(s)
		})
		s.T = t
		if !good {
			t.FailNow()
		}
	}
}

func must[T any](value T, err error) func(*scenario) T {
	return func(s *scenario) T {
		s.Helper()
		if err != nil {
			s.Fatal(err)
		}
		return value
	}
}

func (s *scenario) check(ok bool, what string, values ...any) {
	s.Helper()
	if !ok {
		s.Fatal(append([]any{what}, values...)...)
	}
}

// until repeats a check after pauses, at most a hundred times.
func (s *scenario) until(condition func() bool) {
	s.Helper()
	for range 100 {
		if condition() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.Fatal("it did not come to be")
}

// listen receives events.
func (s *scenario) listen() {
	var mutex sync.Mutex
	var deliveries []delivery
	receiver := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		mutex.Lock()
		defer mutex.Unlock()
		deliveries = append(deliveries, delivery{body, request.Header})
		response.WriteHeader(http.StatusNoContent)
	}))
	s.Cleanup(receiver.Close)
	s.receiver = receiver.URL + "/events"
	s.delivered = func(isWanted func(delivery) bool) *delivery {
		mutex.Lock()
		defer mutex.Unlock()
		if at := slices.IndexFunc(deliveries, isWanted); at >= 0 {
			return &deliveries[at]
		}
		return nil
	}
}

func connect(s *scenario) {
	client, err := causeway.FromEnvironment(func(config *causeway.Config) { config.ElementToken = "" })
	s.client = must(client, err)(s)
	configuration := map[string]any{
		"username": "admin", "password": "demo-password", "company.name": "demo", "simulator": true,
		"event.notification.enabled": true, "event.notification.callback.url": s.receiver,
		"event.vendor.type": "polling", "event.objects": "incident", "event.poller.refresh_interval": 0.05,
	}
	create := causeway.NewInstanceCreate(causeway.NewInstanceElement("servicenow"), configuration, language+": the scenario")
	instance, err := s.client.Instances.CreateInstance(s.ctx, create, nil)
	s.instance = must(instance, err)(s)
	s.account = s.client.WithInstance(s.instance.Token)
	var ids []int64
	for listed, err := range s.client.Instances.ListInstances(s.ctx, &causeway.ListInstancesParams{PageSize: 1}).All() {
		ids = append(ids, must(listed, err)(s).Id)
	}
	s.check(slices.Contains(ids, s.instance.Id), "not listed", ids)
}

func discover(s *scenario) {
	objects, err := s.account.Objects.ListObjects(s.ctx).Collect()
	s.check(slices.ContainsFunc(must(objects, err)(s), func(object causeway.ObjectSummary) bool { return object.Name == "incident" }), "no incident")
	metadata, err := s.account.Objects.GetObjectMetadata(s.ctx, "incident", nil)
	types := map[string]causeway.ObjectFieldType{}
	for _, field := range must(metadata, err)(s).Fields {
		types[field.Name] = field.Type
	}
	s.check(types["short_description"] == causeway.ObjectFieldTypeString, "short_description", types)
	s.check(types["priority"] == causeway.ObjectFieldTypeInteger, "priority", types)
}

func query(s *scenario) {
	query := causeway.Query{
		Where:  causeway.Where("priority IN (?)", []int{1, 2}),
		Fields: []string{"sys_id", "priority", "caller_id"}, OrderBy: "sys_id", PageSize: 7,
	}
	rows, err := causeway.As[incident](s.account.List(s.ctx, "incident", query)).Collect()
	ids := make([]string, 0, len(rows))
	for _, row := range must(rows, err)(s) {
		s.check(row.Priority == 1 || row.Priority == 2, "priority", row)
		ids = append(ids, row.ID)
		if row.Caller != "" {
			s.caller = row.Caller
		}
	}
	s.check(len(ids) > 14 && slices.IsSorted(ids) && len(slices.Compact(ids)) == len(rows), "ids", ids)
	query.PageSize = 5000
	page, err := s.account.List(s.ctx, "incident", query).Page()
	s.check(len(must(page, err)(s).Items) == len(rows), "rows", len(rows), len(page.Items))
}

func change(s *scenario) {
	said := language + ` says: it's 100% "fine" ?`
	created, err := s.account.Create(s.ctx, "incident", causeway.Record{"short_description": said, "caller_id": s.caller})
	id := fmt.Sprint(must(created, err)(s)["sys_id"])
	read, err := s.account.Get(s.ctx, "incident", id)
	s.check(must(read, err)(s)["short_description"] == said, "said", read)
	changed, err := s.account.Update(s.ctx, "incident", id, causeway.Record{"short_description": said + "!"})
	s.check(must(changed, err)(s)["short_description"] == said+"!", "changed", changed)
	filter := causeway.Where("short_description = ?", said+"!")
	found, err := causeway.As[incident](s.account.List(s.ctx, "incident", causeway.Query{Where: filter})).Collect()
	s.check(len(must(found, err)(s)) == 1 && found[0].ID == id, "found", found)
	if err := s.account.Delete(s.ctx, "incident", id); err != nil {
		s.Fatal(err)
	}
	_, err = s.account.Get(s.ctx, "incident", id)
	s.check(errors.Is(err, causeway.ErrNotFound), "deleted", err)
}

func oauth(s *scenario) {
	service := must(url.Parse(os.Getenv("CAUSEWAY_URL")))(s)
	callback := service.Scheme + "://" + service.Host + "/oauth/callback"
	begun, err := s.client.Elements.GetOAuthUrl(s.ctx, "salesforce", &causeway.GetOAuthUrlParams{
		ApiKey: "demo-client", ApiSecret: "demo-secret", State: language, CallbackUrl: callback, Simulator: causeway.Ptr(true),
	})
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	page, err := browser.Get(must(begun, err)(s).OauthUrl + "&auto=approve")
	must(page, err)(s).Body.Close()
	location := must(page.Location())(s)
	create := causeway.NewInstanceCreate(causeway.NewInstanceElement("salesforce"), map[string]any{
		"oauth.api.key": "demo-client", "oauth.api.secret": "demo-secret", "oauth.callback.url": callback, "simulator": true,
	}, language+": by OAuth")
	create.ProviderData = &causeway.InstanceProviderGrant{"code": location.Query().Get("code"), "state": language}
	instance, err := s.client.Instances.CreateInstance(s.ctx, create, nil)
	s.check(must(instance, err)(s).Valid, "not valid", instance.InvalidReason)
	must(s.client.Instances.DeleteInstance(s.ctx, instance.Id))(s)
}

func explain(s *scenario) {
	filter := causeway.Where("priority = ? AND short_description LIKE ?", 1, "a%")
	explained := must(s.account.Explain(s.ctx, "incident", causeway.Query{Where: filter}))(s)
	s.check(causeway.ValueOf(explained.Parsed) == "priority = 1 AND short_description LIKE 'a%'", "parsed", *explained.Parsed)
	s.check(slices.ContainsFunc(explained.Predicates, func(predicate causeway.PredicateExplanation) bool {
		return predicate.Pushed && predicate.Exactness == causeway.PredicateExactnessExact
	}), "nothing is pushed", explained.Predicates)
}

func (s *scenario) parsed(filter causeway.Filter) string {
	s.Helper()
	return causeway.ValueOf(must(s.account.Explain(s.ctx, "incident", causeway.Query{Where: filter}))(s).Parsed)
}

func values(s *scenario) {
	random := rand.New(rand.NewPCG(17, 17))
	texts := hostileTexts(10_000, random)
	for list := range slices.Chunk(texts, listLength) {
		s.sendTexts(list)
	}
	var numbers []int64
	var times []time.Time
	for range 100 {
		number := random.Int64N(2e9) - 1e9
		numbers = append(numbers, number)
		times = append(times, time.UnixMilli(number*1000+1.5e12).UTC())
	}
	list := regexp.MustCompile(` IN \((.*)\)$`)
	members := func(filter causeway.Filter) []string {
		found := list.FindStringSubmatch(s.parsed(filter))
		s.check(found != nil, "no list", filter)
		return strings.Split(found[1], ", ")
	}
	for index, text := range members(causeway.Where("priority IN (?)", numbers)) {
		s.check(must(strconv.ParseInt(text, 10, 64))(s) == numbers[index], "number", text, numbers[index])
	}
	for index, text := range members(causeway.Where("sys_created_on IN (?)", times)) {
		s.check(must(time.Parse(time.RFC3339, text))(s).Equal(times[index]), "time", text, times[index])
	}
	s.check(s.parsed(causeway.Where("active = ?", true)) == "active = TRUE", "true")
	s.check(s.parsed(causeway.Where("active = ?", false)) == "active = FALSE", "false")
}

func (s *scenario) sendTexts(texts []string) {
	filter := causeway.Where("short_description IN (?)", texts)
	if len(must(filter.Text())(s)) > longestFilter {
		s.sendTexts(texts[:len(texts)/2])
		s.sendTexts(texts[len(texts)/2:])
		return
	}
	var distinct []string
	for _, text := range texts {
		if !slices.Contains(distinct, text) {
			distinct = append(distinct, text)
		}
	}
	read := textsIn(s.parsed(filter))
	s.check(slices.Equal(read, distinct), fmt.Sprintf("%q became %q", distinct, read))
}

// textsIn reads the literals of a filter: a quote begins a text, and in it two quotes are one.
func textsIn(filter string) []string {
	var texts []string
	for _, match := range regexp.MustCompile(`'((?:[^']|'')*)'`).FindAllStringSubmatch(filter, -1) {
		texts = append(texts, strings.ReplaceAll(match[1], "''", "'"))
	}
	return texts
}

// pieces are the parts of hostile texts.
var pieces = []string{
	"'", "''", `\`, `\'`, "?", "%", "_", "--", "/*", "*/", ";", "(", ")", ",", "' OR ''='", "\n", "\r\n", "\t", "\x01", "\x1b", "\x7f", " ", "  ",
	"`", `"`, "\u2019", "&", "<", "é", "e\u0301", "\U0001F600", "\U00020000", "\u202e", "\ufeff", "a", "Z", "0", "12", "1e3", "2026-01-31", "NULL", "TRUE", "IN", "AND",
}

func hostileTexts(count int, random *rand.Rand) []string {
	texts := []string{"", " ", "'", "''", "?", "12", "-0.5", "2026-01-31", "2026-01-31T08:30:00Z", "NULL", "TRUE", " a ", strings.Repeat("'", 80)}
	for len(texts) < count {
		var text strings.Builder
		for range 1 + random.IntN(12) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		if random.IntN(50) == 0 {
			text.Reset()
			for range 80 {
				text.WriteRune(rune(' ' + random.IntN(95)))
			}
		}
		texts = append(texts, text.String())
	}
	return texts
}

func faults(s *scenario) {
	_, err := s.account.List(s.ctx, "incident", causeway.Query{Where: causeway.Where("short_descriptio = ?", "x")}).Page()
	var failure *causeway.Error
	s.check(errors.As(err, &failure) && errors.Is(err, causeway.ErrWhere), "kind", err)
	s.check(failure.Code == causeway.ErrorCodeWhereInvalid && failure.Status == 400, "code", err)
	s.check(regexp.MustCompile(`^[0-9a-f-]{36}$`).MatchString(failure.RequestID), "request id", failure.RequestID)
	position, length, ok := failure.At()
	s.check(position == 0 && length == 16 && ok, "place", position, length)
	s.check(failure.Suggestion() == "short_description", "suggestion", failure.Suggestion())
}

func event(s *scenario) {
	s.until(func() bool {
		polls, err := s.client.Instances.ListInstancePolls(s.ctx, s.instance.Id, nil).Collect()
		return slices.ContainsFunc(must(polls, err)(s), func(poll causeway.Poll) bool { return poll.LastSuccessDate != nil })
	})
	created := must(s.account.Create(s.ctx, "incident", causeway.Record{"short_description": "An event", "caller_id": s.caller}))(s)
	id := fmt.Sprint(created["sys_id"])
	verifier := must(causeway.NewEventVerifier(s.secret(s.receiver)))(s)
	isOfIncident := func(delivery delivery) bool {
		event, err := verifier.Verify(delivery.body, delivery.header)
		return must(event, err)(s).Type == "incident.created" && event.Data.ObjectID == id
	}
	s.until(func() bool { return s.delivered(isOfIncident) != nil })
	delivery := s.delivered(isOfIncident)
	both := must(causeway.NewEventVerifier(anotherSecret, s.secret(s.receiver)))(s)
	must(both.Verify(delivery.body, delivery.header))(s)
	_, err := verifier.Verify(bytes.Replace(delivery.body, []byte("created"), []byte("breated"), 1), delivery.header)
	s.check(errors.Is(err, causeway.ErrSignature), "another body", err)
	_, err = must(causeway.NewEventVerifier(anotherSecret))(s).Verify(delivery.body, delivery.header)
	s.check(errors.Is(err, causeway.ErrSignature), "another secret", err)
	if err := s.account.Delete(s.ctx, "incident", id); err != nil {
		s.Fatal(err)
	}
}

// secret returns the secret of the subscription with this URL.
func (s *scenario) secret(receiver string) string {
	for listed, err := range s.client.Notifications.ListSubscriptions(s.ctx, nil).All() {
		if must(listed, err)(s).Config.Url == receiver {
			return must(s.client.Notifications.GetSubscription(s.ctx, listed.Id))(s).Secret
		}
	}
	s.Fatal("no subscription of ", receiver)
	return ""
}

func bulk(s *scenario) {
	query := causeway.Query{Fields: []string{"sys_id", "number"}}
	download := must(s.account.Download(s.ctx, "incident", query))(s)
	ids := map[string]bool{}
	count := 0
	for row, err := range download.Rows(s.ctx) {
		ids[must(causeway.To[incident](must(row, err)(s)))(s).ID] = true
		count++
	}
	query.PageSize = 5000
	rows := must(causeway.As[incident](s.account.List(s.ctx, "incident", query)).Collect())(s)
	s.check(count == len(rows) && len(ids) == len(rows), "rows", count, len(ids), len(rows))
	for _, row := range rows {
		s.check(ids[row.ID], "missing", row)
	}
	path := filepath.Join(s.TempDir(), "incidents.csv")
	file := must(s.account.Download(s.ctx, "incident", query, func(bulk *causeway.BulkQuery) {
		bulk.Format = causeway.Ptr(causeway.BulkFileFormatCsv)
	}))(s)
	size := must(file.Save(s.ctx, path))(s)
	text := must(os.ReadFile(path))(s)
	lines := strings.Split(strings.TrimSpace(string(text)), "\r\n")
	s.check(len(lines) == len(rows)+1 && size == int64(len(text)), "lines", len(lines), size)
	for _, download := range []*causeway.Download{download, file} {
		if err := download.Delete(s.ctx); err != nil {
			s.Fatal(err)
		}
	}
}

func end(s *scenario) {
	deleted := must(s.client.Instances.DeleteInstance(s.ctx, s.instance.Id))(s)
	s.check(deleted.Id == s.instance.Id, "id", deleted.Id)
}

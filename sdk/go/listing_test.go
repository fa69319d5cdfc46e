package causeway

import (
	"errors"
	"strings"
	"testing"
)

func TestAllPages(t *testing.T) {
	service, client := serve(t,
		json200(`[{"id":1},{"id":2}]`, "Elements-Next-Page-Token", "t 1", "Elements-Total-Count", "3", "Elements-Query-Pushdown", "partial"),
		json200(`[]`, "Elements-Next-Page-Token", "t+2", "Elements-Partial-Result", "scan-budget"),
		json200(`[{"id":3}]`),
	)
	list := client.Records.ListRecords(t.Context(), "incident", &ListRecordsParams{Where: Where("a = ?", 1), Page: 1, PageSize: 2})
	var ids []string
	for record, err := range list.All() {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, record["id"].(interface{ String() string }).String())
	}
	expect(t, "ids", len(ids), 3)
	for index, want := range []string{
		"page=1&pageSize=2&where=a+%3D+1", "nextPage=t+1&pageSize=2&where=a+%3D+1", "nextPage=t%2B2&pageSize=2&where=a+%3D+1",
	} {
		expect(t, "query", service.seen()[index].URL.RawQuery, want)
	}
}

func TestPagesAndTheirHeaders(t *testing.T) {
	service, client := serve(t,
		json200(`[{"id":1}]`, "Elements-Next-Page-Token", "t", "Elements-Total-Count", "2", "Elements-Query-Pushdown", "partial"),
		json200(`[{"id":2}]`, "Elements-Partial-Result", "bytes"),
	)
	list := client.List(t.Context(), "incident", Query{})
	var pages []*Page[Record]
	for page, err := range list.Pages() {
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}
	expect(t, "pages", len(pages), 2)
	expect(t, "token", pages[0].NextPage, "t")
	expect(t, "total", *pages[0].TotalCount, 2)
	expect(t, "no total", pages[1].TotalCount, nil)
	expect(t, "pushdown", pages[0].Pushdown, QueryPushdownPartial)
	expect(t, "partial", pages[1].PartialResult, "bytes")
	expect(t, "request id", pages[1].RequestID, "request-1")
	expect(t, "calls", len(service.seen()), 2)
}

func TestAPageThatIsNotNeededIsNotRead(t *testing.T) {
	service, client := serve(t, json200(`[{"id":1},{"id":2}]`, "Elements-Next-Page-Token", "t"))
	for range client.List(t.Context(), "incident", Query{}).All() {
		break
	}
	expect(t, "calls", len(service.seen()), 1)
}

func TestAnErrorEndsTheList(t *testing.T) {
	_, client := serve(t, json200(`["a"]`, "Elements-Next-Page-Token", "t"), failure(400, ErrorCodeRequestInvalid))
	var keys []string
	var last error
	for key, err := range client.Elements.ListElementKeys(t.Context(), nil).All() {
		keys, last = append(keys, key), err
	}
	expect(t, "items", len(keys), 2)
	var failure *Error
	expect(t, "the last one is the error", errors.As(last, &failure), true)

	_, client = serve(t, json200(`["a"]`, "Elements-Next-Page-Token", "t"), json200(`["a"]`, "Elements-Next-Page-Token", "t"))
	_, err := client.Elements.ListElementKeys(t.Context(), nil).Collect()
	expect(t, "a token that comes again", err != nil && strings.Contains(err.Error(), "never end"), true)
	_, client = serve(t, json200(`{"not":"a list"}`))
	_, err = client.Elements.ListElementKeys(t.Context(), nil).Collect()
	expect(t, "an answer that is no list", errors.As(err, &failure), true)
}

func TestAFaultyFilterIsNotSent(t *testing.T) {
	service, client := serve(t)
	query := Query{Where: Where("a = ?", nil)}
	_, err := client.List(t.Context(), "incident", query).Page()
	expect(t, "list", err != nil, true)
	_, err = client.Explain(t.Context(), "incident", query)
	expect(t, "explain", err != nil, true)
	_, err = client.Download(t.Context(), "incident", query)
	expect(t, "download", err != nil, true)
	_, err = client.Notifications.AcknowledgeDeliveries(t.Context(), Where("a = ?"))
	expect(t, "acknowledge", err != nil, true)
	expect(t, "calls", len(service.seen()), 0)
}

func TestRowsAsATypeOfTheCaller(t *testing.T) {
	type incident struct {
		ID   string `json:"sys_id"`
		Rank int    `json:"priority"`
	}
	_, client := serve(t, json200(`[{"sys_id":"a","priority":1}]`))
	rows := must(As[incident](client.List(t.Context(), "incident", Query{})).Collect())(t)
	expect(t, "row", rows[0], incident{"a", 1})
}

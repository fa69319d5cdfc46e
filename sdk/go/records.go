package causeway

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Query says which records of an object, and what of them. The zero Query is all of everything.
type Query struct {
	// Where filters; see [Where].
	Where Filter
	// Fields to answer; all unless given.
	Fields []string
	// OrderBy is a list of fields with commas between, each with `asc` (unless given) or `desc`.
	OrderBy string
	// PageSize is how many records a page has at most, 200 unless given.
	PageSize int
	// MaxProviderCalls is how many calls to the provider one page may take.
	MaxProviderCalls int
	// Mode QueryModePushdownOnly refuses what the provider cannot answer by itself.
	Mode QueryMode
}

// List reads the records of an object.
func (c *Client) List(ctx context.Context, objectName string, query Query) Listing[Record] {
	return c.Records.ListRecords(ctx, objectName, &ListRecordsParams{
		Where: query.Where, Fields: strings.Join(query.Fields, ","), OrderBy: query.OrderBy, PageSize: query.PageSize,
		ElementsMaxProviderCalls: query.MaxProviderCalls, ElementsQueryMode: query.Mode,
	})
}

// ListChildren reads the records of a child object below one record.
func (c *Client) ListChildren(ctx context.Context, objectName, id, childName string, query Query) Listing[Record] {
	return c.Records.ListChildRecords(ctx, objectName, id, childName, &ListChildRecordsParams{
		Where: query.Where, Fields: strings.Join(query.Fields, ","), OrderBy: query.OrderBy, PageSize: query.PageSize,
		ElementsMaxProviderCalls: query.MaxProviderCalls, ElementsQueryMode: query.Mode,
	})
}

// Get reads one record.
func (c *Client) Get(ctx context.Context, objectName, id string) (Record, error) {
	return c.Records.GetRecord(ctx, objectName, id, nil)
}

// Create makes a record and gives it as stored. It is made once, also where the call is tried again.
func (c *Client) Create(ctx context.Context, objectName string, record Record) (Record, error) {
	return c.Records.CreateRecord(ctx, objectName, record, nil)
}

// Update changes the fields that are given, and gives the record as stored.
func (c *Client) Update(ctx context.Context, objectName, id string, changes Record) (Record, error) {
	return c.Records.UpdateRecord(ctx, objectName, id, changes, nil)
}

// Replace makes the record what is given, and gives it as stored.
func (c *Client) Replace(ctx context.Context, objectName, id string, record Record) (Record, error) {
	return c.Records.ReplaceRecord(ctx, objectName, id, record, nil)
}

// Delete deletes a record at the provider.
func (c *Client) Delete(ctx context.Context, objectName, id string) error {
	_, err := c.Records.DeleteRecord(ctx, objectName, id)
	return err
}

// Explain tells how a query would be answered: what the provider is asked, and what is checked again by the service.
func (c *Client) Explain(ctx context.Context, objectName string, query Query) (*QueryExplanation, error) {
	where, err := query.Where.Text()
	if err != nil {
		return nil, err
	}
	call := c.newCall(http.MethodPost, "/query/explain", byUserElement)
	call.once()
	call.isRepeatable = true // It changes nothing.
	call.withBody(QueryExplain{
		ObjectName: objectName, Where: optional(where), Fields: optional(strings.Join(query.Fields, ",")), OrderBy: optional(query.OrderBy),
	})
	return pointerTo(answerOf[QueryExplanation](ctx, call))
}

// File is an answer that is read as it comes. It has to be closed.
type File struct {
	io.ReadCloser
	// Status is 200, 206 for a part, 304 where it is what the caller has.
	Status int
	Header http.Header
}

// ContentType says what it is.
func (f *File) ContentType() string { return f.Header.Get("Content-Type") }

// Name is what the file is called, where the answer says so.
func (f *File) Name() string {
	_, parameters, err := mime.ParseMediaType(f.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return parameters["filename"]
}

// file makes a call whose answer is not read here. It is asked for as it is stored, so that bytes can be counted.
func (c *call) file(ctx context.Context) (*File, error) {
	if c.header.Get("Accept") == "application/json" {
		c.header.Set("Accept", "*/*")
	}
	c.header.Set("Accept-Encoding", "identity")
	response, err := c.send(ctx, leaveBody)
	if err != nil {
		return nil, err
	}
	return &File{response.Body, response.StatusCode, response.Header}, nil
}

// GetFile reads the file of a record in a media type that it has, such as `application/pdf`.
func (c *Client) GetFile(ctx context.Context, objectName, id, mediaType string) (*File, error) {
	call := c.newCall(http.MethodGet, "/{objectName}/{objectId}", byUserElement)
	call.inPath("objectName", objectName)
	call.inPath("objectId", id)
	call.header.Set("Accept", mediaType)
	return call.file(ctx)
}

// CreateFile makes a record with a file, where the operations of the object have `upload`.
func (c *Client) CreateFile(ctx context.Context, objectName string, fields Record, upload Upload) (Record, error) {
	call := c.newCall(http.MethodPost, "/{objectName}", byUserElement)
	call.inPath("objectName", objectName)
	call.withPart("metadata", fields)
	call.withFile("file", upload)
	return answerOf[Record](ctx, call)
}

// ReplaceFile makes a file the new version of that of a record.
func (c *Client) ReplaceFile(ctx context.Context, objectName, id string, fields Record, upload Upload) (Record, error) {
	call := c.newCall(http.MethodPut, "/{objectName}/{objectId}", byUserElement)
	call.inPath("objectName", objectName)
	call.inPath("objectId", id)
	call.withPart("metadata", fields)
	call.withFile("file", upload)
	return answerOf[Record](ctx, call)
}

// Passthrough sends a request to the provider as it is, with the credentials of the instance. The path is the provider's,
// with its values escaped, and may have a query. The body may be nil. What the provider refuses is an [Error].
func (c *Client) Passthrough(ctx context.Context, method, path string, header http.Header, body []byte) (*File, error) {
	address, err := url.Parse("/" + strings.TrimLeft(path, "/"))
	if err != nil || slices.Contains(strings.Split(address.Path, "/"), "..") {
		return nil, fmt.Errorf("causeway: %s /passthrough: this is no path of the provider", method)
	}
	call := c.newCall(method, "/passthrough"+address.EscapedPath(), byUserElement)
	if method == http.MethodPost {
		call.once()
	}
	call.rawQuery = address.RawQuery
	call.header.Set("Accept", "*/*")
	for name, values := range header {
		call.header[http.CanonicalHeaderKey(name)] = values
	}
	call.body = body
	return call.file(ctx)
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

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

// Query selects records of an object, their fields and their order. The zero Query selects all records with all fields.
type Query struct {
	// Where is the filter; see [Where].
	Where Filter
	// Fields are the fields to return. Default: all.
	Fields []string
	// OrderBy is a list of fields separated by commas, each with `asc` (the default) or `desc`.
	OrderBy string
	// PageSize is the maximum number of records per page. Default: 200.
	PageSize int
	// MaxProviderCalls is the maximum number of calls to the provider per page.
	MaxProviderCalls int
	// Mode can be QueryModePushdownOnly, which rejects a query that the provider cannot evaluate completely.
	Mode QueryMode
}

// List lists the records of an object.
func (c *Client) List(ctx context.Context, objectName string, query Query) Listing[Record] {
	return c.Records.ListRecords(ctx, objectName, &ListRecordsParams{
		Where: query.Where, Fields: strings.Join(query.Fields, ","), OrderBy: query.OrderBy, PageSize: query.PageSize,
		ElementsMaxProviderCalls: query.MaxProviderCalls, ElementsQueryMode: query.Mode,
	})
}

// ListChildren lists the records of a child object below one record.
func (c *Client) ListChildren(ctx context.Context, objectName, id, childName string, query Query) Listing[Record] {
	return c.Records.ListChildRecords(ctx, objectName, id, childName, &ListChildRecordsParams{
		Where: query.Where, Fields: strings.Join(query.Fields, ","), OrderBy: query.OrderBy, PageSize: query.PageSize,
		ElementsMaxProviderCalls: query.MaxProviderCalls, ElementsQueryMode: query.Mode,
	})
}

// Get returns one record.
func (c *Client) Get(ctx context.Context, objectName, id string) (Record, error) {
	return c.Records.GetRecord(ctx, objectName, id, nil)
}

// Create creates a record and returns it as stored. The record is created once, even if the call is retried.
func (c *Client) Create(ctx context.Context, objectName string, record Record) (Record, error) {
	return c.Records.CreateRecord(ctx, objectName, record, nil)
}

// Update changes the given fields and returns the record as stored.
func (c *Client) Update(ctx context.Context, objectName, id string, changes Record) (Record, error) {
	return c.Records.UpdateRecord(ctx, objectName, id, changes, nil)
}

// Replace replaces the record by the given one and returns it as stored.
func (c *Client) Replace(ctx context.Context, objectName, id string, record Record) (Record, error) {
	return c.Records.ReplaceRecord(ctx, objectName, id, record, nil)
}

// Delete deletes a record at the provider.
func (c *Client) Delete(ctx context.Context, objectName, id string) error {
	_, err := c.Records.DeleteRecord(ctx, objectName, id)
	return err
}

// Explain explains how a query would be processed: the part that the provider evaluates, and the part that the service
// checks again.
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

// File is a response that is read as it arrives. Close it when you are done.
type File struct {
	io.ReadCloser
	// Status is 200, 206 for a part, or 304 if the caller has the same file already.
	Status int
	Header http.Header
}

// ContentType returns the media type of the file.
func (f *File) ContentType() string { return f.Header.Get("Content-Type") }

// Name returns the file name, if the response contains one.
func (f *File) Name() string {
	_, parameters, err := mime.ParseMediaType(f.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return parameters["filename"]
}

// file sends a call whose response is not read here. It requests the bytes as stored, so that they can be counted.
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

// GetFile reads the file of a record in one of its media types, such as `application/pdf`.
func (c *Client) GetFile(ctx context.Context, objectName, id, mediaType string) (*File, error) {
	call := c.newCall(http.MethodGet, "/{objectName}/{objectId}", byUserElement)
	call.inPath("objectName", objectName)
	call.inPath("objectId", id)
	call.header.Set("Accept", mediaType)
	return call.file(ctx)
}

// CreateFile creates a record with a file, if `upload` is among the operations of the object.
func (c *Client) CreateFile(ctx context.Context, objectName string, fields Record, upload Upload) (Record, error) {
	call := c.newCall(http.MethodPost, "/{objectName}", byUserElement)
	call.inPath("objectName", objectName)
	call.withPart("metadata", fields)
	call.withFile("file", upload)
	return answerOf[Record](ctx, call)
}

// ReplaceFile stores a new version of the file of a record.
func (c *Client) ReplaceFile(ctx context.Context, objectName, id string, fields Record, upload Upload) (Record, error) {
	call := c.newCall(http.MethodPut, "/{objectName}/{objectId}", byUserElement)
	call.inPath("objectName", objectName)
	call.inPath("objectId", id)
	call.withPart("metadata", fields)
	call.withFile("file", upload)
	return answerOf[Record](ctx, call)
}

// Passthrough sends a request to the provider unchanged, with the credentials of the instance. The path is the
// provider's, with escaped values, and can have a query. The body may be nil. If the provider rejects the request, the
// error is an [Error].
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

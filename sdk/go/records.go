package causeway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
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
	return c.Records.GetRecord(ctx, objectName, id)
}

// Create makes a record and gives it as stored. It is made once, also where the call is tried again.
func (c *Client) Create(ctx context.Context, objectName string, record Record) (Record, error) {
	return c.Records.CreateRecord(ctx, objectName, record, nil)
}

// Update changes the fields that are given, and gives the record as stored.
func (c *Client) Update(ctx context.Context, objectName, id string, changes Record) (Record, error) {
	return c.Records.UpdateRecord(ctx, objectName, id, changes)
}

// Replace makes the record what is given, and gives it as stored.
func (c *Client) Replace(ctx context.Context, objectName, id string, record Record) (Record, error) {
	return c.Records.ReplaceRecord(ctx, objectName, id, record)
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

// Upload is a file to send: its content is read once, so it is never sent again.
type Upload struct {
	Name        string
	ContentType string
	Content     io.Reader
}

// CreateFile makes a record with a file, where the operations of the object have `upload`.
func (c *Client) CreateFile(ctx context.Context, objectName string, fields Record, upload Upload) (Record, error) {
	call := c.newCall(http.MethodPost, "/{objectName}", byUserElement)
	call.inPath("objectName", objectName)
	return call.upload(ctx, fields, upload)
}

// ReplaceFile makes a file the new version of that of a record.
func (c *Client) ReplaceFile(ctx context.Context, objectName, id string, fields Record, upload Upload) (Record, error) {
	call := c.newCall(http.MethodPut, "/{objectName}/{objectId}", byUserElement)
	call.inPath("objectName", objectName)
	call.inPath("objectId", id)
	return call.upload(ctx, fields, upload)
}

func (c *call) upload(ctx context.Context, fields Record, upload Upload) (Record, error) {
	metadata, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("causeway: %s %s: the fields cannot be written as JSON: %w", c.method, c.path, err)
	}
	reader, writer := io.Pipe()
	defer reader.Close() // Ends the writer where the call ended first.
	form := multipart.NewWriter(writer)
	go func() { writer.CloseWithError(writeForm(form, metadata, upload)) }()
	c.once()
	c.stream = reader
	c.header.Set("Content-Type", form.FormDataContentType())
	return answerOf[Record](ctx, c)
}

func writeForm(form *multipart.Writer, metadata []byte, upload Upload) error {
	if string(metadata) != "null" {
		part, err := form.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="metadata"`}, "Content-Type": {"application/json"},
		})
		if err == nil {
			_, err = part.Write(metadata)
		}
		if err != nil {
			return err
		}
	}
	disposition := mime.FormatMediaType("form-data", map[string]string{"name": "file", "filename": upload.Name})
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {disposition}, "Content-Type": {contentTypeOf(upload)},
	})
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, upload.Content); err != nil {
		return err
	}
	return form.Close()
}

func contentTypeOf(upload Upload) string {
	if upload.ContentType == "" {
		return "application/octet-stream"
	}
	return upload.ContentType
}

// Passthrough sends a request to the provider as it is, with the credentials of the instance. The path is the provider's,
// with its values escaped, and may have a query. The body may be nil. What the provider refuses is an [Error].
func (c *Client) Passthrough(ctx context.Context, method, path string, header http.Header, body []byte) (*File, error) {
	address, err := url.Parse("/" + strings.TrimLeft(path, "/"))
	if err != nil {
		return nil, fmt.Errorf("causeway: %s /passthrough: the path cannot be read", method)
	}
	call := c.newCall(method, "/passthrough"+address.EscapedPath(), byUserElement)
	if method == http.MethodPost {
		call.once()
	}
	call.query = address.Query()
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

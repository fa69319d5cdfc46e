package causeway

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"reflect"
)

// Upload is a file to send. Its content is read once, while it is sent, so it is never sent again.
type Upload struct {
	Name string
	// ContentType is the media type of the file. Default: `application/octet-stream`.
	ContentType string
	Content     io.Reader
}

// form is the body of a call in `multipart/form-data`: its parts, then its file.
type form struct {
	parts    []part
	fileName string
	Upload
}

type part struct {
	name string
	text []byte
}

// withPart adds a value as JSON; nil adds nothing.
func (c *call) withPart(name string, value any) {
	if reflected := reflect.ValueOf(value); !reflected.IsValid() || reflected.IsZero() {
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		c.fail(fmt.Errorf("causeway: %s %s: %s cannot be written as JSON: %w", c.method, c.path, name, err))
	}
	c.formOf().parts = append(c.form.parts, part{name, text})
}

// withFile adds a file. The call is sent only once, because the service stores no idempotency key for a form.
func (c *call) withFile(name string, upload Upload) {
	c.formOf().fileName = name
	c.form.Upload = upload
	c.once()
}

func (c *call) formOf() *form {
	if c.form == nil {
		c.form = &form{}
	}
	return c.form
}

// open starts to write the form. Close the reader to end the writing.
func (f *form) open() (content io.ReadCloser, contentType string) {
	reader, writer := io.Pipe()
	multipart := multipart.NewWriter(writer)
	go func() { writer.CloseWithError(f.write(multipart)) }()
	return reader, multipart.FormDataContentType()
}

func (f *form) write(writer *multipart.Writer) error {
	for _, part := range f.parts {
		section, err := writer.CreatePart(sectionHeader("application/json", map[string]string{"name": part.name}))
		if err != nil {
			return err
		}
		if _, err := section.Write(part.text); err != nil {
			return err
		}
	}
	contentType := f.ContentType
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	section, err := writer.CreatePart(sectionHeader(contentType, map[string]string{"name": f.fileName, "filename": f.Name}))
	if err != nil {
		return err
	}
	if _, err := io.Copy(section, f.Content); err != nil {
		return err
	}
	return writer.Close()
}

func sectionHeader(contentType string, parameters map[string]string) textproto.MIMEHeader {
	return textproto.MIMEHeader{
		"Content-Disposition": {mime.FormatMediaType("form-data", parameters)}, "Content-Type": {contentType},
	}
}

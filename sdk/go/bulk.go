package causeway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Pauses between two status requests for a job grow from the first to the longest.
const (
	firstLook   = 200 * time.Millisecond
	longestLook = 10 * time.Second
)

// Download is a bulk download: the service writes any number of rows to a file in the background.
type Download struct {
	client *Client
	// ID is the id of the job.
	ID int64
	// ObjectName is the object whose rows the job reads.
	ObjectName string
}

// JobError reports a job that failed or was cancelled. [errors.Is] compares it with the kinds of its Code, such as
// [ErrRateLimited].
type JobError struct{ Job BulkJob }

func (e *JobError) Error() string {
	return fmt.Sprintf("causeway: bulk job %d is %s: %s %s", e.Job.Id, e.Job.Status, ValueOf(e.Job.Code), ValueOf(e.Job.Message))
}

// Is reports whether the job failed for a reason of this kind.
func (e *JobError) Is(target error) bool {
	kind, ok := target.(*kind)
	return ok && e.Job.Code != nil && slices.Contains(kind.codes, *e.Job.Code)
}

// Download starts a download of the rows of a query, as JSON lines unless an option changes that. Options can change
// every member of the request. Only Where, Fields and OrderBy of the query are used.
func (c *Client) Download(ctx context.Context, objectName string, query Query, options ...func(*BulkQuery)) (*Download, error) {
	where, err := query.Where.Text()
	if err != nil {
		return nil, err
	}
	body := BulkQuery{
		ObjectName: &objectName, Where: optional(where), Fields: optional(strings.Join(query.Fields, ",")),
		OrderBy: optional(query.OrderBy), Format: Ptr(BulkFileFormatJsonl),
	}
	for _, option := range options {
		option(&body)
	}
	job, err := c.Bulk.CreateBulkQuery(ctx, &CreateBulkQueryParams{BulkQuery: &body})
	if err != nil {
		return nil, err
	}
	return c.DownloadOf(job.Id, objectName), nil
}

// DownloadOf returns a download that was started before, possibly by another process. It sends nothing.
func (c *Client) DownloadOf(id int64, objectName string) *Download {
	return &Download{c, id, objectName}
}

// WaitForBulk requests the status of a job, at growing intervals, until the job is completed. Any other end is a
// [JobError].
func (c *Client) WaitForBulk(ctx context.Context, id int64) (*BulkJob, error) {
	for pause := firstLook; ; pause = min(pause*3/2, longestLook) {
		job, err := c.Bulk.GetBulkStatus(ctx, id)
		if err != nil {
			return nil, err
		}
		switch job.Status {
		case BulkJobStatusCompleted:
			return job, nil
		case BulkJobStatusFailed, BulkJobStatusCancelled:
			return nil, &JobError{*job}
		}
		if err := c.clock.sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("causeway: bulk job %d is %s: %w", id, job.Status, err)
		}
	}
}

// Wait waits until the file is complete.
func (d *Download) Wait(ctx context.Context) (*BulkJob, error) {
	return d.client.WaitForBulk(ctx, d.ID)
}

// Rows waits for the job and iterates over the rows as they arrive. An error is the last element.
func (d *Download) Rows(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if _, err := d.Wait(ctx); err != nil {
			yield(nil, err)
			return
		}
		file := &resumed{ctx: ctx, download: d, accept: "application/x-ndjson"}
		defer file.Close()
		decoder := json.NewDecoder(file)
		decoder.UseNumber()
		for {
			var row Record
			err := decoder.Decode(&row)
			if err == io.EOF || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// Copy waits for the job and writes the file to writer, in the format of the job.
func (d *Download) Copy(ctx context.Context, writer io.Writer) (int64, error) {
	if _, err := d.Wait(ctx); err != nil {
		return 0, err
	}
	file := &resumed{ctx: ctx, download: d, accept: "*/*"}
	defer file.Close()
	return io.Copy(writer, file)
}

// Save waits for the job and writes the file to this path. The file appears there once it is complete.
func (d *Download) Save(ctx context.Context, path string) (size int64, err error) {
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			os.Remove(part.Name())
		}
	}()
	size, err = d.Copy(ctx, part)
	if err = errors.Join(err, part.Close()); err != nil {
		return size, err
	}
	return size, os.Rename(part.Name(), path)
}

// Cancel ends the job.
func (d *Download) Cancel(ctx context.Context) (*BulkJob, error) {
	return d.client.Bulk.CancelBulkJob(ctx, d.ID)
}

// Delete deletes the job and its file.
func (d *Download) Delete(ctx context.Context) error {
	_, err := d.client.Bulk.DeleteBulkJob(ctx, d.ID)
	return err
}

// resumed reads the file of a job and resumes after a broken connection.
type resumed struct {
	ctx      context.Context
	download *Download
	accept   string

	file   *File
	offset int64
	// broken is the error of the last connection, and failures is the number of consecutive connections without a byte.
	broken   error
	failures int
}

func (r *resumed) Read(buffer []byte) (int, error) {
	for {
		if err := r.open(); err != nil {
			return 0, err
		}
		length, err := r.file.Read(buffer)
		r.offset += int64(length)
		if length > 0 {
			r.failures = 0
		}
		if err == nil || err == io.EOF {
			return length, err
		}
		r.broken = err
		if length > 0 {
			return length, nil
		}
	}
}

// open makes the first connection, or the next one after a broken one.
func (r *resumed) open() error {
	if r.file != nil && r.broken == nil {
		return nil
	}
	params := &GetBulkFileParams{}
	if r.broken != nil {
		if err := r.pause(); err != nil {
			return err
		}
		params.Range = fmt.Sprintf("bytes=%d-", r.offset)
		params.IfRange = r.file.Header.Get("ETag")
	}
	file, err := r.download.open(r.ctx, r.accept, params)
	if err != nil {
		return err
	}
	if params.Range != "" && !isRest(file, r.offset) {
		file.Close()
		return fmt.Errorf("causeway: bulk job %d: the file is another one than when its download began, at byte %d", r.download.ID, r.offset)
	}
	r.Close()
	r.file, r.broken = file, nil
	return nil
}

// pause waits before the next connection. It returns the error of the last one if resuming is pointless.
func (r *resumed) pause() error {
	retries := r.download.client.config.Retries
	r.failures++
	isKnown := r.file.Header.Get("ETag") != "" && r.file.Header.Get("Content-Length") != ""
	if !isKnown || !isOnTheWay(r.broken) || r.failures >= retries.Attempts {
		return r.broken
	}
	return r.download.client.clock.sleep(r.ctx, retries.pause(r.failures, r.broken))
}

func (d *Download) open(ctx context.Context, accept string, params *GetBulkFileParams) (*File, error) {
	call := d.client.newCall(http.MethodGet, "/bulk/{id}/{objectName}", byUserElement)
	call.inPath("id", d.ID)
	call.inPath("objectName", d.ObjectName)
	call.header.Set("Accept", accept)
	call.inHeader("Range", params.Range)
	call.inHeader("If-Range", params.IfRange)
	return call.file(ctx)
}

// isRest reports whether a response is the part of the same file that begins at the given byte.
func isRest(file *File, offset int64) bool {
	return file.Status == http.StatusPartialContent &&
		strings.HasPrefix(file.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", offset))
}

func (r *resumed) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

package causeway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const rows = "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"é\"}\n{\"id\":9007199254740993}\n"

func job(status BulkJobStatus, more string) http.HandlerFunc {
	return json200(fmt.Sprintf(`{"id":7,"status":%q,"instanceId":1,"objectName":"incident","jobDirection":"DOWNLOAD",
		"recordsCount":3,"recordsFailedCount":0,"fileFormat":"jsonl","fileSize":1,"fileName":"f","createdDate":"2026-01-01T00:00:00Z"%s}`, status, more))
}

// fileFrom sends the file from the requested byte on, and breaks off before the byte `until`.
func fileFrom(t *testing.T, etag string, until int) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		from, status := 0, 200
		if asked := request.Header.Get("Range"); asked != "" && request.Header.Get("If-Range") == etag {
			if _, err := fmt.Sscanf(asked, "bytes=%d-", &from); err != nil {
				t.Error(asked)
			}
			status = 206
			response.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(rows)-1, len(rows)))
		}
		response.Header().Set("ETag", etag)
		response.Header().Set("Content-Length", fmt.Sprint(len(rows)-from))
		response.WriteHeader(status)
		io.WriteString(response, rows[from:max(from, until)])
		if until < len(rows) {
			response.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}
}

func TestRowsOfADownload(t *testing.T) {
	service, client := serve(t,
		json200(`{"id":7,"status":"CREATED","instanceId":1}`), job("CREATED", ""), job("RUNNING", ""), job("COMPLETED", ""),
		fileFrom(t, `"1"`, 25), fileFrom(t, `"1"`, 25), fileFrom(t, `"1"`, 60), fileFrom(t, `"1"`, len(rows)),
	)
	download := must(client.Download(t.Context(), "incident", Query{Where: Where("a = ?", 1), Fields: []string{"id", "name"}}))(t)
	var ids []string
	for row, err := range download.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, fmt.Sprint(row["id"]))
	}
	expect(t, "rows", strings.Join(ids, " "), "1 2 9007199254740993")
	expect(t, "body", service.sent()[0], `{"objectName":"incident","where":"a = 1","fields":"id,name","format":"jsonl"}`)
	expect(t, "a key", service.seen()[0].Header.Get("Idempotency-Key") != "", true)
	expect(t, "Accept", service.seen()[4].Header.Get("Accept"), "application/x-ndjson")
	expect(t, "ranges", fmt.Sprint(service.seen()[5].Header["Range"], service.seen()[6].Header["Range"], service.seen()[7].Header["Range"]),
		"[bytes=25-] [bytes=25-] [bytes=60-]")
	expect(t, "looks are further and further apart", service.pauses[1] > service.pauses[0], true)
}

func TestADownloadThatBreaksAgainAndAgainEnds(t *testing.T) {
	service, client := serve(t, job("COMPLETED", ""))
	for range 10 {
		service.answers = append(service.answers, fileFrom(t, `"1"`, 25))
	}
	size, err := client.DownloadOf(7, "incident").Copy(t.Context(), io.Discard)
	var broken *ConnectionError
	expect(t, "error", errors.As(err, &broken), true)
	expect(t, "bytes", size, 25)
	expect(t, "calls", len(service.seen()), 1+1+3)
}

func TestAFileThatChangedIsNotPutTogether(t *testing.T) {
	_, client := serve(t, job("COMPLETED", ""), fileFrom(t, `"1"`, 25), fileFrom(t, `"2"`, len(rows)))
	size, err := client.DownloadOf(7, "incident").Copy(t.Context(), io.Discard)
	expect(t, "error", err != nil && strings.Contains(err.Error(), "another one"), true)
	expect(t, "bytes", size, 25)
}

func TestAFormThatIsMadeMeanwhileIsNotResumed(t *testing.T) {
	service, client := serve(t, job("COMPLETED", ""), func(response http.ResponseWriter, _ *http.Request) {
		io.WriteString(response, rows[:25])
		response.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	var last error
	count := 0
	for _, err := range client.DownloadOf(7, "incident").Rows(t.Context()) {
		last = err
		count++
	}
	expect(t, "error", last != nil, true)
	expect(t, "a row and the error", count, 2)
	expect(t, "calls", len(service.seen()), 2)
}

func TestSave(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "rows.jsonl")
	service, client := serve(t, job("COMPLETED", ""), fileFrom(t, `"1"`, 30), fileFrom(t, `"1"`, len(rows)))
	expect(t, "size", must(client.DownloadOf(7, "incident").Save(t.Context(), path))(t), int64(len(rows)))
	expect(t, "file", bytes.Equal(must(os.ReadFile(path))(t), []byte(rows)), true)
	expect(t, "Accept", service.seen()[1].Header.Get("Accept"), "*/*")
	_, client = serve(t, job("COMPLETED", ""), failure(404, ErrorCodeNotFound))
	_, err := client.DownloadOf(7, "incident").Save(t.Context(), filepath.Join(folder, "other"))
	expect(t, "error", errors.Is(err, ErrNotFound), true)
	expect(t, "nothing half is left", len(must(os.ReadDir(folder))(t)), 1)
}

func TestAJobThatFailed(t *testing.T) {
	_, client := serve(t, job("FAILED", `,"code":"PROVIDER_TIMEOUT","message":"No answer."`), job("CANCELLED", ""))
	_, err := client.DownloadOf(7, "incident").Wait(t.Context())
	var failed *JobError
	expect(t, "error", errors.As(err, &failed) && failed.Job.Id == 7, true)
	expect(t, "kind", errors.Is(err, ErrProvider), true)
	expect(t, "text", err.Error(), "causeway: bulk job 7 is FAILED: PROVIDER_TIMEOUT No answer.")
	for _, err := range client.DownloadOf(7, "incident").Rows(t.Context()) {
		expect(t, "cancelled", errors.As(err, &failed) && failed.Job.Status == BulkJobStatusCancelled, true)
	}
}

func TestUpload(t *testing.T) {
	service, client := serve(t, json200(`{"id":"1"}`), failure(503, ErrorCodeOverloaded))
	upload := Upload{Name: `a "b".txt`, ContentType: "text/plain", Content: strings.NewReader("content")}
	record := must(client.CreateFile(t.Context(), "files", Record{"path": "/a"}, upload))(t)
	expect(t, "record", record["id"], any("1"))
	request := &http.Request{Method: "POST", Header: service.seen()[0].Header, Body: io.NopCloser(strings.NewReader(service.sent()[0]))}
	form := must(request.MultipartReader())(t)
	part := must(form.NextPart())(t)
	expect(t, "metadata", part.FormName()+" "+string(must(io.ReadAll(part))(t)), `metadata {"path":"/a"}`)
	part = must(form.NextPart())(t)
	expect(t, "file", part.FormName()+" "+part.FileName()+" "+string(must(io.ReadAll(part))(t)), `file a "b".txt content`)
	_, err := client.ReplaceFile(t.Context(), "files", "1", nil, Upload{Name: "b", Content: strings.NewReader("content")})
	expect(t, "error", err != nil, true)
	expect(t, "not sent again", len(service.seen()), 2)
	expect(t, "no key", service.seen()[0].Header.Get("Idempotency-Key"), "")
}

func TestFilesAndPassthrough(t *testing.T) {
	service, client := serve(t, json200("%PDF", "Content-Disposition", `attachment; filename="a.pdf"`), json200("as it came"))
	file := must(client.GetFile(t.Context(), "files", "1", "application/pdf"))(t)
	defer file.Close()
	expect(t, "name", file.Name(), "a.pdf")
	expect(t, "content", string(must(io.ReadAll(file))(t)), "%PDF")
	expect(t, "Accept", service.seen()[0].Header.Get("Accept"), "application/pdf")
	answer := must(client.Passthrough(t.Context(), "POST", "v1/a%2Fb?c=d%26e&flag", http.Header{"Content-Type": {"text/plain"}}, []byte("body")))(t)
	defer answer.Close()
	expect(t, "path", service.seen()[1].URL.EscapedPath(), "/elements/api-v2/passthrough/v1/a%2Fb")
	expect(t, "query", service.seen()[1].URL.RawQuery, "c=d%26e&flag")
	expect(t, "body", service.sent()[1], "body")
	expect(t, "type", service.seen()[1].Header.Get("Content-Type"), "text/plain")
	for _, path := range []string{"../instances", "a/%2e%2e/b", "%zz"} {
		_, err := client.Passthrough(t.Context(), "GET", path, nil, nil)
		expect(t, path, err != nil, true)
	}
	expect(t, "calls", len(service.seen()), 2)
}

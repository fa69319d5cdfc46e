package causeway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"
)

func execution(status FormulaExecutionStatus) http.HandlerFunc {
	const times = `"createdDate":"2026-11-23T10:00:00.000Z","updatedDate":"2026-11-23T10:00:00.250Z"`
	return json200(fmt.Sprintf(`{"id":61,"formulaInstanceId":88,"status":%q,%s,"formulaVersion":3,"stepExecutions":[
		{"id":901,"stepName":"trigger","status":"success","fault":false,%s},{"id":902,"stepName":"get","status":"failed","fault":true,%s}]}`, status, times, times, times))
}

func TestRunFormula(t *testing.T) {
	service, client := serve(t, json200(`[{"id":61}]`), execution("queued"), execution("pending"), execution("failed"))
	ended := must(client.RunFormula(t.Context(), 88, map[string]any{"id": 7}))(t)
	expect(t, "status", ended.Status, FormulaExecutionStatusFailed)
	expect(t, "steps", fmt.Sprint(ended.StepExecutions[0].StepName, " ", ended.StepExecutions[1].StepName, " ", ended.StepExecutions[1].Status), "trigger get failed")
	expect(t, "start", service.seen()[0].Method+" "+service.seen()[0].URL.Path, "POST /elements/api-v2/formulas/instances/88/executions")
	expect(t, "body", service.sent()[0], `{"id":7}`)
	expect(t, "a key", service.seen()[0].Header.Get("Idempotency-Key") != "", true)
	expect(t, "look", service.seen()[3].Method+" "+service.seen()[3].URL.Path, "GET /elements/api-v2/formulas/instances/executions/61")
	expect(t, "looks are further and further apart", service.pauses[1] > service.pauses[0], true)
}

func TestRunFormulaWithoutInput(t *testing.T) {
	service, client := serve(t, json200(`[{"id":61}]`), execution("success"))
	must(client.RunFormula(t.Context(), 88, nil))(t)
	expect(t, "body", service.sent()[0], "")
}

func TestAnInputThatStartsNotOneExecution(t *testing.T) {
	_, client := serve(t, json200(`[{"id":61},{"id":62}]`), json200(`[]`))
	_, err := client.RunFormula(t.Context(), 88, map[string]any{})
	expect(t, "several", fmt.Sprint(err), "causeway: the input started several executions [61 62]: wait for each of them with WaitForExecution")
	_, err = client.RunFormula(t.Context(), 88, map[string]any{})
	expect(t, "none", fmt.Sprint(err), "causeway: the input started no execution")
}

func TestEndsOfAnExecution(t *testing.T) {
	for _, status := range []FormulaExecutionStatus{"success", "failed", "cancelled", "retry", "unknown"} {
		service, client := serve(t, execution(status))
		expect(t, "status", must(client.WaitForExecution(t.Context(), 61))(t).Status, status)
		expect(t, "looks", len(service.seen()), 1)
	}
}

func TestTheContextLimitsTheWait(t *testing.T) {
	service, client := serve(t)
	for range 100 {
		service.answers = append(service.answers, execution("pending"))
	}
	client.clock = systemClock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.WaitForExecution(ctx, 61)
	expect(t, "error", errors.Is(err, context.DeadlineExceeded), true)
}

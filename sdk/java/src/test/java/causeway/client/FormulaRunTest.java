package causeway.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import causeway.client.TestService.Answer;
import causeway.client.TestService.Request;
import causeway.client.model.FormulaExecution;
import causeway.client.model.FormulaExecutionStatus;
import causeway.client.model.FormulaStepExecution;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FormulaRunTest {
  private static final String TIMES = "\"createdDate\":\"2026-11-23T10:00:00.000Z\",\"updatedDate\":\"2026-11-23T10:00:00.250Z\"";
  private static final String STEPS =
      "[{\"id\":901,\"stepName\":\"trigger\",\"status\":\"success\",\"fault\":false,"
          + TIMES
          + "},{\"id\":902,\"stepName\":\"get\",\"status\":\"failed\",\"fault\":true,"
          + TIMES
          + ",\"stepExecutionValues\":[{\"id\":1,\"key\":\"get.response.code\",\"value\":\"404\"}]}]";

  @Test
  void startsWaitsAndReturnsTheSteps() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "[{\"id\":61}]"), execution("queued"), execution("pending"), execution("failed"))) {
      FormulaRun run = service.client().build().runFormula(88, Map.of("id", 7));
      Request start = service.last();
      assertEquals("POST /formulas/instances/88/executions", start.method() + " " + start.target());
      assertEquals("{\"id\":7}", start.body());
      assertNotNull(start.header("Idempotency-Key"));
      FormulaExecution ended = run.await(Duration.ofMinutes(1));
      assertEquals(61, run.id());
      assertEquals(FormulaExecutionStatus.failed, ended.status());
      assertEquals(List.of("trigger", "get"), ended.stepExecutions().stream().map(FormulaStepExecution::stepName).toList());
      assertEquals("GET /formulas/instances/executions/61", service.last().method() + " " + service.last().target());
      assertEquals(4, service.requests().size());
    }
  }

  @Test
  void sendsNoBodyWithoutInput() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "[{\"id\":61}]"))) {
      service.client().build().runFormula(88, null);
      assertEquals("", service.last().body());
    }
  }

  @Test
  void saysThatTheInputStartedSeveralExecutionsOrNone() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "[{\"id\":61},{\"id\":62}]"), Answer.of(200, "[]"))) {
      Causeway causeway = service.client().build();
      assertEquals(
          "The input started several executions: [61, 62]. Wait for each of them with formulaRun(id).",
          assertThrows(IllegalStateException.class, () -> causeway.runFormula(88, Map.of())).getMessage());
      assertEquals("The input started no execution.", assertThrows(IllegalStateException.class, () -> causeway.runFormula(88, Map.of())).getMessage());
    }
  }

  @Test
  void endsWithEachStatusButTwo() throws IOException {
    for (String status : List.of("success", "failed", "cancelled", "retry", "unknown")) {
      try (TestService service = TestService.of(execution(status))) {
        assertEquals(status, service.client().build().formulaRun(61).await(Duration.ZERO).status().value());
      }
    }
  }

  @Test
  void doesNotWaitForEver() throws IOException {
    try (TestService service = TestService.of(execution("pending"))) {
      TimedOutException failure =
          assertThrows(TimedOutException.class, () -> service.client().build().formulaRun(61).await(Duration.ofMillis(100)));
      assertEquals("Execution 61 has not ended within PT0.1S: it is pending.", failure.getMessage());
    }
  }

  @Test
  void listsStepsWithValuesAndCancels() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, STEPS), execution("cancelled"))) {
      FormulaRun run = service.client().build().formulaRun(61);
      assertEquals("404", run.steps().toList().get(1).stepExecutionValues().get(0).value());
      assertEquals("/formulas/instances/executions/61/steps?includeValues=true", service.last().target());
      run.cancel();
      assertEquals("{\"status\":\"cancelled\"}", service.last().body());
    }
  }

  private static Answer execution(String status) {
    return Answer.of(200, "{\"id\":61,\"formulaInstanceId\":88,\"status\":\"" + status + "\"," + TIMES + ",\"stepExecutions\":" + STEPS + "}");
  }
}

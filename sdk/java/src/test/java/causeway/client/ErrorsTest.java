package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import causeway.client.model.ErrorCode;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ErrorsTest {
  @Test
  void hasThePlaceOfAFault() {
    WhereException failure =
        assertInstanceOf(
            WhereException.class,
            failure(
                400,
                """
                {"requestId":"r-1","code":"WHERE_INVALID","message":"Unknown field 'Coed'.",
                 "details":[{"message":"about the whole"},{"position":0,"length":4,"message":"m","nearest":"Code","expected":["a"]}]}
                """));
    assertEquals(ErrorCode.WHERE_INVALID, failure.code());
    assertEquals(400, failure.status());
    assertEquals("r-1", failure.requestId());
    assertEquals(Optional.of(0), failure.position());
    assertEquals(Optional.of(4), failure.length());
    assertEquals(Optional.of("Code"), failure.suggestion());
    assertEquals(2, failure.details().size());
    assertEquals("WHERE_INVALID (400): Unknown field 'Coed'. [request r-1]", failure.getMessage());
  }

  @Test
  void isOfTheClassThatCallersBranchOn() {
    assertInstanceOf(NotFoundException.class, failure(404, "{\"code\":\"NOT_FOUND\"}"));
    assertInstanceOf(RateLimitedException.class, failure(429, "{\"code\":\"PROVIDER_RATE_LIMITED\"}"));
    ProviderException failure =
        assertInstanceOf(ProviderException.class, failure(422, "{\"code\":\"PROVIDER_REJECTED\",\"providerMessage\":\"no\"}"));
    assertEquals("no", failure.providerMessage());
    assertEquals(ApiException.class, failure(409, "{\"code\":\"CONFLICT\"}").getClass());
  }

  @Test
  void keepsCodesOfANewerService() {
    ApiException failure = failure(400, "{\"code\":\"SOMETHING_NEW\",\"message\":\"m\"}");
    assertEquals(ErrorCode.UNKNOWN, failure.code());
    assertEquals("SOMETHING_NEW", failure.codeText());
  }

  @Test
  void takesAnswersOfOthers() {
    for (String body : List.of("<html>Bad gateway</html>", "", "[]", "{\"code\":7,\"details\":{}}", "\"x\"")) {
      ApiException failure = failure(502, body);
      assertEquals("HTTP_502", failure.codeText());
      assertEquals("from the header", failure.requestId());
      assertTrue(failure.details().isEmpty());
      assertNull(failure.providerMessage());
    }
  }

  @Test
  void readsHowLongToWait() {
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    assertEquals(Duration.ofSeconds(7), RetryAfter.of(header("7"), now));
    assertEquals(Duration.ofSeconds(90), RetryAfter.of(header("Thu, 01 Jan 2026 00:01:30 GMT"), now));
    assertEquals(Duration.ZERO, RetryAfter.of(header("Wed, 31 Dec 2025 00:00:00 GMT"), now));
    assertNull(RetryAfter.of(header("soon"), now));
    assertNull(RetryAfter.of(HttpHeaders.of(Map.of(), (name, value) -> true), now));
  }

  @Test
  void pausesLongerEachTimeAndNotForEver() {
    Retries retries = new Retries(4, Duration.ofMillis(100), Duration.ofMillis(300), Duration.ofSeconds(10));
    for (int drawn = 0; drawn < 1000; drawn++) {
      assertTrue(pause(retries, 1).compareTo(Duration.ofMillis(100)) <= 0);
      assertTrue(pause(retries, 2).compareTo(Duration.ofMillis(200)) <= 0);
      assertTrue(pause(retries, 3).compareTo(Duration.ofMillis(300)) <= 0);
    }
    assertEquals(Optional.empty(), retries.pauseAfter(4, Duration.ZERO, Optional.empty()));
    assertEquals(Optional.of(Duration.ofSeconds(10)), retries.pauseAfter(1, Duration.ZERO, Optional.of(Duration.ofSeconds(10))));
    assertEquals(Optional.empty(), retries.pauseAfter(1, Duration.ofSeconds(1), Optional.of(Duration.ofSeconds(10))));
    assertEquals(Optional.empty(), Retries.NONE.pauseAfter(1, Duration.ZERO, Optional.empty()));
  }

  private static Duration pause(Retries retries, int tried) {
    return retries.pauseAfter(tried, Duration.ZERO, Optional.empty()).orElseThrow();
  }

  private static HttpHeaders header(String retryAfter) {
    return HttpHeaders.of(Map.of("retry-after", List.of(retryAfter)), (name, value) -> true);
  }

  private static ApiException failure(int status, String body) {
    return new ApiException.Answer(status, body.getBytes(UTF_8), "from the header", null).exception();
  }
}

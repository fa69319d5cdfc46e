package causeway.client;

import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;

/** Reads the header {@code Retry-After}: seconds, or a date. */
final class RetryAfter {
  private RetryAfter() {}

  /** Returns the time to wait; null without the header, or for an invalid one. */
  static Duration of(HttpHeaders headers, Instant now) {
    return headers.firstValue("Retry-After").map(String::strip).map(value -> read(value, now)).orElse(null);
  }

  private static Duration read(String value, Instant now) {
    if (value.matches("\\d{1,9}")) {
      return Duration.ofSeconds(Long.parseLong(value));
    }
    try {
      Duration until = Duration.between(now, ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
      return until.isNegative() ? Duration.ZERO : until;
    } catch (DateTimeException neither) {
      return null;
    }
  }
}

package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.UUID;
import java.util.stream.Collectors;

/** Builds filters of the query language. Values are quoted and never spliced in, so that each stays a value. */
public final class Where {
  private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
  private static final Instant END = Instant.parse("+10000-01-01T00:00:00Z");

  private static final String NULL = "is null, which nothing equals: say IS NULL";

  private Where() {}

  /**
   * Returns a filter with a value for each {@code ?} outside of quotes: {@code where("status = ? AND id IN (?)", "Active", List.of(1, 2))}.
   * @param values texts (also UUIDs, enums and characters), numbers, booleans, {@link LocalDate}, {@link Instant}, {@link OffsetDateTime},
   * {@link ZonedDateTime}, {@link Date}, or collections and arrays of these for {@code IN}
   * @throws IllegalArgumentException when the numbers of values and placeholders differ, a quote is not closed, or a value has no literal.
   * Null has none: write {@code IS NULL}
   */
  public static String where(String template, Object... values) {
    if (values == null) {
      throw refusal(1, NULL);
    }
    StringBuilder filter = new StringBuilder();
    char quote = 0;
    int used = 0;
    for (int at = 0; at < template.length(); at++) {
      char character = template.charAt(at);
      if (quote != 0) {
        quote = character == quote ? 0 : quote;
      } else if (character == '\'' || character == '`') {
        quote = character;
      } else if (character == '?') {
        if (used < values.length) {
          filter.append(literals(values[used], used + 1, isInList(template, at)));
        }
        used++;
        continue;
      }
      filter.append(character);
    }
    if (quote != 0) {
      throw new IllegalArgumentException("The filter \"" + template + "\" has a quote (" + quote + ") that is not closed.");
    }
    if (used != values.length) {
      throw new IllegalArgumentException(
          "The filter \"" + template + "\" has " + used + " places (?) outside of quotes, but " + values.length + " values were given.");
    }
    return filter.toString();
  }

  /** Escapes a text so that {@code LIKE} finds it literally: {@code where("name LIKE ?", escapeLike(word) + "%")}. */
  public static String escapeLike(String text) {
    return text.replaceAll("[\\\\%_]", "\\\\$0");
  }

  /** Returns whether the placeholder is already in parentheses. */
  private static boolean isInList(String template, int at) {
    String before = template.substring(0, at).stripTrailing();
    return before.endsWith("(") || before.endsWith(",");
  }

  private static String literals(Object value, int number, boolean isInList) {
    if (value instanceof Object[] several) {
      return literals(Arrays.asList(several), number, isInList);
    }
    if (!(value instanceof Collection<?> several)) {
      return literal(value, number);
    }
    if (several.isEmpty()) {
      throw refusal(number, "is an empty list, which IN does not take: no row would pass");
    }
    String members = several.stream().map(member -> literal(member, number)).collect(Collectors.joining(", "));
    return isInList ? members : "(" + members + ")";
  }

  private static String literal(Object value, int number) {
    if (value == null) {
      throw refusal(number, NULL);
    }
    if (value instanceof CharSequence || value instanceof Character || value instanceof UUID || value instanceof Enum<?>) {
      return quoted(value.toString(), number);
    }
    if (value instanceof Boolean truth) {
      return truth ? "TRUE" : "FALSE";
    }
    if (value instanceof Number amount) {
      return decimal(amount, number);
    }
    if (value instanceof LocalDate day) {
      instant(day.atStartOfDay(ZoneOffset.UTC).toInstant(), number);
      return DateTimeFormatter.ISO_LOCAL_DATE.format(day);
    }
    if (value instanceof Instant time) {
      return instant(time, number);
    }
    if (value instanceof OffsetDateTime time) {
      return instant(time.toInstant(), number);
    }
    if (value instanceof ZonedDateTime time) {
      return instant(time.toInstant(), number);
    }
    if (value instanceof Date time) {
      return instant(Instant.ofEpochMilli(time.getTime()), number);
    }
    throw refusal(number, "is a " + value.getClass().getName() + ", which no literal stands for");
  }

  private static String quoted(String text, int number) {
    if (!UTF_8.newEncoder().canEncode(text)) {
      throw refusal(number, "has half of a surrogate pair, which UTF-8 cannot say");
    }
    return "'" + text.replace("'", "''") + "'";
  }

  private static String decimal(Number amount, int number) {
    try {
      return new BigDecimal(amount.toString()).toString();
    } catch (NumberFormatException notFinite) {
      throw refusal(number, "is " + amount + ", which is no decimal number");
    }
  }

  private static String instant(Instant time, int number) {
    if (time.isBefore(FIRST) || !time.isBefore(END)) {
      throw refusal(number, "is a time outside of the years 1 to 9999");
    }
    return time.toString();
  }

  private static IllegalArgumentException refusal(int number, String reason) {
    return new IllegalArgumentException("Value " + number + " of the filter " + reason + ".");
  }
}

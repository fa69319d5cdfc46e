package causeway.client;

import static causeway.client.Where.escapeLike;
import static causeway.client.Where.where;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import causeway.client.model.ErrorCode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class WhereTest {
  @Test
  void quotesTexts() {
    assertEquals("a = 'x'", where("a = ?", "x"));
    assertEquals("a = ''", where("a = ?", ""));
    assertEquals("a = 'O''Neil'", where("a = ?", "O'Neil"));
    assertEquals("a = ''' OR ''''='''", where("a = ?", "' OR ''='"));
    assertEquals("a = '\\? -- /* ; \n\u0001 😀'", where("a = ?", "\\? -- /* ; \n\u0001 😀"));
    assertEquals("a = 'NULL' AND b = '1'", where("a = ? AND b = ?", "NULL", '1'));
    assertEquals("a = 'NOT_FOUND'", where("a = ?", ErrorCode.NOT_FOUND));
    assertEquals("a = '00000000-0000-0001-0000-000000000002'", where("a = ?", new UUID(1, 2)));
  }

  @Test
  void writesNumbersWithAllTheirDigits() {
    assertEquals("a = 9007199254740993", where("a = ?", 9007199254740993L));
    assertEquals("a = -0.1", where("a = ?", -0.1));
    assertEquals("a = 1.50", where("a = ?", new BigDecimal("1.50")));
    assertEquals("a = 123456789012345678901234567890", where("a = ?", new BigInteger("123456789012345678901234567890")));
    assertThrows(IllegalArgumentException.class, () -> where("a = ?", Double.NaN));
    assertThrows(IllegalArgumentException.class, () -> where("a = ?", Double.POSITIVE_INFINITY));
  }

  @Test
  void writesBooleansAndTimes() {
    assertEquals("a = TRUE AND b = FALSE", where("a = ? AND b = ?", true, false));
    assertEquals("a >= 2026-01-31", where("a >= ?", LocalDate.of(2026, 1, 31)));
    assertEquals("a >= 2026-01-31T07:30:00.120Z", where("a >= ?", Instant.parse("2026-01-31T07:30:00.12Z")));
    assertEquals("a >= 2026-01-31T07:30:00Z", where("a >= ?", OffsetDateTime.parse("2026-01-31T08:30+01:00")));
    assertEquals("a >= 1970-01-01T00:00:00Z", where("a >= ?", new Date(0)));
    assertThrows(IllegalArgumentException.class, () -> where("a >= ?", Instant.MAX));
    assertThrows(IllegalArgumentException.class, () -> where("a >= ?", LocalDate.of(10000, 1, 1)));
  }

  @Test
  void writesListsForIn() {
    assertEquals("a IN ('x', 'y')", where("a IN (?)", List.of("x", "y")));
    assertEquals("a IN ('x', 'y')", where("a IN ?", List.of("x", "y")));
    assertEquals("a IN (1, 2)", where("a IN (?)", (Object) new Integer[] {1, 2}));
    assertEquals("a IN (0, 1, 2)", where("a IN (?, ?)", 0, List.of(1, 2)));
    assertThrows(IllegalArgumentException.class, () -> where("a IN (?)", List.of()));
    assertThrows(IllegalArgumentException.class, () -> where("a IN (?)", Collections.singletonList(null)));
    assertThrows(IllegalArgumentException.class, () -> where("a IN (?)", List.of(List.of(1))));
  }

  @Test
  void takesPlacesOutsideOfQuotesOnly() {
    assertEquals("a = 'why? it''s?' AND `b?` = 1", where("a = 'why? it''s?' AND `b?` = ?", 1));
    assertEquals("a = 'x`' AND b = 1", where("a = 'x`' AND b = ?", 1));
    assertEquals("a IS NULL", where("a IS NULL"));
    assertTrue(refusal("a = 'x", 1).contains("not closed"));
  }

  @Test
  void countsValues() {
    assertEquals("The filter \"a = ? AND b = ?\" has 2 places (?) outside of quotes, but 1 values were given.", refusal("a = ? AND b = ?", 1));
    assertTrue(refusal("a = '?'", 1).contains("has 0 places"));
    assertTrue(refusal("a = ?").contains("has 1 places"));
  }

  @Test
  void refusesWhatHasNoLiteral() {
    assertTrue(refusal("a = ?", (Object) null).contains("IS NULL"));
    assertTrue(refusal("a = ?", (Object[]) null).contains("IS NULL"));
    assertTrue(refusal("a = ?", new Object()).contains("java.lang.Object"));
    assertTrue(refusal("a = ?", LocalDateTime.MIN).contains("LocalDateTime"));
    assertTrue(refusal("a = ?", "\ud800").contains("surrogate"));
  }

  @Test
  void escapesWildcards() {
    assertEquals("a LIKE '100\\% \\_\\\\%'", where("a LIKE ?", escapeLike("100% _\\") + "%"));
  }

  private static String refusal(String template, Object... values) {
    return assertThrows(IllegalArgumentException.class, () -> where(template, values)).getMessage();
  }
}

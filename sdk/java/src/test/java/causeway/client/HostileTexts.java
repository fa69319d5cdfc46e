package causeway.client;

import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Texts that break clients that splice values into filters. */
final class HostileTexts {
  private static final List<String> PIECES =
      List.of(
          "'", "''", "\\", "\\\\", "\\'", "?", "%", "_", "--", "/*", "*/", ";", "(", ")", ",", "' OR ''='", "\n", "\r\n", "\t", "\u0001", "\u001f", "\u007f",
          " ", "  ", "12", "1e3", "2026-01-31", "2026-01-31T08:30:00Z", "NULL", "TRUE", "`", "\"", "${x}", "{{x}}", "<b>", "&amp;", "😀", "𝒳", "e\u0301",
          "é", "ß", "漢字", "\u200b", "\u2028", "\u202e", "‘", "’", "\ufeff", "a", "B", "word");

  private HostileTexts() {}

  /** @return the empty text, each piece alone, and random sequences of pieces, some of 80 characters */
  static List<String> of(Random random, int count) {
    return IntStream.range(0, count).mapToObj(at -> at == 0 ? "" : at <= PIECES.size() ? PIECES.get(at - 1) : sequence(random, at)).toList();
  }

  private static String sequence(Random random, int at) {
    if (at % 50 == 0) {
      return "x'\\".repeat(27).substring(0, 80);
    }
    return random.ints(1 + random.nextInt(8), 0, PIECES.size()).mapToObj(PIECES::get).collect(Collectors.joining());
  }
}

package causeway.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How often a call is tried again that may be. The pause before a try is drawn between none and a longest one, which doubles with each try;
 * what an answer asks for with {@code Retry-After} is waited for at least.
 *
 * @param attempts tries at most, the first one counted; 1 for none again
 * @param firstPause the longest pause before the second try
 * @param longestPause no drawn pause is longer
 * @param totalTime no try begins later than this after the first one
 */
public record Retries(int attempts, Duration firstPause, Duration longestPause, Duration totalTime) {
  public static final Retries NONE = new Retries(1, Duration.ZERO, Duration.ZERO, Duration.ZERO);

  /** Four tries within two minutes. */
  public static final Retries STANDARD = new Retries(4, Duration.ofMillis(250), Duration.ofSeconds(8), Duration.ofMinutes(2));

  public Retries {
    if (attempts < 1 || firstPause.isNegative() || longestPause.isNegative() || totalTime.isNegative()) {
      throw new IllegalArgumentException("Retries take one attempt at least, and no negative times.");
    }
  }

  /** @return how long to wait after so many tries, or nothing when there is no further one */
  Optional<Duration> pauseAfter(int tried, Duration elapsed, Optional<Duration> askedFor) {
    Duration longest = min(firstPause.multipliedBy(1L << Math.min(tried - 1, 20)), longestPause);
    Duration drawn = Duration.ofNanos(ThreadLocalRandom.current().nextLong(longest.toNanos() + 1));
    Duration pause = askedFor.filter(asked -> asked.compareTo(drawn) > 0).orElse(drawn);
    boolean isInTime = elapsed.plus(pause).compareTo(totalTime) <= 0;
    return tried < attempts && isInTime ? Optional.of(pause) : Optional.empty();
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}

package causeway.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Configures how often a repeatable call is retried. The pause before a retry is random, up to a maximum that doubles with each retry. It
 * is at least as long as {@code Retry-After} requests.
 * @param attempts maximum number of attempts, including the first one; 1 disables retries
 * @param firstPause maximum pause before the second attempt
 * @param longestPause upper limit of random pauses
 * @param totalTime maximum time from the first attempt to the start of the last one
 */
public record Retries(int attempts, Duration firstPause, Duration longestPause, Duration totalTime) {
  public static final Retries NONE = new Retries(1, Duration.ZERO, Duration.ZERO, Duration.ZERO);

  /** Four attempts within two minutes. */
  public static final Retries STANDARD = new Retries(4, Duration.ofMillis(250), Duration.ofSeconds(8), Duration.ofMinutes(2));

  public Retries {
    if (attempts < 1 || firstPause.isNegative() || longestPause.isNegative() || totalTime.isNegative()) {
      throw new IllegalArgumentException("Retries take one attempt at least, and no negative times.");
    }
  }

  /** Returns the pause after this number of attempts; empty if there is no further attempt. */
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

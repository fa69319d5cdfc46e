package causeway.client;

/** Too many requests, to the service or to the provider; {@link #retryAfter} says how long to wait. */
public final class RateLimitedException extends ApiException {
  RateLimitedException(Answer answer) {
    super(answer);
  }
}

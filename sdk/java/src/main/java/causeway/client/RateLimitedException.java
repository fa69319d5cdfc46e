package causeway.client;

/** Too many requests were sent to the service or to the provider. {@link #retryAfter} returns the time to wait. */
public final class RateLimitedException extends ApiException {
  RateLimitedException(Answer answer) {
    super(answer);
  }
}

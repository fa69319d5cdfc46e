package causeway.client;

/** A call that failed. What it failed for is told by its class: {@link ApiException} is an answer, the others are the want of one. */
public abstract class CausewayException extends RuntimeException {
  CausewayException(String message, Throwable cause) {
    super(message, cause);
  }
}

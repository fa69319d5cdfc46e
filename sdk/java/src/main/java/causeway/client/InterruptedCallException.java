package causeway.client;

/** The thread was interrupted while it waited. The request was aborted, and the thread is still marked as interrupted. */
public final class InterruptedCallException extends CausewayException {
  InterruptedCallException(String message, InterruptedException cause) {
    super(message, cause);
  }

  /** Marks the thread as interrupted again, because catching an InterruptedException clears the mark. */
  static InterruptedCallException in(String call, InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new InterruptedCallException(call + " was interrupted.", cause);
  }
}

package causeway.client;

/** The response, or the end of a bulk job or of an execution, did not arrive within the time limit. */
public final class TimedOutException extends CausewayException {
  TimedOutException(String message) {
    super(message, null);
  }
}

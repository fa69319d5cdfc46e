package causeway.client;

/** The answer, or the end of a bulk job or of an execution, did not come in the time that was given for it. */
public final class TimedOutException extends CausewayException {
  TimedOutException(String message) {
    super(message, null);
  }
}

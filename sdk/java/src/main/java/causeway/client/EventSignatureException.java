package causeway.client;

/** An event that none of the secrets signed, or not lately. */
public final class EventSignatureException extends CausewayException {
  EventSignatureException(String message, Throwable cause) {
    super(message, cause);
  }
}

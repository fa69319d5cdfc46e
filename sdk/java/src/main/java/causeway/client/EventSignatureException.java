package causeway.client;

/** None of the secrets signed the event, or the signature is too old. */
public final class EventSignatureException extends CausewayException {
  EventSignatureException(String message, Throwable cause) {
    super(message, cause);
  }
}

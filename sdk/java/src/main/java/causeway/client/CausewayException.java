package causeway.client;

/** A call failed. The class tells why: an {@link ApiException} is an error response; the others mean that there was no usable response. */
public abstract class CausewayException extends RuntimeException {
  CausewayException(String message, Throwable cause) {
    super(message, cause);
  }
}

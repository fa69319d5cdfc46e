package causeway.client;

/** The service could not be reached, the connection broke, or the response did not come from the service. */
public final class NetworkException extends CausewayException {
  NetworkException(String message, Throwable cause) {
    super(message, cause);
  }
}

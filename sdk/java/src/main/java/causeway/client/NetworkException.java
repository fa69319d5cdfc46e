package causeway.client;

/** The service could not be reached, the connection broke, or what came is no answer of the service. */
public final class NetworkException extends CausewayException {
  NetworkException(String message, Throwable cause) {
    super(message, cause);
  }
}

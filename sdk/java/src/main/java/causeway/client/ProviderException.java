package causeway.client;

/** The provider rejected the request, failed, or did not respond. */
public final class ProviderException extends ApiException {
  ProviderException(Answer answer) {
    super(answer);
  }
}

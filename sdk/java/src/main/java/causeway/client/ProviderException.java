package causeway.client;

/** The provider refused, failed or did not answer. */
public final class ProviderException extends ApiException {
  ProviderException(Answer answer) {
    super(answer);
  }
}

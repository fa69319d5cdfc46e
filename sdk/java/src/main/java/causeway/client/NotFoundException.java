package causeway.client;

/** There is no such thing, or not for this caller. */
public final class NotFoundException extends ApiException {
  NotFoundException(Answer answer) {
    super(answer);
  }
}

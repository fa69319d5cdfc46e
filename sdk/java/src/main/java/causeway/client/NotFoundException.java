package causeway.client;

/** The resource does not exist, or is not visible to this caller. */
public final class NotFoundException extends ApiException {
  NotFoundException(Answer answer) {
    super(answer);
  }
}

package causeway.client;

import causeway.client.model.ErrorDetail;
import java.util.Optional;

/** A filter is invalid, or the provider cannot evaluate it completely. */
public final class WhereException extends ApiException {
  WhereException(Answer answer) {
    super(answer);
  }

  /** Returns the position of the first fault in the filter, counted from 0. */
  public Optional<Integer> position() {
    return first().map(ErrorDetail::position);
  }

  /** Returns the length of the fault in characters. */
  public Optional<Integer> length() {
    return first().map(ErrorDetail::length);
  }

  /** Returns the known name that is most similar to the given one. */
  public Optional<String> suggestion() {
    return first().map(ErrorDetail::nearest);
  }

  private Optional<ErrorDetail> first() {
    return details().stream().filter(detail -> detail.position() != null).findFirst();
  }
}

package causeway.client;

import causeway.client.model.ErrorDetail;
import java.util.Optional;

/** A filter is wrong, or the provider cannot answer it alone. */
public final class WhereException extends ApiException {
  WhereException(Answer answer) {
    super(answer);
  }

  /** @return where in the filter the first fault begins, counted from 0 */
  public Optional<Integer> position() {
    return first().map(ErrorDetail::position);
  }

  /** @return how many characters it covers */
  public Optional<Integer> length() {
    return first().map(ErrorDetail::length);
  }

  /** @return the known name that is closest to the one given */
  public Optional<String> suggestion() {
    return first().map(ErrorDetail::nearest);
  }

  private Optional<ErrorDetail> first() {
    return details().stream().filter(detail -> detail.position() != null).findFirst();
  }
}

package causeway.client;

import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One page of a list.
 *
 * @param nextPageToken stands for the next page, where there is one
 * @param headers of the answer
 */
public record Page<T>(List<T> items, Optional<String> nextPageToken, HttpHeaders headers) {
  /** @return how many items the whole list has, where that is known without extra cost */
  public OptionalLong totalCount() {
    return headers.firstValueAsLong("Elements-Total-Count");
  }

  /** @return how much of the filter the provider answered itself: full, partial or none */
  public Optional<String> pushdown() {
    return headers.firstValue("Elements-Query-Pushdown");
  }

  /** @return why the page ends before it is full, although there may be more: scan-budget, bytes or result-window */
  public Optional<String> partialResult() {
    return headers.firstValue("Elements-Partial-Result");
  }
}

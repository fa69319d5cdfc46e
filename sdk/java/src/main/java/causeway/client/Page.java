package causeway.client;

import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One page of a list.
 * @param nextPageToken token of the next page, if there is one
 * @param headers headers of the response
 */
public record Page<T>(List<T> items, Optional<String> nextPageToken, HttpHeaders headers) {
  /** Returns the number of items of the whole list, if it is known without extra cost. */
  public OptionalLong totalCount() {
    return headers.firstValueAsLong("Elements-Total-Count");
  }

  /** Returns how much of the filter the provider evaluated: full, partial or none. */
  public Optional<String> pushdown() {
    return headers.firstValue("Elements-Query-Pushdown");
  }

  /** Returns the reason why the page ended early although there may be more items: scan-budget, bytes or result-window. */
  public Optional<String> partialResult() {
    return headers.firstValue("Elements-Partial-Result");
  }
}

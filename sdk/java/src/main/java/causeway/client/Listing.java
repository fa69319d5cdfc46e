package causeway.client;

import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A list of the API. Its first page is already loaded. An iteration goes through the items of all pages and requests each page when it
 * reaches it, so an iteration can also throw {@link CausewayException}.
 */
public final class Listing<T> implements Iterable<T> {
  private final Page<T> first;
  private final Function<String, Page<T>> following;

  Listing(Page<T> first, Function<String, Page<T>> following) {
    this.first = first;
    this.following = following;
  }

  public Page<T> firstPage() {
    return first;
  }

  /** Returns the pages one after the other. */
  public Stream<Page<T>> pages() {
    return Stream.iterate(first, page -> page != null, page -> page.nextPageToken().map(following).orElse(null));
  }

  /** Returns the items of all pages. */
  public Stream<T> stream() {
    return StreamSupport.stream(spliterator(), false);
  }

  /** Loads the items of all pages into memory. */
  public List<T> toList() {
    return stream().toList();
  }

  @Override
  public Iterator<T> iterator() {
    return new Items();
  }

  private final class Items implements Iterator<T> {
    private Page<T> page = first;
    private Iterator<T> left = first.items().iterator();

    @Override
    public boolean hasNext() {
      while (!left.hasNext() && page.nextPageToken().isPresent()) {
        page = following.apply(page.nextPageToken().get());
        left = page.items().iterator();
      }
      return left.hasNext();
    }

    @Override
    public T next() {
      hasNext();
      return left.next();
    }
  }
}

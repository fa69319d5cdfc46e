package causeway.client;

/** Which records are listed, and how. What is not said is left to the service. */
public final class RecordQuery {
  private final Call call;

  RecordQuery(Call call) {
    this.call = call;
  }

  /** The filter, with a value for each {@code ?}, as {@link Where#where} takes them. */
  public RecordQuery where(String template, Object... values) {
    return with("where", Where.where(template, values));
  }

  /** The fields to answer, all of them unless given. */
  public RecordQuery fields(String... names) {
    return with("fields", String.join(",", names));
  }

  /** The fields to sort by, such as {@code "lastName", "hireDate desc"}. */
  public RecordQuery orderBy(String... fields) {
    return with("orderBy", String.join(",", fields));
  }

  /** How many records come with one call, from 1 to 5,000. */
  public RecordQuery pageSize(int records) {
    return with("pageSize", records);
  }

  /** How many calls of the provider one page may take, from 1 to 200. */
  public RecordQuery maxProviderCalls(int calls) {
    call.header("Elements-Max-Provider-Calls", calls);
    return this;
  }

  /** Refuses what the provider cannot answer alone ({@code WHERE_UNSUPPORTED}). */
  public RecordQuery pushdownOnly() {
    call.header("Elements-Query-Mode", "pushdown-only");
    return this;
  }

  private RecordQuery with(String parameter, Object value) {
    call.query(parameter, value);
    return this;
  }
}

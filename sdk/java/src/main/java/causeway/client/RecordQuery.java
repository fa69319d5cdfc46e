package causeway.client;

/** Selects the records of a list, and their fields and order. The service chooses everything that is not set. */
public final class RecordQuery {
  private final Call call;

  RecordQuery(Call call) {
    this.call = call;
  }

  /** Sets the filter, with a value for each {@code ?}, as for {@link Where#where}. */
  public RecordQuery where(String template, Object... values) {
    return with("where", Where.where(template, values));
  }

  /** Sets the fields to return. Default: all. */
  public RecordQuery fields(String... names) {
    return with("fields", String.join(",", names));
  }

  /** Sets the fields to sort by, such as {@code "lastName", "hireDate desc"}. */
  public RecordQuery orderBy(String... fields) {
    return with("orderBy", String.join(",", fields));
  }

  /** Sets the number of records per page, from 1 to 5,000. */
  public RecordQuery pageSize(int records) {
    return with("pageSize", records);
  }

  /** Sets the maximum number of calls to the provider per page, from 1 to 200. */
  public RecordQuery maxProviderCalls(int calls) {
    call.header("Elements-Max-Provider-Calls", calls);
    return this;
  }

  /** Rejects a query that the provider cannot evaluate completely ({@code WHERE_UNSUPPORTED}). */
  public RecordQuery pushdownOnly() {
    call.header("Elements-Query-Mode", "pushdown-only");
    return this;
  }

  private RecordQuery with(String parameter, Object value) {
    call.query(parameter, value);
    return this;
  }
}

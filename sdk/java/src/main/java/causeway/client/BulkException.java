package causeway.client;

import causeway.client.model.BulkJob;

/** A bulk job ended without a file. */
public final class BulkException extends CausewayException {
  private final transient BulkJob job;

  BulkException(BulkJob job) {
    super("The bulk job " + job.id() + " is " + job.status() + (job.message() == null ? "." : ": " + job.message()), null);
    this.job = job;
  }

  /** Returns the job with its {@code code} and {@code message}. */
  public BulkJob job() {
    return job;
  }
}

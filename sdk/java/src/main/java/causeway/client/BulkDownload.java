package causeway.client;

import com.fasterxml.jackson.databind.MappingIterator;
import causeway.client.Sender.Reply;
import causeway.client.model.BulkFileFormat;
import causeway.client.model.BulkJob;
import causeway.client.model.BulkJobStatus;
import causeway.client.model.BulkQuery;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** A bulk download: the service reads all rows of a query in the background and writes them to a file. */
public final class BulkDownload {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private final Causeway causeway;
  private final long id;

  BulkDownload(Causeway causeway, long id) {
    this.causeway = causeway;
    this.id = id;
  }

  static BulkDownload start(Causeway causeway, BulkQuery query) {
    BulkQuery asked = Json.MAPPER.convertValue(query, BulkQuery.class);
    if (asked.format() == null) {
      asked.format(BulkFileFormat.jsonl);
    }
    return new BulkDownload(causeway, causeway.bulk().createBulkQuery(options -> options.bulkQuery(asked)).id());
  }

  /** Returns the id of the job. {@link Causeway#download(long)} finds the download by it. */
  public long id() {
    return id;
  }

  /** Returns the current state of the job. */
  public BulkJob status() {
    return causeway.bulk().getBulkStatus(id);
  }

  /**
   * Waits until the job has ended, with status requests at growing intervals.
   * @throws BulkException when the job failed or was cancelled
   * @throws TimedOutException when the job has not ended in time. It continues, and you can wait again
   */
  public BulkJob await(Duration atMost) {
    long end = System.nanoTime() + atMost.toNanos();
    Duration pause = FIRST_PAUSE;
    for (; ; ) {
      BulkJob job = notFailed(status());
      if (job.status() == BulkJobStatus.COMPLETED) {
        return job;
      }
      if (System.nanoTime() + pause.toNanos() > end) {
        throw new TimedOutException("The bulk job " + id + " has not ended within " + atMost + ".");
      }
      sleep(pause);
      Duration longer = pause.multipliedBy(3).dividedBy(2);
      pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }
  }

  /**
   * Opens the stored file once the job has completed. It is read in ranges, and a broken range is requested again. A permanent failure is
   * an IOException whose cause is the {@link CausewayException}.
   */
  public InputStream open() {
    return from(0, completed());
  }

  /** Returns the rows while they are read. Close the stream if you do not read it to its end. */
  public Stream<Map<String, Object>> rows() {
    BulkJob job = completed();
    if (job.fileFormat() != BulkFileFormat.jsonl) {
      throw new IllegalStateException("The bulk job " + id + " has a file of " + job.fileFormat() + "; rows are read from jsonl.");
    }
    try {
      MappingIterator<Map<String, Object>> rows = Json.MAPPER.readerForMapOf(Object.class).readValues(from(0, job));
      return StreamSupport.stream(Spliterators.spliteratorUnknownSize(rows, Spliterator.ORDERED | Spliterator.NONNULL), false)
          .onClose(() -> close(rows));
    } catch (IOException broken) {
      throw failure(broken);
    }
  }

  /**
   * Writes the stored file. If a call fails permanently, the written part stays beside it as {@code <name>.<job>.part}, and the next call
   * resumes there.
   */
  public void toFile(Path target) throws IOException {
    BulkJob job = completed();
    Path part = target.resolveSibling(target.getFileName() + "." + id + ".part");
    long there = Files.exists(part) ? Files.size(part) : 0;
    try (InputStream in = from(there, job);
        var out = Files.newOutputStream(part, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      in.transferTo(out);
    }
    Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Cancels the job if it is running. */
  public BulkJob cancel() {
    return causeway.bulk().cancelBulkJob(id);
  }

  /** Deletes the job with its file. */
  public void delete() {
    causeway.bulk().deleteBulkJob(id);
  }

  private BulkJob completed() {
    BulkJob job = notFailed(status());
    if (job.status() != BulkJobStatus.COMPLETED) {
      throw new IllegalStateException("The bulk job " + id + " is " + job.status() + " and has no file yet: await its end.");
    }
    return job;
  }

  private static BulkJob notFailed(BulkJob job) {
    if (job.status() == BulkJobStatus.FAILED || job.status() == BulkJobStatus.CANCELLED) {
      throw new BulkException(job);
    }
    return job;
  }

  private InputStream from(long first, BulkJob job) {
    AtomicReference<String> tag = new AtomicReference<>();
    return new RangedStream(first, job.fileSize(), (from, to) -> range(job.objectName(), from, to, tag));
  }

  /** Asserts that all ranges belong to one file. */
  private byte[] range(String objectName, long from, long to, AtomicReference<String> tag) {
    Reply<byte[]> reply =
        causeway
            .call("GET", "/bulk/{id}/{objectName}")
            .security("UserElement")
            .path("id", id)
            .path("objectName", objectName)
            .header("Accept", "*/*")
            .header("Range", "bytes=" + from + "-" + to)
            .send();
    String seen = reply.headers().firstValue("ETag").orElse("");
    if (!tag.compareAndSet(null, seen) && !tag.get().equals(seen)) {
      throw new NetworkException("The file of the bulk job " + id + " is another one than it was when its reading began.", null);
    }
    return reply.body();
  }

  private void sleep(Duration pause) {
    try {
      Thread.sleep(pause.toMillis());
    } catch (InterruptedException interrupted) {
      throw InterruptedCallException.in("Waiting for the bulk job " + id, interrupted);
    }
  }

  private static void close(MappingIterator<?> rows) {
    try {
      rows.close();
    } catch (IOException broken) {
      throw failure(broken);
    }
  }

  private static CausewayException failure(IOException broken) {
    return broken.getCause() instanceof CausewayException known ? known : new NetworkException(broken.getMessage(), broken);
  }
}

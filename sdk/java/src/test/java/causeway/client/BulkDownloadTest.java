package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import causeway.client.TestService.Answer;
import causeway.client.TestService.Request;
import causeway.client.model.BulkQuery;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BulkDownloadTest {
  private static final byte[] LARGE = new byte[2 * RangedStream.RANGE + 17];

  static {
    new Random(1).nextBytes(LARGE);
  }

  @TempDir Path folder;

  @Test
  void startsWaitsAndStreamsRows() throws IOException {
    AtomicInteger asked = new AtomicInteger();
    byte[] file = "{\"n\":1}\n{\"n\":2}\n".getBytes(UTF_8);
    try (TestService service =
        new TestService(
            request -> {
              if (request.method().equals("POST")) return Answer.of(200, "{\"id\":5,\"status\":\"CREATED\",\"instanceId\":1}");
              return request.target().endsWith("/status") ? status(asked.incrementAndGet() > 1 ? "COMPLETED" : "RUNNING", file) : part(request, file);
            })) {
      BulkQuery query = new BulkQuery().objectName("Orders").where("a = 1");
      BulkDownload download = service.clientOfInstance().download(query);
      assertEquals("{\"objectName\":\"Orders\",\"where\":\"a = 1\",\"format\":\"jsonl\"}", service.last().body());
      assertEquals(null, query.format());
      assertThrows(IllegalStateException.class, download::rows);
      download.await(Duration.ofMinutes(1));
      assertEquals(List.of(1, 2), download.rows().map(row -> row.get("n")).toList());
    }
  }

  @Test
  void goesOnWhereItBroke() throws IOException {
    AtomicInteger broken = new AtomicInteger();
    try (TestService service = files(request -> request.header("Range").startsWith("bytes=0-") || broken.incrementAndGet() > 2 ? part(request, LARGE) : Answer.BROKEN)) {
      byte[] read = service.clientOfInstance().download(5).open().readAllBytes();
      assertArrayEquals(LARGE, read);
    }
  }

  @Test
  void keepsWhatItHasForTheNextTime() throws IOException {
    Path target = folder.resolve("orders.jsonl");
    try (TestService service = files(request -> request.header("Range").startsWith("bytes=0-") ? part(request, LARGE) : Answer.BROKEN)) {
      IOException failure = assertThrows(IOException.class, () -> service.clientOfInstance().download(5).toFile(target));
      assertInstanceOf(NetworkException.class, failure.getCause());
      assertFalse(Files.exists(target));
      assertEquals(RangedStream.RANGE, Files.size(folder.resolve("orders.jsonl.5.part")));
    }
    try (TestService service = files(request -> part(request, LARGE))) {
      service.clientOfInstance().download(5).toFile(target);
      assertArrayEquals(LARGE, Files.readAllBytes(target));
      assertTrue(service.requests().stream().noneMatch(request -> String.valueOf(request.header("Range")).startsWith("bytes=0-")));
      try (var files = Files.list(folder)) {
        assertEquals(1, files.count());
      }
    }
  }

  @Test
  void refusesAMixtureOfTwoFiles() throws IOException {
    AtomicInteger version = new AtomicInteger();
    try (TestService service = files(request -> part(request, LARGE).with(Map.of("ETag", "\"" + version.incrementAndGet() + "\"")))) {
      assertThrows(IOException.class, () -> service.clientOfInstance().download(5).open().readAllBytes());
    }
  }

  @Test
  void takesAnEmptyFile() throws IOException {
    try (TestService service = new TestService(request -> status("COMPLETED", new byte[0]))) {
      assertEquals(0, service.clientOfInstance().download(5).rows().count());
    }
  }

  @Test
  void saysWhyThereIsNoFile() throws IOException {
    try (TestService service = new TestService(request -> status("FAILED", new byte[0]))) {
      BulkException failure = assertThrows(BulkException.class, () -> service.clientOfInstance().download(5).await(Duration.ofMinutes(1)));
      assertEquals("The bulk job 5 is FAILED: why", failure.getMessage());
      assertEquals(5, failure.job().id());
    }
  }

  @Test
  void doesNotWaitForEver() throws IOException {
    try (TestService service = new TestService(request -> status("RUNNING", new byte[0]))) {
      assertThrows(TimedOutException.class, () -> service.clientOfInstance().download(5).await(Duration.ZERO));
    }
  }

  private static TestService files(Function<Request, Answer> file) throws IOException {
    return new TestService(request -> request.target().endsWith("/status") ? status("COMPLETED", LARGE) : file.apply(request));
  }

  private static Answer status(String status, byte[] file) {
    return Answer.of(
        200,
        "{\"id\":5,\"status\":\"" + status + "\",\"objectName\":\"Orders\",\"fileFormat\":\"jsonl\",\"message\":\"why\",\"fileSize\":" + file.length + "}");
  }

  private static Answer part(Request request, byte[] file) {
    String[] bounds = request.header("Range").substring("bytes=".length()).split("-");
    byte[] bytes = Arrays.copyOfRange(file, Integer.parseInt(bounds[0]), Integer.parseInt(bounds[1]) + 1);
    return new Answer(206, bytes, Map.of("ETag", "\"1\""));
  }
}

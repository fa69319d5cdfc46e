package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import causeway.client.TestService.Answer;
import causeway.client.TestService.Request;
import causeway.client.model.InstanceCreate;
import causeway.client.model.InstanceElement;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallTest {
  private static final Answer ROW = Answer.of(200, "{\"id\":\"1\"}");
  private static final Answer OVERLOADED = Answer.of(503, "{\"code\":\"OVERLOADED\",\"message\":\"m\",\"requestId\":\"r\"}");
  private static final Answer LIMITED = Answer.of(429, "{\"code\":\"RATE_LIMITED\",\"message\":\"m\",\"requestId\":\"r\"}");

  @Test
  void authorizesByTheSecrets() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "[]"))) {
      service.client().build().hubs().listHubs();
      assertEquals("User user-secret, Organization organization-secret", service.last().header("Authorization"));
      assertTrue(service.last().header("User-Agent").matches("causeway-java/\\d+\\.\\d+\\.\\d+ \\(Java \\d+\\)"), service.last().header("User-Agent"));
      assertEquals("Helium", service.last().header("Elements-Version"));
      assertNull(service.last().header("Elements-Account-Id"));

      service.client().accountId("7").build().withInstance("element-token").records("Orders").list();
      assertEquals("User user-secret, Organization organization-secret, Element element-token", service.last().header("Authorization"));
      assertEquals("7", service.last().header("Elements-Account-Id"));
    }
  }

  @Test
  void authorizesByAnAccessKey() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "[]"))) {
      Causeway causeway = Causeway.builder().baseUrl(service.origin()).key("ck_1").build();
      causeway.records("Orders").list();
      assertEquals("Bearer ck_1", service.last().header("Authorization"));
      assertNull(service.last().header("Elements-Instance-Id"));
      causeway.withInstance(3).records("Orders").list();
      assertEquals("Bearer ck_1", service.last().header("Authorization"));
      assertEquals("3", service.last().header("Elements-Instance-Id"));
      causeway.withInstance(3).hubs().listHubs();
      assertNull(service.last().header("Elements-Instance-Id"));
    }
  }

  /** With a token, the path could name an object of the provider. */
  @Test
  void sendsNoTokenToThePlatform() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "[]"))) {
      service.clientOfInstance().accounts().listAccounts();
      assertEquals("User user-secret, Organization organization-secret", service.last().header("Authorization"));
    }
  }

  @Test
  void saysThatAnInstanceIsMissing() throws IOException {
    try (TestService service = TestService.of(ROW)) {
      Causeway causeway = service.client().build();
      assertThrows(IllegalStateException.class, () -> causeway.records("Orders").get("1"));
      assertTrue(service.requests().isEmpty());
    }
  }

  @Test
  void encodesWhatItIsGiven() throws IOException {
    try (TestService service = TestService.of(ROW)) {
      service.clientOfInstance().records("affiliates/commissions").get("a/b ?#%é");
      assertEquals("/affiliates%2Fcommissions/a%2Fb%20%3F%23%25%C3%A9", service.last().target());
      assertThrows(IllegalArgumentException.class, () -> service.clientOfInstance().records("Orders").get(""));
    }
  }

  @Test
  void asksForEachPageWhenItIsReached() throws IOException {
    try (TestService service = new TestService(CallTest::page)) {
      Listing<Map<String, Object>> rows =
          service.clientOfInstance().records("Orders").list(query -> query.where("a = ?", "x&y").fields("id", "a").orderBy("id desc").pageSize(2));
      assertEquals("/Orders?where=a%20%3D%20%27x%26y%27&fields=id%2Ca&orderBy=id%20desc&pageSize=2", service.last().target());
      assertEquals(3, rows.firstPage().totalCount().getAsLong());
      assertEquals(List.of(1, 2), rows.stream().limit(2).map(row -> row.get("id")).toList());
      assertEquals(1, service.requests().size());
      assertEquals(List.of(1, 2, 3), rows.stream().map(row -> row.get("id")).toList());
      assertEquals("/Orders?where=a%20%3D%20%27x%26y%27&fields=id%2Ca&orderBy=id%20desc&pageSize=2&nextPage=t%2B2", service.last().target());
      assertEquals(3, rows.pages().count());
    }
  }

  /** The second page is empty, as a page can be when the budget of provider calls ends first. */
  private static Answer page(Request request) {
    if (request.target().contains("nextPage=t%2B2")) {
      return Answer.of(200, "[{\"id\":3}]");
    }
    return request.target().contains("nextPage=t%2B1")
        ? Answer.of(200, "[]").with(Map.of("Elements-Next-Page-Token", "t+2"))
        : Answer.of(200, "[{\"id\":1},{\"id\":2}]").with(Map.of("Elements-Next-Page-Token", "t+1", "Elements-Total-Count", "3"));
  }

  record Order(String code, BigDecimal amount) {}

  @Test
  void readsAndWritesRecordsOfAClass() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "{\"code\":\"A\",\"amount\":0.10000000000000000001,\"more\":true}"))) {
      Order order = service.clientOfInstance().records("Orders", Order.class).create(new Order("A", new BigDecimal("1E-20")));
      assertEquals(new Order("A", new BigDecimal("0.10000000000000000001")), order);
      assertEquals("application/json", service.last().header("Content-Type"));
      assertEquals("{\"code\":\"A\",\"amount\":1E-20}", service.last().body());
    }
  }

  @Test
  void keepsAllDigitsOfMaps() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "{\"a\":9007199254740993.10,\"b\":123456789012345678901}"))) {
      Map<String, Object> record = service.clientOfInstance().records("Orders").get("1");
      assertEquals("{a=9007199254740993.10, b=123456789012345678901}", record.toString());
    }
  }

  @Test
  void triesAgainUnderOneKey() throws IOException {
    try (TestService service = TestService.of(OVERLOADED, Answer.BROKEN, ROW)) {
      service.clientOfInstance().records("Orders").create(Map.of("code", "A"));
      assertEquals(3, service.requests().size());
      assertEquals(1, service.requests().stream().map(request -> request.header("Idempotency-Key")).distinct().count());
      assertNotNull(service.last().header("Idempotency-Key"));
      assertEquals("{\"code\":\"A\"}", service.last().body());

      String key = service.last().header("Idempotency-Key");
      service.clientOfInstance().records("Orders").create(Map.of("code", "A"));
      assertNotEquals(key, service.last().header("Idempotency-Key"));
    }
  }

  @Test
  void keepsTheKeyThatItIsGiven() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "{}"))) {
      InstanceCreate instance = new InstanceCreate(new InstanceElement("odata"), Map.of(), "n");
      service.client().build().instances().createInstance(instance, options -> options.idempotencyKey("mine"));
      assertEquals("mine", service.last().header("Idempotency-Key"));
      assertEquals("{\"element\":{\"key\":\"odata\"},\"configuration\":{},\"name\":\"n\"}", service.last().body());
    }
  }

  @Test
  void triesAChangeAgainOnlyWhenNothingWasDone() throws IOException {
    try (TestService service = TestService.of(LIMITED, ROW, OVERLOADED, ROW)) {
      Records<Map<String, Object>> orders = service.clientOfInstance().records("Orders");
      orders.update("1", Map.of("paid", true));
      assertEquals(2, service.requests().size());
      assertNull(service.last().header("Idempotency-Key"));
      assertThrows(ApiException.class, () -> orders.update("1", Map.of("paid", true)));
      assertEquals(3, service.requests().size());
    }
  }

  @Test
  void givesUpInTheEnd() throws IOException {
    try (TestService service = TestService.of(OVERLOADED)) {
      ApiException failure = assertThrows(ApiException.class, () -> service.clientOfInstance().records("Orders").get("1"));
      assertEquals(503, failure.status());
      assertEquals(3, service.requests().size());
    }
    try (TestService service = TestService.of(Answer.BROKEN)) {
      assertThrows(NetworkException.class, () -> service.clientOfInstance().records("Orders").get("1"));
      assertEquals(3, service.requests().size());
    }
  }

  @Test
  void doesNotTryAgainWhatWillNotPass() throws IOException {
    try (TestService service = TestService.of(Answer.of(404, "{\"code\":\"NOT_FOUND\",\"message\":\"m\",\"requestId\":\"r\"}"))) {
      assertThrows(NotFoundException.class, () -> service.clientOfInstance().records("Orders").get("1"));
      assertEquals(1, service.requests().size());
    }
  }

  @Test
  void doesNotWaitLongerThanItMay() throws IOException {
    try (TestService service = TestService.of(LIMITED.with(Map.of("Retry-After", "61")))) {
      RateLimitedException failure = assertThrows(RateLimitedException.class, () -> service.clientOfInstance().records("Orders").get("1"));
      assertEquals(Duration.ofSeconds(61), failure.retryAfter().orElseThrow());
      assertEquals(1, service.requests().size());
    }
  }

  @Test
  void endsWhatTakesTooLong() throws IOException {
    CountDownLatch end = new CountDownLatch(1);
    try (TestService service = new TestService(request -> after(end))) {
      Causeway causeway = service.client().timeout(Duration.ofMillis(50)).build();
      TimedOutException late = assertThrows(TimedOutException.class, () -> causeway.hubs().listHubs(options -> options.where("secret")));
      assertEquals("GET /elements/api-v2/hubs had no response within 50 ms.", late.getMessage());
      end.countDown();
    }
  }

  /** The service sees that nobody waits for its response, because the connection is closed. */
  @Test
  void endsWhenTheThreadIsInterrupted() throws Exception {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Causeway causeway =
          Causeway.builder().baseUrl("http://127.0.0.1:" + server.getLocalPort()).userSecret("u").organizationSecret("o").build();
      Thread caller = new Thread(() -> causeway.hubs().listHubs());
      caller.setUncaughtExceptionHandler((thread, throwable) -> thrown.set(throwable));
      caller.start();
      try (Socket connection = server.accept()) {
        connection.setSoTimeout(30_000);
        assertEquals('G', connection.getInputStream().read());
        caller.interrupt();
        caller.join();
        connection.getInputStream().readAllBytes();
      }
    }
    assertEquals(InterruptedCallException.class, thrown.get().getClass());
  }

  private static Answer after(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
    return Answer.of(200, "[]");
  }

  @Test
  void doesNotFollowRedirects() throws IOException {
    try (TestService service = TestService.of(Answer.of(302, "").with(Map.of("Location", "http://127.0.0.1:1/")))) {
      ApiException failure = assertThrows(ApiException.class, () -> service.client().build().hubs().listHubs());
      assertEquals("HTTP_302", failure.codeText());
    }
  }

  @Test
  void tellsAnswersThatAreNone() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "<html>"))) {
      NetworkException failure = assertThrows(NetworkException.class, () -> service.client().build().hubs().listHubs());
      assertTrue(failure.getMessage().contains("GET /hubs"), failure.getMessage());
    }
  }

  @Test
  void makesAnyCall() throws IOException {
    try (TestService service = TestService.of(Answer.of(200, "{\"a\":1}"))) {
      JsonNode answer =
          service.clientOfInstance().call("POST", "/passthrough/v1/x").query("q", List.of("1", "2")).body(Map.of("b", 2)).answer(JsonNode.class);
      assertEquals(1, answer.path("a").intValue());
      assertEquals("/passthrough/v1/x?q=1&q=2", service.last().target());
      assertTrue(service.last().header("Authorization").endsWith(", Element element-token"));
    }
  }

  @TempDir Path folder;

  @Test
  void sendsFilesBehindTheirFieldsAndOnce() throws IOException {
    Path file = Files.writeString(folder.resolve("a \"b\".txt"), "content");
    try (TestService service = TestService.of(ROW, OVERLOADED)) {
      Records<Map<String, Object>> files = service.clientOfInstance().records("files");
      files.createFile(Map.of("name", "n"), file);
      Request sent = service.last();
      String boundary = sent.header("Content-Type").replace("multipart/form-data; boundary=", "--");
      assertEquals(
          String.join(
              "\r\n",
              boundary,
              "Content-Disposition: form-data; name=\"metadata\"",
              "Content-Type: application/json",
              "",
              "{\"name\":\"n\"}",
              boundary,
              "Content-Disposition: form-data; name=\"file\"; filename=\"a %22b%22.txt\"",
              "Content-Type: application/octet-stream",
              "",
              "content",
              boundary + "--",
              ""),
          sent.body());
      assertFalse(sent.headers().containsKey("Idempotency-Key"));
      assertThrows(ApiException.class, () -> files.replaceFile("1", Map.of(), file));
      assertEquals(2, service.requests().size());
      assertThrows(IllegalArgumentException.class, () -> files.createFile(Map.of(), folder.resolve("none")));
    }
  }

  @Test
  void getsFilesAsTheyAre() throws IOException {
    try (TestService service = TestService.of(OVERLOADED, Answer.of(200, "%PDF"))) {
      try (InputStream file = service.clientOfInstance().records("files").file("1", "application/pdf")) {
        assertEquals("%PDF", new String(file.readAllBytes(), UTF_8));
      }
      assertEquals("application/pdf", service.last().header("Accept"));
    }
  }
}

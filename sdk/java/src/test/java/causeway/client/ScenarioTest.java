package causeway.client;

import static causeway.client.Where.where;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import causeway.client.model.BulkQuery;
import causeway.client.model.DeliveredEvent;
import causeway.client.model.ErrorCode;
import causeway.client.model.Instance;
import causeway.client.model.InstanceCreate;
import causeway.client.model.InstanceElement;
import causeway.client.model.InstanceProviderGrant;
import causeway.client.model.ObjectField;
import causeway.client.model.ObjectFieldType;
import causeway.client.model.PredicateExactness;
import causeway.client.model.QueryExplain;
import causeway.client.model.QueryExplanation;
import causeway.client.model.Subscription;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/** Runs the steps of sdk/scenario.md against the service that the environment names. */
@EnabledIfEnvironmentVariable(named = "CAUSEWAY_URL", matches = ".+", disabledReason = "The scenario was skipped: CAUSEWAY_URL names no service.")
class ScenarioTest {
  private static final String SAYS = "java says: it's 100% \"fine\" ?";

  @TempDir static Path folder;

  private record Received(byte[] body, Map<String, List<String>> headers) {}

  private final ConcurrentLinkedQueue<Received> events = new ConcurrentLinkedQueue<>();
  private final Causeway platform =
      Causeway.builder().environment(name -> name.equals("CAUSEWAY_ELEMENT_TOKEN") ? null : System.getenv(name)).build();
  private String receiver;
  private Instance instance;
  private Causeway causeway;
  private Records<Map<String, Object>> incidents;

  @Test
  void scenario() throws Exception {
    HttpServer server = listen();
    try {
      connect();
      discover();
      String caller = queryOverPages();
      change(caller);
      authorizeByOAuth();
      explain();
      buildFilters();
      fail();
      receiveEvent(caller);
      downloadInBulk();
      platform.instances().deleteInstance(instance.id());
    } finally {
      server.stop(0);
    }
  }

  private HttpServer listen() throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/events",
        exchange -> {
          events.add(new Received(exchange.getRequestBody().readAllBytes(), exchange.getRequestHeaders()));
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
    receiver = "http://127.0.0.1:" + server.getAddress().getPort() + "/events";
    return server;
  }

  private void connect() {
    Map<String, Object> configuration =
        Map.of(
            "username", "admin",
            "password", "demo-password",
            "company.name", "demo",
            "simulator", true,
            "event.notification.enabled", true,
            "event.notification.callback.url", receiver,
            "event.vendor.type", "polling",
            "event.objects", "incident",
            "event.poller.refresh_interval", 0.05);
    instance = platform.instances().createInstance(new InstanceCreate(new InstanceElement("servicenow"), configuration, "java: the scenario"));
    causeway = platform.withInstance(instance.token());
    incidents = causeway.records("incident");
    assertTrue(platform.instances().listInstances(options -> options.pageSize(1)).stream().anyMatch(one -> one.id().equals(instance.id())));
  }

  private void discover() {
    assertTrue(causeway.objects().listObjects().stream().anyMatch(object -> object.name().equals("incident")));
    List<ObjectField> fields = causeway.objects().getObjectMetadata("incident").fields();
    assertEquals(ObjectFieldType.string, typeOf(fields, "short_description"));
    assertEquals(ObjectFieldType.integer, typeOf(fields, "priority"));
  }

  private static ObjectFieldType typeOf(List<ObjectField> fields, String name) {
    return fields.stream().filter(field -> field.name().equals(name)).findFirst().orElseThrow().type();
  }

  private String queryOverPages() {
    List<Map<String, Object>> rows = urgent(7).toList();
    List<String> ids = rows.stream().map(row -> (String) row.get("sys_id")).toList();
    assertTrue(rows.size() > 14, "only " + rows.size() + " rows");
    assertTrue(rows.stream().allMatch(row -> Set.of(1, 2).contains(row.get("priority"))));
    assertEquals(ids.stream().sorted().distinct().toList(), ids);
    assertEquals(urgent(5000).firstPage().items().size(), rows.size());
    return rows.stream().map(row -> (String) row.get("caller_id")).filter(id -> id != null).findFirst().orElseThrow();
  }

  private Listing<Map<String, Object>> urgent(int pageSize) {
    return incidents.list(
        query -> query.where("priority IN (?)", List.of(1, 2)).fields("sys_id", "priority", "caller_id").orderBy("sys_id").pageSize(pageSize));
  }

  private void change(String caller) {
    String id = create(SAYS, caller);
    assertEquals(SAYS, incidents.get(id).get("short_description"));
    String changed = SAYS + " Changed.";
    assertEquals(changed, incidents.update(id, Map.of("short_description", changed)).get("short_description"));
    List<Map<String, Object>> found = incidents.list(query -> query.where("short_description = ?", changed)).toList();
    assertEquals(List.of(id), found.stream().map(row -> row.get("sys_id")).toList());
    incidents.delete(id);
    NotFoundException gone = assertThrows(NotFoundException.class, () -> incidents.get(id));
    assertEquals(ErrorCode.NOT_FOUND, gone.code());
  }

  private String create(String description, String caller) {
    return (String) incidents.create(Map.of("short_description", description, "caller_id", caller)).get("sys_id");
  }

  private void authorizeByOAuth() throws IOException, InterruptedException {
    String callbackUrl = URI.create(platform.baseUrl()).resolve("/oauth/callback").toString();
    String page =
        platform
            .elements()
            .getOAuthUrl(
                "salesforce",
                options -> options.apiKey("demo-client").apiSecret("demo-secret").callbackUrl(callbackUrl).state("java").simulator(true))
            .oauthUrl();
    HttpRequest press = HttpRequest.newBuilder(URI.create(page + "&auto=approve")).build();
    String location = HttpClient.newHttpClient().send(press, BodyHandlers.discarding()).headers().firstValue("Location").orElseThrow();
    Map<String, Object> configuration =
        Map.of("oauth.api.key", "demo-client", "oauth.api.secret", "demo-secret", "oauth.callback.url", callbackUrl, "simulator", true);
    InstanceProviderGrant grant = new InstanceProviderGrant().code(parameter(location, "code")).state("java");
    Instance authorized =
        platform
            .instances()
            .createInstance(new InstanceCreate(new InstanceElement("salesforce"), configuration, "java: by OAuth").providerData(grant));
    assertTrue(authorized.valid());
    platform.instances().deleteInstance(authorized.id());
  }

  private static String parameter(String url, String name) {
    return Arrays.stream(URI.create(url).getRawQuery().split("&"))
        .filter(pair -> pair.startsWith(name + "="))
        .map(pair -> URLDecoder.decode(pair.substring(name.length() + 1), UTF_8))
        .findFirst()
        .orElseThrow();
  }

  private void explain() {
    String filter = "priority = 1 AND short_description LIKE 'a%'";
    QueryExplanation explanation = explained(filter);
    assertEquals(filter, explanation.parsed());
    assertTrue(explanation.predicates().stream().anyMatch(one -> one.pushed() && one.exactness() == PredicateExactness.exact));
  }

  private QueryExplanation explained(String filter) {
    return causeway.query().explainQuery(new QueryExplain("incident").where(filter));
  }

  private void buildFilters() {
    List<String> values = new ArrayList<>(HostileTexts.of(new Random(20260301), 10_000));
    for (int from = 0; from < values.size(); from += 100) {
      arrives(values.subList(from, from + 100));
    }
    Random random = new Random(17);
    List<Integer> numbers = random.ints(-1_000_000, 1_000_000).distinct().limit(100).boxed().toList();
    assertEquals(numbers.toString(), "[" + members(where("priority IN (?)", numbers)) + "]");
    List<Instant> times = random.longs(0, 4_102_444_800L).distinct().limit(100).mapToObj(Instant::ofEpochSecond).toList();
    assertEquals(times.toString(), "[" + members(where("sys_created_on IN (?)", times)) + "]");
    for (boolean truth : new boolean[] {true, false}) {
      assertEquals("active = " + String.valueOf(truth).toUpperCase(), explained(where("active = ?", truth)).parsed());
    }
  }

  /** Splits the query in two where the filter is longer than the service accepts. */
  private void arrives(List<String> values) {
    String filter = where("short_description IN (?)", values);
    if (filter.getBytes(UTF_8).length > 15_000) {
      arrives(values.subList(0, values.size() / 2));
      arrives(values.subList(values.size() / 2, values.size()));
      return;
    }
    assertEquals(List.copyOf(new LinkedHashSet<>(values)), literals(explained(filter).parsed()));
  }

  private String members(String filter) {
    String parsed = explained(filter).parsed();
    return parsed.substring(parsed.indexOf('(') + 1, parsed.lastIndexOf(')'));
  }

  /** Returns the texts of a filter: a quote begins a text, and in it two quotes are one. */
  private static List<String> literals(String filter) {
    List<String> read = new ArrayList<>();
    for (int at = filter.indexOf('\''); at >= 0 && at < filter.length(); at = filter.indexOf('\'', at)) {
      StringBuilder text = new StringBuilder();
      for (at++; filter.charAt(at) != '\'' || filter.startsWith("''", at); at++) {
        if (filter.charAt(at) == '\'') at++;
        text.append(filter.charAt(at));
      }
      at++;
      read.add(text.toString());
    }
    return read;
  }

  private void fail() {
    WhereException failure = assertThrows(WhereException.class, () -> incidents.list(query -> query.where("short_descriptio = 'x'")));
    assertEquals(ErrorCode.WHERE_INVALID, failure.code());
    assertEquals(400, failure.status());
    assertNotNull(failure.requestId());
    assertEquals(0, failure.position().orElseThrow());
    assertEquals(16, failure.length().orElseThrow());
    assertEquals("short_description", failure.suggestion().orElseThrow());
  }

  private void receiveEvent(String caller) {
    until(() -> platform.instances().listInstancePolls(instance.id()).stream().anyMatch(poll -> poll.lastSuccessDate() != null) ? true : null);
    String id = create("java: an event", caller);
    Received received = until(() -> events.stream().filter(event -> new String(event.body(), UTF_8).contains(id)).findFirst().orElse(null));
    long subscriptionId = platform.notifications().listSubscriptions().stream().filter(this::isReceiver).findFirst().orElseThrow().id();
    String secret = platform.notifications().getSubscription(subscriptionId).secret();

    DeliveredEvent event = new EventVerifier(secret).verify(received.body(), received.headers());
    assertEquals("incident.created", event.type());
    assertEquals(id, event.data().get("objectId"));
    new EventVerifier("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", secret).verify(received.body(), received.headers());
    byte[] changed = received.body().clone();
    changed[changed.length / 2] ^= 1;
    assertThrows(EventSignatureException.class, () -> new EventVerifier(secret).verify(changed, received.headers()));
    incidents.delete(id);
  }

  private boolean isReceiver(Subscription subscription) {
    return subscription.config().url().equals(receiver);
  }

  private void downloadInBulk() throws IOException {
    long expected = incidents.list(query -> query.fields("sys_id").pageSize(5000)).stream().count();
    BulkDownload download = causeway.download(new BulkQuery().objectName("incident").fields("sys_id,number"));
    download.await(Duration.ofMinutes(2));
    Set<Object> ids = new HashSet<>();
    assertTrue(download.rows().allMatch(row -> ids.add(row.get("sys_id"))), "an id came twice");
    assertEquals(expected, ids.size());
    Path file = folder.resolve("incidents.jsonl");
    download.toFile(file);
    try (var lines = Files.lines(file)) {
      assertEquals(expected, lines.count());
    }
    download.delete();
    assertFalse(causeway.bulk().listBulkJobs().stream().anyMatch(job -> job.id() == download.id()));
  }

  /** Repeats a check after pauses, at most a hundred times. */
  private static <T> T until(Supplier<T> sought) {
    for (int asked = 0; asked < 100; asked++) {
      T found = sought.get();
      if (found != null) {
        return found;
      }
      try {
        Thread.sleep(300);
      } catch (InterruptedException interrupted) {
        throw new IllegalStateException(interrupted);
      }
    }
    throw new AssertionError("What was waited for did not come.");
  }
}

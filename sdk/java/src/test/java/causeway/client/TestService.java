package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/** A service on loopback that sends prepared responses and records the requests. */
final class TestService implements AutoCloseable {
  /** Two retries with almost no pause. */
  static final Retries QUICK = new Retries(3, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofMinutes(1));

  private static final String PATH = "/elements/api-v2";

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Request> requests = new CopyOnWriteArrayList<>();

  record Request(String method, String target, Headers headers, String body) {
    String header(String name) {
      return headers.getFirst(name);
    }
  }

  /** @param status status of the response; 0 breaks the connection */
  record Answer(int status, byte[] body, Map<String, String> headers) {
    static final Answer BROKEN = of(0, "");

    static Answer of(int status, String body) {
      return new Answer(status, body.getBytes(UTF_8), Map.of());
    }

    Answer with(Map<String, String> headers) {
      return new Answer(status, body, headers);
    }
  }

  TestService(Function<Request, Answer> answers) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", exchange -> serve(exchange, answers));
    server.start();
  }

  /** Sends these responses one after the other; the last one is repeated. */
  static TestService of(Answer... answers) throws IOException {
    List<Answer> left = new CopyOnWriteArrayList<>(answers);
    return new TestService(request -> left.size() > 1 ? left.remove(0) : left.get(0));
  }

  private void serve(HttpExchange exchange, Function<Request, Answer> answers) throws IOException {
    String target = exchange.getRequestURI().toString().substring(PATH.length());
    String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
    Request request = new Request(exchange.getRequestMethod(), target, exchange.getRequestHeaders(), body);
    requests.add(request);
    Answer answer = answers.apply(request);
    answer.headers().forEach(exchange.getResponseHeaders()::set);
    if (answer.status() == 0) {
      exchange.sendResponseHeaders(200, 100);
      exchange.getResponseBody().write(1);
    } else {
      exchange.sendResponseHeaders(answer.status(), answer.body().length == 0 ? -1 : answer.body().length);
      exchange.getResponseBody().write(answer.body());
    }
    exchange.close();
  }

  String origin() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  Causeway.Builder client() {
    return Causeway.builder().baseUrl(origin()).userSecret("user-secret").organizationSecret("organization-secret").retries(QUICK);
  }

  Causeway clientOfInstance() {
    return client().elementToken("element-token").build();
  }

  List<Request> requests() {
    return requests;
  }

  Request last() {
    return requests.get(requests.size() - 1);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}

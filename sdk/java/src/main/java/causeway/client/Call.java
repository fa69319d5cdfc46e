package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JavaType;
import causeway.client.Sender.Reply;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A call of the API that is built and then sent. {@link Causeway#call} begins one. Use it in one thread. Null values are left out.
 *
 * <p>GET, PUT and DELETE are retried after 429, 502, 503 or 504, and without a response. So is POST with an {@code Idempotency-Key}, which
 * is created once for the call unless it was set; the service does nothing twice for the same key. PATCH is retried after 429.
 */
public final class Call {
  static final String JSON = "application/json";
  private static final String KEY = "Idempotency-Key";
  private static final Set<String> REPEATABLE = Set.of("GET", "HEAD", "PUT", "DELETE");

  private final Causeway causeway;
  private final String method;
  private String path;
  private boolean isOnInstance;
  private final List<String> query = new ArrayList<>();
  private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private BodyPublisher body = BodyPublishers.noBody();
  private Form form;

  Call(Causeway causeway, String method, String path) {
    this.causeway = causeway;
    this.method = method;
    this.path = path;
    this.isOnInstance = causeway.hasInstance();
    headers.put("Accept", JSON);
  }

  /**
   * Sets which secrets are sent.
   * @param scheme name in the specification: UserElement for calls on the instance, UserOrganization for those that do not send its token
   */
  public Call security(String scheme) {
    isOnInstance = scheme.equals("UserElement");
    return this;
  }

  /** Replaces {@code {name}} in the path by the encoded value. */
  public Call path(String name, Object value) {
    String place = "{" + name + "}";
    if (value == null || value.toString().isEmpty()) {
      throw new IllegalArgumentException("'" + name + "' of " + method + " " + path + " is missing.");
    }
    path = path.replace(place, encoded(value.toString()));
    return this;
  }

  /** Adds a parameter, once for each member of a collection. */
  public Call query(String name, Object value) {
    Collection<?> values = value == null ? List.of() : value instanceof Collection<?> several ? several : List.of(value);
    values.forEach(one -> query.add(encoded(name) + "=" + encoded(one.toString())));
    return this;
  }

  public Call header(String name, Object value) {
    if (value != null) {
      headers.put(name, value.toString());
    }
    return this;
  }

  /** Sets the body to the value as JSON. */
  public Call body(Object value) {
    return value == null ? this : body(Json.bytesOf(value), JSON);
  }

  /** Sets the body to the bytes, unchanged. */
  public Call body(byte[] bytes, String contentType) {
    body = BodyPublishers.ofByteArray(bytes);
    return header("Content-Type", contentType);
  }

  /**
   * Adds a part to the form that is sent: a {@link Path} or {@link File} as a file; texts, numbers, booleans and enums unchanged; anything
   * else as JSON. A call with a form is retried only after 429.
   */
  public Call form(String name, Object value) {
    if (form == null) {
      form = new Form();
    }
    if (value instanceof File file) {
      form.add(name, file.toPath());
    } else if (value instanceof Path file) {
      form.add(name, file);
    } else if (value != null) {
      form.add(name, value);
    }
    return header("Content-Type", form.contentType());
  }

  /** Sends the call and reads the JSON of the response; null for an empty response. */
  public <T> T answer(TypeReference<T> type) {
    return answer(Json.MAPPER.constructType(type));
  }

  /** Sends the call and reads the JSON of the response; null for an empty response. */
  public <T> T answer(Class<T> type) {
    return answer(Json.MAPPER.constructType(type));
  }

  /** Sends the call for the first page of a list. Further pages are requested when an iteration reaches them. */
  public <T> Listing<T> listing(TypeReference<List<T>> type) {
    return listing(Json.MAPPER.constructType(type));
  }

  /** Sends the call and returns the body as it arrives. The caller must close the stream. */
  public InputStream stream() {
    return causeway.sender().open(request(query), isRepeatable());
  }

  <T> T answer(JavaType type) {
    return read(send().body(), type);
  }

  <T> Listing<T> listing(JavaType type) {
    return new Listing<>(page(type, null), token -> page(type, token));
  }

  Reply<byte[]> send() {
    return causeway.sender().send(request(query), isRepeatable());
  }

  private <T> Page<T> page(JavaType type, String token) {
    List<String> asked = new ArrayList<>(query);
    if (token != null) {
      asked.removeIf(parameter -> parameter.startsWith("nextPage="));
      asked.add("nextPage=" + encoded(token));
    }
    Reply<byte[]> reply = causeway.sender().send(request(asked), isRepeatable());
    return new Page<>(read(reply.body(), type), reply.headers().firstValue("Elements-Next-Page-Token"), reply.headers());
  }

  private HttpRequest request(List<String> parameters) {
    String suffix = parameters.isEmpty() ? "" : "?" + String.join("&", parameters);
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(causeway.baseUrl() + path + suffix)).method(method, form == null ? body : form.body());
    causeway.headers(isOnInstance).forEach(request::setHeader);
    if (takesKey()) {
      headers.putIfAbsent(KEY, UUID.randomUUID().toString());
    }
    headers.forEach(request::setHeader);
    return request.build();
  }

  private boolean isRepeatable() {
    return takesKey() || (REPEATABLE.contains(method) && form == null);
  }

  /** Returns whether the service stores an idempotency key for the call: for POST, but not with files. */
  private boolean takesKey() {
    return method.equals("POST") && JSON.equals(headers.getOrDefault("Content-Type", JSON));
  }

  private <T> T read(byte[] bytes, JavaType type) {
    try {
      return bytes.length == 0 ? null : Json.MAPPER.readValue(bytes, type);
    } catch (IOException unreadable) {
      throw new NetworkException(method + " " + path + " did not return the expected JSON.", unreadable);
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }
}

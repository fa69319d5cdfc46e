package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileNotFoundException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** A form with fields and a file, {@code multipart/form-data}. Files come last and are read while they are sent. */
final class Form {
  private final String boundary = UUID.randomUUID().toString();
  private final List<BodyPublisher> fields = new ArrayList<>();
  private final List<BodyPublisher> files = new ArrayList<>();

  /**
   * Adds a field.
   * @param value a text, number, boolean or enum, which is sent unchanged; anything else is sent as JSON
   */
  void add(String name, Object value) {
    boolean isText = value instanceof CharSequence || value instanceof Number || value instanceof Boolean || value instanceof Enum<?>;
    byte[] content = isText ? value.toString().getBytes(UTF_8) : Json.bytesOf(value);
    fields.add(head("name=\"" + quoted(name) + "\"", isText ? null : Call.JSON));
    fields.add(BodyPublishers.ofByteArray(content));
    fields.add(line(""));
  }

  /**
   * Adds a file.
   * @throws IllegalArgumentException when the file does not exist
   */
  void add(String name, Path file) {
    try {
      files.add(head("name=\"" + quoted(name) + "\"; filename=\"" + quoted(file.getFileName().toString()) + "\"", "application/octet-stream"));
      files.add(BodyPublishers.ofFile(file));
      files.add(line(""));
    } catch (FileNotFoundException missing) {
      throw new IllegalArgumentException("There is no file " + file + ".", missing);
    }
  }

  String contentType() {
    return "multipart/form-data; boundary=" + boundary;
  }

  BodyPublisher body() {
    List<BodyPublisher> all = new ArrayList<>(fields);
    all.addAll(files);
    all.add(line("--" + boundary + "--"));
    return BodyPublishers.concat(all.toArray(BodyPublisher[]::new));
  }

  private BodyPublisher head(String disposition, String contentType) {
    String type = contentType == null ? "" : "Content-Type: " + contentType + "\r\n";
    return line("--" + boundary + "\r\nContent-Disposition: form-data; " + disposition + "\r\n" + type);
  }

  private static BodyPublisher line(String text) {
    return BodyPublishers.ofString(text + "\r\n", UTF_8);
  }

  /** Encodes a name as browsers do, so that it cannot end its quotes or its line. */
  private static String quoted(String name) {
    return name.replace("\"", "%22").replace("\r", "%0D").replace("\n", "%0A");
  }
}

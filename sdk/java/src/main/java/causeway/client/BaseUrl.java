package causeway.client;

import java.net.URI;
import java.net.URISyntaxException;

/** The address of the API. */
final class BaseUrl {
  private static final String BASE_PATH = "/elements/api-v2";

  private BaseUrl() {}

  /**
   * Returns the URL without a slash at its end. The path of the API is added to a URL without a path.
   * @throws IllegalArgumentException for an invalid URL
   */
  static String of(String given) {
    String text = given == null ? "" : given.strip().replaceAll("/+$", "");
    URI url = uri(text);
    boolean isHttp = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
    if (!isHttp || url.getHost() == null || url.getRawUserInfo() != null || url.getRawQuery() != null || url.getRawFragment() != null) {
      throw refusal();
    }
    return url.getRawPath().isEmpty() ? text + BASE_PATH : text;
  }

  private static URI uri(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException invalid) {
      throw refusal();
    }
  }

  /** Creates the error of an invalid URL. It does not repeat the URL, which can contain a password. */
  private static IllegalArgumentException refusal() {
    return new IllegalArgumentException(
        "The base URL is missing or is none: http or https, a host, and a path if need be, as in http://127.0.0.1:8080/elements/api-v2.");
  }
}

package causeway.client;

import java.util.regex.Pattern;

/** The secrets of a client: those of the user and the organization, or an access key. Printing them shows nothing. */
final class Secrets {
  /** Characters that a header can contain safely. */
  private static final Pattern SENDABLE = Pattern.compile("[\\x21-\\x2b\\x2d-\\x7e]+");

  private final String user;
  private final String organization;
  private final String elementToken;
  private final String key;
  private final Long instanceId;

  private Secrets(String user, String organization, String elementToken, String key, Long instanceId) {
    this.user = user;
    this.organization = organization;
    this.elementToken = elementToken;
    this.key = key;
    this.instanceId = instanceId;
  }

  /** @param elementToken token of the instance; null for a client that is bound to none */
  static Secrets ofUser(String user, String organization, String elementToken) {
    String token = elementToken == null ? null : checked("element token", elementToken);
    return new Secrets(checked("user secret", user), checked("organization secret", organization), token, null, null);
  }

  /** @param instanceId id of the instance; null for a client that is bound to none */
  static Secrets ofKey(String key, Long instanceId) {
    return new Secrets(null, null, null, checked("key", key), instanceId);
  }

  Secrets withInstance(String token) {
    if (key != null) {
      throw new IllegalStateException("A client with a key names an instance by its id: withInstance(id).");
    }
    return ofUser(user, organization, checked("element token", token));
  }

  Secrets withInstance(long id) {
    if (key == null) {
      throw new IllegalStateException("A client without a key names an instance by its token: withInstance(token).");
    }
    return ofKey(key, id);
  }

  /** Returns whether calls on an instance can be sent. A key may have one instance, which need not be named. */
  boolean hasInstance() {
    return key != null || elementToken != null;
  }

  /** Returns whether the client is bound to an instance. */
  boolean namesInstance() {
    return elementToken != null || instanceId != null;
  }

  /** Returns the id of the instance; null for a client that names none by its id. */
  Long instanceId() {
    return instanceId;
  }

  /** Returns the value of the header {@code Authorization}. */
  String header(boolean isOnInstance) {
    if (key != null) {
      return "Bearer " + key;
    }
    return "User " + user + ", Organization " + organization + (isOnInstance ? ", Element " + elementToken : "");
  }

  private static String checked(String name, String secret) {
    if (secret == null || !SENDABLE.matcher(secret).matches()) {
      throw new IllegalArgumentException("The " + name + " is missing, or has characters that no secret of the service has.");
    }
    return secret;
  }

  @Override
  public String toString() {
    return "Secrets[]";
  }
}

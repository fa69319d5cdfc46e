package causeway.client;

import java.util.regex.Pattern;

/** The secrets of a client. Printing them shows nothing. */
final class Secrets {
  /** Characters that a header can contain safely. */
  private static final Pattern SENDABLE = Pattern.compile("[\\x21-\\x2b\\x2d-\\x7e]+");

  private final String user;
  private final String organization;
  private final String elementToken;

  /** @param elementToken token of the instance; null for a client that is bound to none */
  Secrets(String user, String organization, String elementToken) {
    this.user = checked("user secret", user);
    this.organization = checked("organization secret", organization);
    this.elementToken = elementToken == null ? null : checked("element token", elementToken);
  }

  Secrets withInstance(String token) {
    return new Secrets(user, organization, checked("element token", token));
  }

  boolean hasInstance() {
    return elementToken != null;
  }

  /** Returns the value of the header {@code Authorization}. */
  String header(boolean isOnInstance) {
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

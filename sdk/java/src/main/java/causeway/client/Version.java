package causeway.client;

/** Of this package, which is that of the specification it was made from. */
final class Version {
  private static final String VERSION = "0.0.0-dev";

  static final String USER_AGENT = "causeway-java/" + VERSION + " (Java " + Runtime.version().feature() + ")";

  private Version() {}
}

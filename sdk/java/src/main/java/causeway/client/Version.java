package causeway.client;

/** The version of this package, and of the specification that it was generated from. */
final class Version {
  private static final String VERSION = "0.0.0-dev";

  static final String USER_AGENT = "causeway-java/" + VERSION + " (Java " + Runtime.version().feature() + ")";

  private Version() {}
}

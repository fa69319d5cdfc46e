package causeway.client;

import java.time.temporal.Temporal;
import java.util.Set;
import java.util.StringJoiner;

/** Prints models, for generated code. A text can be a secret, so only texts that identify a model are printed. */
public final class ModelText {
  private static final Set<String> SHOWN = Set.of("id", "key", "name", "type", "objectName", "resource", "requestId", "message");

  private final StringJoiner members;

  public ModelText(String name) {
    members = new StringJoiner(", ", name + "[", "]");
  }

  public ModelText with(String name, Object value) {
    if (isHarmless(value) || (value instanceof String && SHOWN.contains(name))) {
      members.add(name + "=" + value);
    }
    return this;
  }

  private static boolean isHarmless(Object value) {
    return value instanceof Number || value instanceof Boolean || value instanceof Enum<?> || value instanceof Temporal;
  }

  @Override
  public String toString() {
    return members.toString();
  }
}

package causeway.client;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;

/** JSON as the API uses it: numbers keep all their digits, times are ISO 8601, and members of a newer service are ignored. */
final class Json {
  static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .addModule(new JavaTimeModule())
          .addModule(new Jdk8Module())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
          .build();

  private Json() {}

  /**
   * Encodes a value as JSON.
   * @throws IllegalArgumentException for a value that Jackson cannot write
   */
  static byte[] bytesOf(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException unwritable) {
      throw new IllegalArgumentException("The value cannot be written as JSON: " + unwritable.getOriginalMessage(), unwritable);
    }
  }
}

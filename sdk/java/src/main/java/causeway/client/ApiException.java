package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import causeway.client.model.ErrorCode;
import causeway.client.model.ErrorDetail;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The service, or a proxy before it, answered with an error. Decide by {@link #code}, never by the message. */
public class ApiException extends CausewayException {
  private final int status;
  private final String codeText;
  private final String requestId;
  private final String providerMessage;
  private final transient List<ErrorDetail> details;
  private final Duration retryAfter;

  ApiException(Answer answer) {
    super(answer.message(), null);
    status = answer.status;
    codeText = answer.codeText;
    requestId = answer.requestId;
    providerMessage = answer.text("providerMessage");
    details = answer.details();
    retryAfter = answer.retryAfter;
  }

  /** @return the HTTP status */
  public int status() {
    return status;
  }

  /** @return {@link ErrorCode#UNKNOWN} for a code that this version does not know; then {@link #codeText} says it */
  public ErrorCode code() {
    return ErrorCode.of(codeText);
  }

  /** @return the code as it came, {@code HTTP_<status>} when the answer has none, as that of a proxy */
  public String codeText() {
    return codeText;
  }

  /** @return identifies the request for the operator of the service; null when a proxy answered */
  public String requestId() {
    return requestId;
  }

  /** @return the provider's own words, null without any */
  public String providerMessage() {
    return providerMessage;
  }

  /** @return the faults one by one, empty where there is nothing to say beside the message */
  public List<ErrorDetail> details() {
    return details;
  }

  /** @return how long to wait before the next try, where the answer says so */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** An answer with a status of 400 or more, read as well as it can be. */
  static final class Answer {
    final int status;
    final String codeText;
    final String requestId;
    final Duration retryAfter;
    private final JsonNode body;

    Answer(int status, byte[] body, String requestId, Duration retryAfter) {
      this.status = status;
      this.body = read(body);
      this.codeText = text("code") == null ? "HTTP_" + status : text("code");
      this.requestId = text("requestId") == null ? requestId : text("requestId");
      this.retryAfter = retryAfter;
    }

    /** The exception of the class that callers branch on. */
    ApiException exception() {
      return switch (ErrorCode.of(codeText)) {
        case NOT_FOUND -> new NotFoundException(this);
        case WHERE_SYNTAX, WHERE_INVALID, WHERE_UNSUPPORTED -> new WhereException(this);
        case RATE_LIMITED, PROVIDER_RATE_LIMITED -> new RateLimitedException(this);
        case PROVIDER_CREDENTIALS_INVALID,
            PROVIDER_REJECTED,
            PROVIDER_UNAVAILABLE,
            PROVIDER_PROTOCOL,
            PROVIDER_TIMEOUT,
            INSTANCE_CREDENTIALS_FAILED -> new ProviderException(this);
        default -> new ApiException(this);
      };
    }

    String message() {
      String message = text("message") == null ? "The answer has no message." : text("message");
      return codeText + " (" + status + "): " + message + (requestId == null ? "" : " [request " + requestId + "]");
    }

    String text(String member) {
      return body.path(member).isTextual() ? body.path(member).textValue() : null;
    }

    List<ErrorDetail> details() {
      List<ErrorDetail> read = new ArrayList<>();
      for (JsonNode detail : body.path("details")) {
        read.add(Json.MAPPER.convertValue(detail, ErrorDetail.class));
      }
      return List.copyOf(read);
    }

    /** What is no JSON comes from a proxy: its status says what there is to know. */
    private static JsonNode read(byte[] body) {
      try {
        return Json.MAPPER.readTree(new String(body, UTF_8));
      } catch (JsonProcessingException fromElsewhere) {
        return MissingNode.getInstance();
      }
    }
  }
}

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

/** The service, or a proxy in front of it, responded with an error. Decide by {@link #code}, never by the message. */
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

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }

  /** Returns the code; {@link ErrorCode#UNKNOWN} for a code that this version does not know. {@link #codeText} then has its text. */
  public ErrorCode code() {
    return ErrorCode.of(codeText);
  }

  /** Returns the code as received; {@code HTTP_<status>} for a response without a code, such as that of a proxy. */
  public String codeText() {
    return codeText;
  }

  /** Returns the id of the request, which identifies it for the operator of the service; null if a proxy responded. */
  public String requestId() {
    return requestId;
  }

  /** Returns the provider's own text; null if there is none. */
  public String providerMessage() {
    return providerMessage;
  }

  /** Returns the single faults; empty if the message says everything. */
  public List<ErrorDetail> details() {
    return details;
  }

  /** Returns the time to wait before the next attempt, if the response contains it. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** Reads a response with a status of 400 or more as far as possible. */
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

    /** Creates the exception of the class that callers distinguish. */
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
      String message = text("message") == null ? "The response has no message." : text("message");
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

    /** Handles a response that is no JSON. It comes from a proxy, and only its status is known. */
    private static JsonNode read(byte[] body) {
      try {
        return Json.MAPPER.readTree(new String(body, UTF_8));
      } catch (JsonProcessingException fromElsewhere) {
        return MissingNode.getInstance();
      }
    }
  }
}

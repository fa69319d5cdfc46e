package causeway.client;

import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Sends requests, retries them where that is safe, and converts failures to exceptions. */
final class Sender {
  private static final Set<Integer> STATUSES_THAT_PASS = Set.of(429, 502, 503, 504);

  private final HttpClient http;
  private final Duration timeout;
  private final Retries retries;

  /** @param timeout time limit of one attempt, from the request to the last byte of the response */
  Sender(HttpClient http, Duration timeout, Retries retries) {
    this.http = http;
    this.timeout = timeout;
    this.retries = retries;
  }

  /** A successful response. */
  record Reply<T>(T body, HttpHeaders headers) {}

  /** The body of a response: what was requested, or the bytes of an error. */
  private record Body<T>(T wanted, byte[] error) {}

  /**
   * Sends a request and reads the response.
   * @param isRepeatable whether a second request has no further effect; a 429 means that nothing was done, so it is retried in any case
   */
  Reply<byte[]> send(HttpRequest request, boolean isRepeatable) {
    return persist(request, isRepeatable, BodySubscribers::ofByteArray);
  }

  /**
   * Sends a request and opens the response. The time limit applies until the headers arrive. The body is read as it arrives; if the
   * connection breaks, the stream throws an IOException.
   */
  InputStream open(HttpRequest request, boolean isRepeatable) {
    return persist(request, isRepeatable, BodySubscribers::ofInputStream).body();
  }

  private <T> Reply<T> persist(HttpRequest request, boolean isRepeatable, Supplier<BodySubscriber<T>> wanted) {
    long start = System.nanoTime();
    for (int tried = 1; ; tried++) {
      CausewayException failure;
      try {
        return attempt(request, wanted);
      } catch (NetworkException | TimedOutException | ApiException failed) {
        failure = failed;
      }
      if (!isWorthAnother(failure, isRepeatable)) {
        throw failure;
      }
      Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
      pause(request, retries.pauseAfter(tried, elapsed, askedFor(failure)).orElseThrow(() -> failure));
    }
  }

  private static boolean isWorthAnother(CausewayException failure, boolean isRepeatable) {
    if (failure instanceof ApiException answer) {
      return answer.status() == 429 || (isRepeatable && STATUSES_THAT_PASS.contains(answer.status()));
    }
    return isRepeatable;
  }

  private static Optional<Duration> askedFor(CausewayException failure) {
    return failure instanceof ApiException answer ? answer.retryAfter() : Optional.empty();
  }

  private static void pause(HttpRequest request, Duration pause) {
    try {
      Thread.sleep(pause.toMillis());
    } catch (InterruptedException interrupted) {
      throw InterruptedCallException.in(nameOf(request), interrupted);
    }
  }

  private <T> Reply<T> attempt(HttpRequest request, Supplier<BodySubscriber<T>> wanted) {
    HttpResponse<Body<T>> response = await(request, http.sendAsync(request, info -> bodyOf(info.statusCode(), wanted)));
    if (response.body().error() == null) {
      return new Reply<>(response.body().wanted(), response.headers());
    }
    HttpHeaders headers = response.headers();
    String requestId = headers.firstValue("Elements-Request-Id").orElse(null);
    Duration retryAfter = RetryAfter.of(headers, Instant.now());
    throw new ApiException.Answer(response.statusCode(), response.body().error(), requestId, retryAfter).exception();
  }

  /** Redirects are not followed, because they would receive the secrets. So they do not count as successful. */
  private static <T> BodySubscriber<Body<T>> bodyOf(int status, Supplier<BodySubscriber<T>> wanted) {
    return status >= 300
        ? BodySubscribers.mapping(BodySubscribers.ofByteArray(), error -> new Body<T>(null, error))
        : BodySubscribers.mapping(wanted.get(), good -> new Body<>(good, null));
  }

  private <T> T await(HttpRequest request, CompletableFuture<T> response) {
    try {
      return response.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      response.cancel(true);
      throw new TimedOutException(nameOf(request) + " had no response within " + timeout.toMillis() + " ms.");
    } catch (InterruptedException interrupted) {
      response.cancel(true);
      throw InterruptedCallException.in(nameOf(request), interrupted);
    } catch (ExecutionException failed) {
      Throwable cause = failed.getCause();
      throw new NetworkException(nameOf(request) + " failed: " + (cause.getMessage() == null ? cause : cause.getMessage()), cause);
    }
  }

  /** Returns the address of a request without the query, whose values can be secrets. */
  private static String nameOf(HttpRequest request) {
    return request.method() + " " + request.uri().getRawPath();
  }
}

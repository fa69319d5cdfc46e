package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import causeway.client.model.DeliveredEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies that events come from the service. */
public final class EventVerifier {
  private final List<Webhook> secrets;

  /**
   * Creates a verifier.
   * @param secrets secrets of the subscription ({@code whsec_…}). During a rotation, pass the new and the old one: a signature by either is
   * valid.
   * @throws IllegalArgumentException without a secret, and for a text that is no secret
   */
  public EventVerifier(String... secrets) {
    if (secrets.length == 0) {
      throw new IllegalArgumentException("Events are verified with one secret at least.");
    }
    this.secrets = Arrays.stream(secrets).map(EventVerifier::webhook).toList();
  }

  /**
   * Verifies an event by the headers {@code webhook-id}, {@code webhook-timestamp} and {@code webhook-signature}, and returns it.
   * @param body the bytes as received
   * @param headers headers of the request, with names in any case
   * @throws EventSignatureException when no secret matches the signature, or it is more than five minutes old
   */
  public DeliveredEvent verify(byte[] body, Map<String, List<String>> headers) {
    verifySignature(body, headers);
    try {
      return Json.MAPPER.readValue(body, DeliveredEvent.class);
    } catch (IOException unreadable) {
      throw new EventSignatureException("The signature is good, but the body is no event of the standard format.", unreadable);
    }
  }

  /** Verifies an event like {@link #verify}, for bodies in another format ({@code event.notification.format: elements}). */
  public void verifySignature(byte[] body, Map<String, List<String>> headers) {
    Map<String, List<String>> known = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    known.putAll(headers);
    String text = textOf(body);
    WebhookVerificationException last = null;
    for (Webhook secret : secrets) {
      try {
        secret.verify(text, known);
        return;
      } catch (WebhookVerificationException wrong) {
        last = wrong;
      }
    }
    throw new EventSignatureException("The event is not to be trusted: " + last.getMessage(), last);
  }

  /**
   * Verifies {@code Elements-Webhook-Signature}, which events of instances with {@code event.notification.signature.key} have. It signs
   * only the body, so an old event cannot be distinguished from a new one. Prefer {@link #verify}.
   */
  public static boolean isSignedByKey(byte[] body, String signature, String key) {
    if (signature == null) {
      return false;
    }
    String expected = "sha256=" + Base64.getEncoder().encodeToString(hmac(body, key));
    return MessageDigest.isEqual(expected.getBytes(UTF_8), signature.getBytes(UTF_8));
  }

  /** Rejects bytes that are no UTF-8, because they would decode to the same text as other bytes. */
  private static String textOf(byte[] body) {
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
    } catch (CharacterCodingException notText) {
      throw new EventSignatureException("The event is not to be trusted: its body is no UTF-8.", notText);
    }
  }

  private static byte[] hmac(byte[] body, String key) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key.getBytes(UTF_8), "HmacSHA256"));
      return mac.doFinal(body);
    } catch (NoSuchAlgorithmException | InvalidKeyException impossible) {
      throw new IllegalStateException("Every Java has HMAC-SHA256.", impossible);
    }
  }

  private static Webhook webhook(String secret) {
    try {
      return new Webhook(secret);
    } catch (IllegalArgumentException notBase64) {
      throw new IllegalArgumentException("A secret of events is whsec_ and base64.");
    }
  }
}

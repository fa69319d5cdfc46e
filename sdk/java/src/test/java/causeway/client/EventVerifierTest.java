package causeway.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookSigningException;
import causeway.client.model.DeliveredEvent;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EventVerifierTest {
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
  private static final byte[] BODY = "{\"id\":\"e-1\",\"type\":\"incident.created\",\"data\":{\"objectId\":\"7\"}}".getBytes(UTF_8);

  /** The test vector of the libraries of the standard. */
  @Test
  void signsAsTheStandardSays() throws WebhookSigningException {
    String signature = new Webhook(SECRET).sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, "{\"test\": 2432232314}");
    assertEquals("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", signature);
  }

  @Test
  void readsWhatIsSigned() throws WebhookSigningException {
    DeliveredEvent event = new EventVerifier(SECRET).verify(BODY, signed(SECRET, now()));
    assertEquals("incident.created", event.type());
    assertEquals("7", event.data().get("objectId"));
  }

  @Test
  void takesEitherSecretOfARotation() throws WebhookSigningException {
    for (String signing : List.of(SECRET, OTHER)) {
      assertDoesNotThrow(() -> new EventVerifier(SECRET, OTHER).verify(BODY, signed(signing, now())));
    }
    assertThrows(EventSignatureException.class, () -> new EventVerifier(OTHER).verify(BODY, signed(SECRET, now())));
  }

  @Test
  void refusesWhatWasChanged() throws WebhookSigningException {
    byte[] changed = BODY.clone();
    changed[8] ^= 1;
    Map<String, List<String>> headers = signed(SECRET, now());
    EventVerifier verifier = new EventVerifier(SECRET);
    assertThrows(EventSignatureException.class, () -> verifier.verify(changed, headers));
    assertThrows(EventSignatureException.class, () -> verifier.verify(BODY, Map.of()));
    assertThrows(EventSignatureException.class, () -> verifier.verify(BODY, signed(SECRET, now() - 3600)));
    assertThrows(EventSignatureException.class, () -> verifier.verify(BODY, signed(SECRET, now() + 3600)));
  }

  /** Invalid UTF-8 would decode to the same text as other bytes. */
  @Test
  void refusesBytesThatAreNoText() throws WebhookSigningException {
    String replaced = "{\"id\":\"\ufffd\",\"type\":\"t\"}";
    String signature = new Webhook(SECRET).sign("e-1", now(), replaced);
    byte[] broken = "{\"id\":\"X\",\"type\":\"t\"}".getBytes(UTF_8);
    broken[7] = (byte) 0xff;
    Map<String, List<String>> headers =
        Map.of("webhook-id", List.of("e-1"), "webhook-timestamp", List.of("" + now()), "webhook-signature", List.of(signature));
    assertThrows(EventSignatureException.class, () -> new EventVerifier(SECRET).verifySignature(broken, headers));
  }

  @Test
  void needsSecrets() {
    assertThrows(IllegalArgumentException.class, EventVerifier::new);
    assertThrows(IllegalArgumentException.class, () -> new EventVerifier("whsec_%%%"));
  }

  @Test
  void verifiesTheKeyOfAnInstance() {
    assertFalse(EventVerifier.isSignedByKey(BODY, "sha256=nBluMtwBdfhvSxy4konWYZ3mvuaZ5MN45oMJ7Zehpqs=", "key"));
    assertFalse(EventVerifier.isSignedByKey(BODY, null, "key"));
    // echo -n abc | openssl dgst -sha256 -hmac key -binary | base64
    assertTrue(EventVerifier.isSignedByKey("abc".getBytes(UTF_8), "sha256=nBluMtwBdfhvSxy4konWYZ3mvuaZ5MN45oMJ7Zehpqs=", "key"));
  }

  private static long now() {
    return Instant.now().getEpochSecond();
  }

  /** Headers as a server returns them, with names in any case. */
  private static Map<String, List<String>> signed(String secret, long seconds) throws WebhookSigningException {
    String signature = new Webhook(secret).sign("e-1", seconds, new String(BODY, UTF_8));
    return Map.of("Webhook-id", List.of("e-1"), "Webhook-timestamp", List.of("" + seconds), "Webhook-signature", List.of(signature));
  }
}

package causeway.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import causeway.client.model.BulkJob;
import causeway.client.model.BulkJobStatus;
import causeway.client.model.Instance;
import causeway.client.model.InstanceCreate;
import causeway.client.model.InstanceElement;
import causeway.client.model.InstanceUpdate;
import causeway.client.model.UserUpdate;
import java.io.StringWriter;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

class ModelsTest {
  @Test
  void writesWhatWasGivenAndNothingElse() throws JsonProcessingException {
    assertEquals("{}", json(new InstanceUpdate()));
    assertEquals("{\"tags\":[]}", json(new InstanceUpdate().tags(List.of())));
    assertEquals("{\"externalId\":null}", json(new UserUpdate().externalId(null)));
    assertEquals("{\"externalId\":\"7\"}", json(new UserUpdate().externalId("7")));
  }

  @Test
  void readsWhatANewerServiceSays() throws JsonProcessingException {
    String job = "{\"id\":1,\"status\":\"PAUSED\",\"brandNew\":{},\"createdDate\":\"2026-03-01T09:30:00.000Z\"}";
    BulkJob read = Json.MAPPER.readValue(job, BulkJob.class);
    assertEquals(BulkJobStatus.UNKNOWN, read.status());
    assertEquals("2026-03-01T09:30:00Z", read.createdDate().toString());
    assertNull(read.objectName());
    assertEquals(read, Json.MAPPER.readValue(job, BulkJob.class));
  }

  @Test
  void isReadByAnyJackson() throws JsonProcessingException {
    assertEquals("odata", new ObjectMapper().readValue("{\"key\":\"odata\",\"more\":1}", InstanceElement.class).key());
  }

  @Test
  void showsNoSecret() throws JsonProcessingException {
    InstanceCreate create = new InstanceCreate(new InstanceElement("odata"), Map.of("password", "hidden-1"), "n");
    Instance instance = Json.MAPPER.readValue("{\"id\":1,\"name\":\"n\",\"token\":\"hidden-2\",\"configuration\":{\"a\":\"hidden-3\"}}", Instance.class);
    assertEquals("InstanceCreate[name=n]", create.toString());
    assertTrue(instance.toString().startsWith("Instance[id=1, name=n"), instance.toString());
    assertFalse(instance.toString().contains("hidden"));
  }

  @Test
  void clientsShowNoSecretAndTakeNoneThatChangesTheHeader() {
    Causeway.Builder builder = Causeway.builder().baseUrl("http://127.0.0.1:1").userSecret("hidden-1").organizationSecret("hidden-2");
    assertEquals("Causeway[http://127.0.0.1:1/elements/api-v2, an instance]", builder.build().withInstance("hidden-3").toString());
    for (String secret : new String[] {null, "", "hidden, Element x", "hidden\r\nX: y", "hidden\u00e9"}) {
      IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> builder.userSecret(secret).build());
      assertFalse(refusal.getMessage().contains("hidden"), refusal.getMessage());
    }
  }

  @Test
  void takesBaseUrlsAsTheyAreWritten() {
    assertEquals("http://127.0.0.1:8080/elements/api-v2", BaseUrl.of("http://127.0.0.1:8080/"));
    assertEquals("https://example.com/x/api", BaseUrl.of(" https://example.com/x/api/ "));
    for (String wrong : new String[] {null, "", "example.com", "ftp://example.com", "http://u:hidden@example.com", "http://example.com?hidden", "a b"}) {
      assertFalse(assertThrows(IllegalArgumentException.class, () -> BaseUrl.of(wrong)).getMessage().contains("hidden"));
    }
  }

  @Test
  void isMadeFromTheEnvironment() {
    Map<String, String> variables =
        Map.of("CAUSEWAY_URL", "http://127.0.0.1:1", "CAUSEWAY_USER_SECRET", "u", "CAUSEWAY_ORGANIZATION_SECRET", "o", "CAUSEWAY_ELEMENT_TOKEN", "e");
    Causeway causeway = Causeway.builder().environment(variables::get).build();
    assertEquals("User u, Organization o, Element e", causeway.headers(true).get("Authorization"));
    UnaryOperator<String> withoutToken = name -> name.equals("CAUSEWAY_ELEMENT_TOKEN") ? "" : variables.get(name);
    assertFalse(Causeway.builder().environment(withoutToken).build().hasInstance());
    assertThrows(IllegalArgumentException.class, () -> Causeway.builder().environment(name -> null).build());
  }

  @Test
  void takesSecretsOrAKey() {
    Map<String, String> variables = Map.of("CAUSEWAY_URL", "http://127.0.0.1:1", "CAUSEWAY_KEY", "ck_1", "CAUSEWAY_INSTANCE_ID", "3");
    Causeway causeway = Causeway.builder().environment(variables::get).build();
    assertEquals("Bearer ck_1", causeway.headers(true).get("Authorization"));
    assertEquals("3", causeway.headers(true).get("Elements-Instance-Id"));
    assertEquals("Causeway[http://127.0.0.1:1/elements/api-v2, an instance]", causeway.toString());
    Causeway.Builder both = Causeway.builder().baseUrl("http://127.0.0.1:1").key("ck_1").userSecret("u");
    assertThrows(IllegalArgumentException.class, both::build);
    assertThrows(IllegalStateException.class, () -> causeway.withInstance("token"));
  }

  @Test
  void doesNotCompileWithoutARequiredField() {
    String whole = "new InstanceCreate(new InstanceElement(\"odata\"), Map.of(), \"a name\")";
    assertEquals("", compile(whole));
    String withoutName = compile("new InstanceCreate(new InstanceElement(\"odata\"), Map.of())");
    assertTrue(withoutName.contains("InstanceCreate"), withoutName);
    assertTrue(compile("new InstanceCreate()").contains("error"));
  }

  /** Compiles a source. @return the errors of the compiler; empty if it compiles */
  private static String compile(String expression) {
    String source = "import causeway.client.model.*; import java.util.Map; class Use { Object made = " + expression + "; }";
    JavaFileObject file =
        new SimpleJavaFileObject(URI.create("string:///Use.java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    StringWriter said = new StringWriter();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> options = List.of("-proc:none", "-classpath", System.getProperty("java.class.path"), "-d", System.getProperty("java.io.tmpdir"));
    compiler.getTask(said, null, null, options, null, List.of(file)).call();
    return said.toString();
  }

  private static String json(Object value) throws JsonProcessingException {
    return Json.MAPPER.writeValueAsString(value);
  }
}

package causeway.client;

import causeway.client.api.AccountsApi;
import causeway.client.api.ActivityApi;
import causeway.client.api.AuditApi;
import causeway.client.api.BulkApi;
import causeway.client.api.ElementsApi;
import causeway.client.api.EventsApi;
import causeway.client.api.FederatedApi;
import causeway.client.api.FormulaExecutionsApi;
import causeway.client.api.FormulasApi;
import causeway.client.api.HubsApi;
import causeway.client.api.InstancesApi;
import causeway.client.api.KeysApi;
import causeway.client.api.MappingsApi;
import causeway.client.api.NotificationsApi;
import causeway.client.api.OauthProxiesApi;
import causeway.client.api.ObjectsApi;
import causeway.client.api.OrganizationsApi;
import causeway.client.api.QueryApi;
import causeway.client.api.RolesApi;
import causeway.client.api.ThisInstanceApi;
import causeway.client.api.UsersApi;
import causeway.client.model.BulkQuery;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A client of the Causeway API. It is immutable and thread-safe. One client per program is enough, because it keeps the connections.
 *
 * <p>Every call throws {@link CausewayException} when it fails.
 */
public final class Causeway {
  private final String baseUrl;
  private final Secrets secrets;
  private final String accountId;
  private final Sender sender;

  private Causeway(String baseUrl, Secrets secrets, String accountId, Sender sender) {
    this.baseUrl = baseUrl;
    this.secrets = secrets;
    this.accountId = accountId;
    this.sender = sender;
  }

  /** Returns a builder. The base URL is required, and the secrets of the user and the organization, or a key. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Creates a client from CAUSEWAY_URL and CAUSEWAY_KEY, with CAUSEWAY_INSTANCE_ID if it is set. Without a key, it takes
   * CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET and, for a client that is bound to an instance, CAUSEWAY_ELEMENT_TOKEN.
   * @throws IllegalArgumentException when a required one is not set
   */
  public static Causeway fromEnvironment() {
    return builder().environment(System::getenv).build();
  }

  /** Returns a client that is bound to an instance by its token. Both share the connections. */
  public Causeway withInstance(String elementToken) {
    return new Causeway(baseUrl, secrets.withInstance(elementToken), accountId, sender);
  }

  /** Returns a client with an access key that is bound to an instance by its id. Both share the connections. */
  public Causeway withInstance(long instanceId) {
    return new Causeway(baseUrl, secrets.withInstance(instanceId), accountId, sender);
  }

  /** Returns access to the records of an object, such as {@code incident}, as maps. */
  public Records<Map<String, Object>> records(String objectName) {
    return new Records<>(this, objectName, Json.MAPPER.getTypeFactory().constructMapType(Map.class, String.class, Object.class));
  }

  /**
   * Returns access to the records of an object as values of a class, which Jackson reads and writes. It can be a Java record. Fields that
   * the class lacks are ignored.
   */
  public <T> Records<T> records(String objectName, Class<T> type) {
    return new Records<>(this, objectName, Json.MAPPER.constructType(type));
  }

  /** Starts a download of all rows of a query in the background. By default they are stored as lines of JSON. */
  public BulkDownload download(BulkQuery query) {
    return BulkDownload.start(this, query);
  }

  /** Returns a download that was started before, by the id of its job. */
  public BulkDownload download(long jobId) {
    return new BulkDownload(this, jobId);
  }

  /**
   * Starts a formula instance with an input, which the formula sees as {@code trigger.args}. Null sends no input.
   *
   * @throws IllegalStateException when the input starts no execution or several, as the input of an event trigger can
   */
  public FormulaRun runFormula(long instanceId, Object input) {
    return FormulaRun.start(this, instanceId, input);
  }

  /** A run of a formula instance that was started before, by the id of its execution. */
  public FormulaRun formulaRun(long executionId) {
    return new FormulaRun(this, executionId);
  }

  /** Begins any call. Paths below {@code /passthrough} go to the provider unchanged. A client with an instance sends its token. */
  public Call call(String method, String path) {
    return new Call(this, method, path);
  }

  public AccountsApi accounts() {
    return new AccountsApi(this);
  }

  public ActivityApi activity() {
    return new ActivityApi(this);
  }

  public AuditApi audit() {
    return new AuditApi(this);
  }

  public BulkApi bulk() {
    return new BulkApi(this);
  }

  public ElementsApi elements() {
    return new ElementsApi(this);
  }

  public EventsApi events() {
    return new EventsApi(this);
  }

  public FederatedApi federated() {
    return new FederatedApi(this);
  }

  public FormulaExecutionsApi formulaExecutions() {
    return new FormulaExecutionsApi(this);
  }

  public FormulasApi formulas() {
    return new FormulasApi(this);
  }

  public HubsApi hubs() {
    return new HubsApi(this);
  }

  public InstancesApi instances() {
    return new InstancesApi(this);
  }

  public KeysApi keys() {
    return new KeysApi(this);
  }

  public MappingsApi mappings() {
    return new MappingsApi(this);
  }

  public NotificationsApi notifications() {
    return new NotificationsApi(this);
  }

  public OauthProxiesApi oauthProxies() {
    return new OauthProxiesApi(this);
  }

  public ObjectsApi objects() {
    return new ObjectsApi(this);
  }

  public OrganizationsApi organizations() {
    return new OrganizationsApi(this);
  }

  public QueryApi query() {
    return new QueryApi(this);
  }

  public RolesApi roles() {
    return new RolesApi(this);
  }

  /** Returns the instance that this client is bound to. */
  public ThisInstanceApi thisInstance() {
    return new ThisInstanceApi(this);
  }

  public UsersApi users() {
    return new UsersApi(this);
  }

  boolean hasInstance() {
    return secrets.hasInstance();
  }

  String baseUrl() {
    return baseUrl;
  }

  Sender sender() {
    return sender;
  }

  /**
   * Returns the headers of every call.
   * @throws IllegalStateException for a call on an instance by a client that is bound to none
   */
  Map<String, String> headers(boolean isOnInstance) {
    if (isOnInstance && !hasInstance()) {
      throw new IllegalStateException("This is a call on an instance, and the client is bound to none: withInstance(token) makes one that is.");
    }
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Authorization", secrets.header(isOnInstance));
    headers.put("User-Agent", Version.USER_AGENT);
    headers.put("Elements-Version", "Helium");
    if (isOnInstance && secrets.instanceId() != null) {
      headers.put("Elements-Instance-Id", secrets.instanceId().toString());
    }
    if (accountId != null) {
      headers.put("Elements-Account-Id", accountId);
    }
    return headers;
  }

  @Override
  public String toString() {
    return "Causeway[" + baseUrl + (secrets.namesInstance() ? ", an instance]" : "]");
  }

  /** Configures a client. */
  public static final class Builder {
    private String baseUrl;
    private String userSecret;
    private String organizationSecret;
    private String elementToken;
    private String key;
    private Long instanceId;
    private String accountId;
    private Duration timeout = Duration.ofSeconds(60);
    private Retries retries = Retries.STANDARD;
    private HttpClient http;

    private Builder() {}

    /** Sets the base URL. {@code /elements/api-v2} is added to a URL without a path. */
    public Builder baseUrl(String baseUrl) {
      this.baseUrl = baseUrl;
      return this;
    }

    public Builder userSecret(String userSecret) {
      this.userSecret = userSecret;
      return this;
    }

    public Builder organizationSecret(String organizationSecret) {
      this.organizationSecret = organizationSecret;
      return this;
    }

    /** Sets an access key, in place of the secrets of the user and the organization. */
    public Builder key(String key) {
      this.key = key;
      return this;
    }

    /** Binds a client with a key to an instance. A key that can be used with only one instance needs none. */
    public Builder instanceId(Long instanceId) {
      this.instanceId = instanceId;
      return this;
    }

    /** Binds a client with secrets to an instance. */
    public Builder elementToken(String elementToken) {
      this.elementToken = elementToken;
      return this;
    }

    /** Selects the account, for users who may work in other accounts than their own. */
    public Builder accountId(String accountId) {
      this.accountId = accountId;
      return this;
    }

    /** Sets the time limit of one attempt, from the request to the last byte of the response. Default: a minute. */
    public Builder timeout(Duration timeout) {
      this.timeout = timeout;
      return this;
    }

    /** Sets how calls are retried. Default: {@link Retries#STANDARD}. */
    public Builder retries(Retries retries) {
      this.retries = retries;
      return this;
    }

    /**
     * Sets the HTTP client, for example for a proxy, certificates or an executor. It should not follow redirects, because they would
     * receive the secrets.
     */
    public Builder http(HttpClient http) {
      this.http = http;
      return this;
    }

    /** Returns a variable. An empty variable counts as unset. */
    Builder environment(UnaryOperator<String> environment) {
      UnaryOperator<String> variables = name -> "".equals(environment.apply(name)) ? null : environment.apply(name);
      if (variables.apply("CAUSEWAY_KEY") != null) {
        return baseUrl(variables.apply("CAUSEWAY_URL")).key(variables.apply("CAUSEWAY_KEY")).instanceId(idOf(variables.apply("CAUSEWAY_INSTANCE_ID")));
      }
      return baseUrl(variables.apply("CAUSEWAY_URL"))
          .userSecret(variables.apply("CAUSEWAY_USER_SECRET"))
          .organizationSecret(variables.apply("CAUSEWAY_ORGANIZATION_SECRET"))
          .elementToken(variables.apply("CAUSEWAY_ELEMENT_TOKEN"));
    }

    private static Long idOf(String text) {
      if (text == null) {
        return null;
      }
      if (!text.matches("\\d{1,15}")) {
        throw new IllegalArgumentException("CAUSEWAY_INSTANCE_ID must be the id of an instance, a whole number.");
      }
      return Long.valueOf(text);
    }

    /** @throws IllegalArgumentException for secrets that do not go together */
    private Secrets secrets() {
      if (key == null) {
        if (instanceId != null) {
          throw new IllegalArgumentException("A client without a key names an instance by its token.");
        }
        return Secrets.ofUser(userSecret, organizationSecret, elementToken);
      }
      if (userSecret != null || organizationSecret != null || elementToken != null) {
        throw new IllegalArgumentException("A client needs either secrets or a key, not both.");
      }
      return Secrets.ofKey(key, instanceId);
    }

    /**
     * Creates the client.
     * @throws IllegalArgumentException when the base URL or a secret is missing or invalid
     */
    public Causeway build() {
      Secrets secrets = secrets();
      HttpClient used = http == null ? HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build() : http;
      return new Causeway(BaseUrl.of(baseUrl), secrets, accountId, new Sender(used, timeout, retries));
    }
  }
}

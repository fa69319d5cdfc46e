import {
  AccountsApi,
  ActivityApi,
  AuditApi,
  ElementsApi,
  EventsApi,
  FederatedApi,
  FormulasApi,
  HubsApi,
  InstancesApi,
  KeysApi,
  MappingsApi,
  NotificationsApi,
  OauthProxiesApi,
  ObjectsApi,
  OrganizationsApi,
  QueryApi,
  RecordsApi,
  RolesApi,
  ThisInstanceApi,
  UsersApi,
} from '../apis/index.js';
import { Configuration } from '../runtime.js';
import { AGENT } from './agent.js';
import { BulkDownloads } from './bulk.js';
import { type AccessKeySecret, type Environment, readEnvironment, type Secrets } from './environment.js';
import { FormulaExecutions } from './formula-executions.js';
import type { ObjectRecord } from './object-record.js';
import { allOf, type ListPage } from './pages.js';
import { Records } from './records.js';
import { Transport, type TransportSettings } from './transport.js';

interface CommonOptions extends Partial<TransportSettings> {
  /** Address of the service, with or without the path `/elements/api-v2`. Default: `http://127.0.0.1:8080`. */
  readonly url?: string;
  /** Token of the instance for calls on records, objects, queries and bulk jobs. */
  readonly elementToken?: string;
  /** With `key`: the id of the instance for these calls. A key that can be used with only one instance needs none. */
  readonly instanceId?: number;
  /** Id or external id of the account that platform calls are about. Default: the caller's own. */
  readonly accountId?: string | number;
}

/** Needs `userSecret` and `organizationSecret`, or `key`. */
export type CausewayOptions = CommonOptions & (Secrets | AccessKeySecret);

const DEFAULTS: TransportSettings = {
  timeoutMs: 60_000,
  retries: 4,
  retryForMs: 120_000,
  fetch: (url, init) => fetch(url, init),
};
const API_PATH = '/elements/api-v2';

/** A client of one service for one user. `withInstance` returns a client for one of the user's connected accounts. */
export class Causeway {
  readonly accounts: AccountsApi;
  readonly activity: ActivityApi;
  readonly audit: AuditApi;
  readonly bulk: BulkDownloads;
  readonly elements: ElementsApi;
  readonly events: EventsApi;
  readonly federated: FederatedApi;
  /** The executions of formulas: `run` runs a formula instance and waits for the end. */
  readonly formulaExecutions: FormulaExecutions;
  readonly formulas: FormulasApi;
  readonly hubs: HubsApi;
  readonly instances: InstancesApi;
  readonly keys: KeysApi;
  readonly mappings: MappingsApi;
  readonly notifications: NotificationsApi;
  readonly oauthProxies: OauthProxiesApi;
  readonly objects: ObjectsApi;
  readonly organizations: OrganizationsApi;
  readonly query: QueryApi;
  /** The operations on records of any object; `records` has those of one object. */
  readonly recordsApi: RecordsApi;
  readonly roles: RolesApi;
  readonly thisInstance: ThisInstanceApi;
  readonly users: UsersApi;
  /** The address of the service, with the path of the API. */
  readonly url: string;

  readonly #options: CausewayOptions;
  readonly #transport: Transport;

  constructor(options: CausewayOptions) {
    assertOneWay(options);
    this.#options = options;
    this.url = apiUrlOf(options.url ?? 'http://127.0.0.1:8080');
    this.#transport = new Transport({ ...DEFAULTS, ...withoutUndefined(options) });
    const platform = this.#configuration(() => platformAuthorization(options), {});
    const instance = this.#configuration(() => instanceAuthorization(options), instanceHeaders(options));
    this.accounts = new AccountsApi(platform);
    this.activity = new ActivityApi(platform);
    this.audit = new AuditApi(platform);
    this.elements = new ElementsApi(platform);
    this.events = new EventsApi(platform);
    this.federated = new FederatedApi(platform);
    this.formulaExecutions = new FormulaExecutions(platform, this.#transport);
    this.formulas = new FormulasApi(platform);
    this.hubs = new HubsApi(platform);
    this.instances = new InstancesApi(platform);
    this.keys = new KeysApi(platform);
    this.mappings = new MappingsApi(platform);
    this.notifications = new NotificationsApi(platform);
    this.oauthProxies = new OauthProxiesApi(platform);
    this.organizations = new OrganizationsApi(platform);
    this.roles = new RolesApi(platform);
    this.users = new UsersApi(platform);
    this.bulk = new BulkDownloads(instance, this.#transport);
    this.objects = new ObjectsApi(instance);
    this.query = new QueryApi(instance);
    this.recordsApi = new RecordsApi(instance);
    this.thisInstance = new ThisInstanceApi(instance);
  }

  /**
   * Creates a client from CAUSEWAY_URL and CAUSEWAY_KEY, with CAUSEWAY_INSTANCE_ID if it is set. Without a key, it takes
   * CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET and, if it is set, CAUSEWAY_ELEMENT_TOKEN.
   *
   * @throws CausewayError that names the missing variables
   */
  static fromEnvironment(options: Partial<CausewayOptions> = {}, environment?: Environment): Causeway {
    // The constructor checks that they go together.
    return new Causeway({ ...readEnvironment(environment), ...options } as CausewayOptions);
  }

  /** Returns a client that is bound to the instance with this token, or with this id if the client has an access key. */
  withInstance(instance: string | number): Causeway {
    if (typeof instance === 'number') return new Causeway({ ...this.#options, instanceId: instance });
    return new Causeway({ ...this.#options, elementToken: instance });
  }

  /** Returns access to the records of an object, such as `employees`. `Row` is the type of its records. */
  records<Row extends object = ObjectRecord>(objectName: string): Records<Row> {
    return new Records<Row>(this.recordsApi, objectName);
  }

  /** Iterates over all entries of a list: `causeway.all((page) => causeway.instances.listInstancesRaw({ valid: true, ...page }))`. */
  all<Entry>(list: ListPage<Entry>): AsyncGenerator<Entry, void> {
    return allOf(list);
  }

  /**
   * Sends a request to the provider unchanged, with the credentials of the instance: `passthrough('/api/v1/meta/fields')`. It is sent once.
   *
   * @returns the provider's response, whatever its status is
   * @throws NetworkError, TimeoutError
   */
  passthrough(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('Authorization', instanceAuthorization(this.#options));
    const own = { ...this.#headers(), ...instanceHeaders(this.#options) };
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    return this.#transport.sendOnce(`${this.url}/passthrough/${path.replace(/^\//, '')}`, { ...init, headers });
  }

  /** Returns the Authorization header. It is a function, so that printing a client does not print its secrets. */
  #configuration(apiKey: () => string, more: Readonly<Record<string, string>>): Configuration {
    return new Configuration({
      basePath: this.url,
      apiKey,
      headers: { ...this.#headers(), ...more },
      fetchApi: (url, init = {}) => this.#transport.send(String(url), init),
      // Otherwise each error would become the cause of another one that says less.
      middleware: [{ onError: ({ error }) => Promise.reject(error) }],
    });
  }

  #headers(): Record<string, string> {
    const { accountId } = this.#options;
    return {
      ...AGENT,
      // With this version, lists of objects contain their operations.
      'Elements-Version': 'Helium',
      ...(accountId !== undefined && { 'Elements-Account-Id': String(accountId) }),
    };
  }
}

/**
 * Asserts that the options go together.
 * @throws TypeError without the values of the options
 */
function assertOneWay({ key, userSecret, organizationSecret, elementToken, instanceId }: CausewayOptions): void {
  const hasSecrets = userSecret !== undefined && organizationSecret !== undefined;
  if (key === undefined && !hasSecrets)
    throw new TypeError('A client needs userSecret and organizationSecret, or key.');
  if (key !== undefined && (userSecret !== undefined || organizationSecret !== undefined))
    throw new TypeError('A client needs either secrets or a key, not both.');
  if (key !== undefined && elementToken !== undefined)
    throw new TypeError('A client with a key names an instance by its id: withInstance(id).');
  if (key === undefined && instanceId !== undefined)
    throw new TypeError('A client without a key names an instance by its token: withInstance(token).');
}

function platformAuthorization({ key, userSecret, organizationSecret }: CausewayOptions): string {
  return key === undefined ? `User ${userSecret}, Organization ${organizationSecret}` : `Bearer ${key}`;
}

function instanceAuthorization(options: CausewayOptions): string {
  if (options.key !== undefined) return platformAuthorization(options);
  if (options.elementToken === undefined) {
    throw new TypeError('This call needs an instance. Create a client with withInstance(token) first.');
  }
  return `${platformAuthorization(options)}, Element ${options.elementToken}`;
}

function instanceHeaders({ instanceId }: CausewayOptions): Record<string, string> {
  return instanceId === undefined ? {} : { 'Elements-Instance-Id': String(instanceId) };
}

function apiUrlOf(url: string): string {
  const { origin, pathname, search, hash } = new URL(url);
  if (search !== '' || hash !== '') throw new TypeError('The URL of a service must not have a query or a fragment.');
  const path = pathname.replace(/\/+$/, '');
  return origin + (path === '' ? API_PATH : path);
}

/** Removes options without a value, so that they do not replace defaults. */
function withoutUndefined(options: CausewayOptions): Partial<TransportSettings> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

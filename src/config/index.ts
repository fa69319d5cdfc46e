import { BlockList, isIP } from 'node:net';
import { delimiter } from 'node:path';
import querystring from 'node:querystring';
import {
  always,
  connectorPackages,
  encryptionKeys,
  type Format,
  folders,
  host,
  httpUrl,
  integer,
  networks,
  networksAndHosts,
  numberOrOff,
  oneOf,
  origins,
  platformSecret,
  providerHosts,
  urlOf,
  word,
} from './formats.ts';
import { TRACING_VARIABLES, type TracingConfig } from './tracing.ts';

export { type EncryptionKey, type ProviderHost, parseEncryptionKeys } from './formats.ts';

interface Variable<Value> {
  readonly name: string;
  readonly description: string;
  readonly format: Format<Value>;
  /** The default as the documentation shows it. */
  readonly shownDefault: string;
  /** Never shown, not even when it is wrong. */
  readonly secret?: boolean;
  readonly requiredWithDatabaseUrl?: boolean;
  /** Whether an empty value has a meaning, while for other variables it means the default. */
  readonly mayBeEmpty?: boolean;
}

/** The values that defaults depend on. */
interface Setting {
  /** Whether DATABASE_URL is missing, so that the embedded database is used. */
  readonly embedded: boolean;
  /** Whether only programs on this machine can reach the service. */
  readonly local: boolean;
}

interface OptionalVariable<Value> extends Variable<Value> {
  /** The value in the environment's spelling; undefined leaves it unset. */
  readonly defaultText?: (setting: Setting) => string | undefined;
}

interface DefaultedVariable<Value> extends Variable<Value> {
  readonly defaultText: (setting: Setting) => string;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const ROLES = ['all', 'api', 'worker'] as const;
const DISTRIBUTIONS = ['citus'] as const;
const ENVIRONMENTS = ['production', 'development', 'test'] as const;
const LOOPBACK = '127.0.0.0/8,::1/128';
const LOOPBACK_NETWORKS = new BlockList();
LOOPBACK_NETWORKS.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK_NETWORKS.addAddress('::1', 'ipv6');

export type LogLevel = (typeof LOG_LEVELS)[number];
export type Role = (typeof ROLES)[number];

/** The environment variables, in the order of the documentation. */
export const VARIABLES = {
  port: {
    name: 'PORT',
    format: integer(0, 65535),
    ...always('8080'),
    description: 'Port of the API and the console. With 0 the service chooses a free port.',
  },
  host: {
    name: 'HOST',
    format: host(),
    ...always('127.0.0.1'),
    description: 'Address to listen on.',
  },
  publicUrl: {
    name: 'PUBLIC_URL',
    format: httpUrl(),
    shownDefault: 'from HOST and PORT',
    description: 'URL at which callers and providers reach the service from outside, without the path of the API.',
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    format: urlOf(['postgres:', 'postgresql:'], 'a URL like postgres://user:password@host:5432/database'),
    shownDefault: 'embedded PostgreSQL',
    secret: true,
    description:
      'URL of a PostgreSQL database, version 15 or newer. If not set, the service starts an embedded PostgreSQL in DATA_DIR.',
  },
  databaseWait: {
    name: 'DATABASE_WAIT',
    format: integer(0, 3600),
    ...always('60'),
    description: 'Seconds that a start waits for a database that does not respond.',
  },
  distributed: {
    name: 'DISTRIBUTED',
    format: oneOf(DISTRIBUTIONS),
    shownDefault: 'not set',
    description:
      'Set it to `citus` to split the tables by account over the nodes of a PostgreSQL with Citus, when the service starts. See [Distribute the database](../how-to/deployment.md#distribute-the-database).',
  },
  dataDir: {
    name: 'DATA_DIR',
    format: word('a folder'),
    ...always('.data'),
    description:
      'Folder of the embedded database, the first credentials, the generated development keys and the tokens of the simulators.',
  },
  simulatorsPort: {
    name: 'SIMULATORS_PORT',
    format: numberOrOff(0, 65535),
    shownDefault: '8081 with the embedded database, otherwise off',
    defaultText: ({ embedded }) => (embedded ? '8081' : 'off'),
    description:
      'Port of the provider simulators. With 0 the service chooses a free port; with `off` it starts no simulators. A worker uses the simulators that another process serves at this port of the same machine.',
  },
  simulatorsUrl: {
    name: 'SIMULATORS_URL',
    format: httpUrl(),
    shownDefault: 'from SIMULATORS_PORT',
    description: 'URL at which all processes reach the simulators. Set it if another process serves them.',
  },
  encryptionKeys: {
    name: 'ENCRYPTION_KEYS',
    format: encryptionKeys(),
    shownDefault: 'generated into DATA_DIR with the embedded database, otherwise required',
    secret: true,
    requiredWithDatabaseUrl: true,
    description:
      'Keys of the stored secrets: `id:base64 of 32 bytes`, separated by commas. The first key encrypts; all keys decrypt.',
  },
  bootstrapOrganizationSecret: {
    name: 'BOOTSTRAP_ORGANIZATION_SECRET',
    format: platformSecret(),
    shownDefault: 'random',
    secret: true,
    description: 'Secret of the organization that the first start creates.',
  },
  bootstrapUserSecret: {
    name: 'BOOTSTRAP_USER_SECRET',
    format: platformSecret(),
    shownDefault: 'random',
    secret: true,
    description: 'Secret of the user that the first start creates.',
  },
  egressAllow: {
    name: 'EGRESS_ALLOW',
    format: networksAndHosts(),
    shownDefault: 'loopback with the embedded database while HOST is loopback too, otherwise empty',
    defaultText: ({ embedded, local }) => (embedded && local ? LOOPBACK : ''),
    mayBeEmpty: true,
    description:
      'Addresses (also CIDR ranges) and host names that the service may call although they are not public, separated by commas. An empty value allows none. Unless HOST is loopback, callers do not see what such an address returns to a failed call.',
  },
  trustProxy: {
    name: 'TRUST_PROXY',
    format: networks(),
    shownDefault: 'empty',
    defaultText: () => '',
    description:
      'Addresses and ranges (CIDR) of the proxies in front of the service, separated by commas. The service accepts `X-Forwarded-For` only from them.',
  },
  corsOrigins: {
    name: 'CORS_ORIGINS',
    format: origins(),
    shownDefault: 'none',
    defaultText: () => '',
    description:
      'Origins whose pages may call the API and read its headers, such as `https://app.example.com`, separated by commas. Such a page has the secrets that it sends.',
  },
  rateLimitUser: {
    name: 'RATE_LIMIT_USER',
    format: numberOrOff(1, 100_000_000),
    ...always('12000'),
    description: 'Maximum number of requests per minute that one process accepts from one user; `off` sets no limit.',
  },
  rateLimitAccount: {
    name: 'RATE_LIMIT_ACCOUNT',
    format: numberOrOff(1, 100_000_000),
    ...always('30000'),
    description:
      'Maximum number of requests per minute that one process accepts from all users of one account; `off` sets no limit.',
  },
  maxConnections: {
    name: 'MAX_CONNECTIONS',
    format: integer(4, 1_000_000),
    ...always('10000'),
    description:
      'Maximum number of connections of callers to one process. One address, or one /64 range of IPv6, can have a quarter of them, unless it is in TRUST_PROXY.',
  },
  metricsPort: {
    name: 'METRICS_PORT',
    format: numberOrOff(0, 65535),
    ...always('off'),
    description: 'Port that serves only `/metrics`. With `off`, `/metrics` is on PORT.',
  },
  metricsToken: {
    name: 'METRICS_TOKEN',
    format: platformSecret(),
    shownDefault: 'none',
    secret: true,
    description:
      'Token that `/metrics` requires as `Authorization: Bearer <token>`. Without METRICS_TOKEN and METRICS_PORT, the service has `/metrics` only if no other machine can reach it: HOST is loopback, PUBLIC_URL is not set or loopback, and TRUST_PROXY is empty.',
  },
  role: {
    name: 'ROLE',
    format: oneOf(ROLES),
    ...always('all'),
    description:
      'Work of this process. `api` serves the API. `worker` delivers events, runs background jobs, and serves only health and measurements. `all` does both.',
  },
  logLevel: {
    name: 'LOG_LEVEL',
    format: oneOf(LOG_LEVELS),
    ...always('info'),
    description: 'Lowest level of the lines that the service logs.',
  },
  connectorsPath: {
    name: 'CONNECTORS_PATH',
    format: folders(delimiter),
    shownDefault: 'empty',
    defaultText: () => '',
    description: 'Folders with connectors from outside this repository, separated as in PATH.',
  },
  connectors: {
    name: 'CONNECTORS',
    format: connectorPackages(),
    shownDefault: 'empty',
    defaultText: () => '',
    description:
      'npm packages with connectors, separated by commas: `causeway-connector-acme` is the element `acme`. Install them in the folder where the service starts.',
  },
  providerHosts: {
    name: 'PROVIDER_HOSTS',
    format: providerHosts(),
    shownDefault: 'none',
    defaultText: () => '',
    description:
      'More hosts that an element may call, separated by commas, such as `servicenow=support.example.com`. Set it for accounts that have their own address at the provider. `*.example.com` means every host with one more label.',
  },
  databasePoolSize: {
    name: 'DATABASE_POOL_SIZE',
    format: integer(2, 1000),
    ...always('10'),
    description:
      'Maximum number of connections of one process to PostgreSQL, without those for background jobs, notifications and activity.',
  },
  shutdownTimeout: {
    name: 'SHUTDOWN_TIMEOUT',
    format: integer(1, 3600),
    ...always('30'),
    description: 'Seconds that running requests and jobs have to end after SIGTERM or SIGINT.',
  },
  eventRetention: {
    name: 'EVENT_RETENTION_DAYS',
    format: integer(1, 3650),
    ...always('30'),
    description:
      'Days that the service keeps events and delivery attempts. It keeps events that wait for delivery longer.',
  },
  bulkRetention: {
    name: 'BULK_RETENTION_DAYS',
    format: integer(1, 365),
    ...always('3'),
    description: 'Days that the service keeps bulk jobs and their files.',
  },
  formulaRetention: {
    name: 'FORMULA_RETENTION_DAYS',
    format: integer(1, 30),
    ...always('3'),
    description:
      'Days that the service keeps the steps of formula executions and their values. It lists executions for 30 days.',
  },
  schemaWatch: {
    name: 'SCHEMA_WATCH_HOURS',
    format: integer(1, 744),
    ...always('24'),
    description: 'Hours between two readings of the fields of watched objects. Changes become events.',
  },
  smtpUrl: {
    name: 'SMTP_URL',
    format: urlOf(['smtp:', 'smtps:'], 'a URL like smtps://user:password@mail.example.com:465'),
    shownDefault: 'none',
    secret: true,
    description:
      'Server for the mail of formulas. With `smtp:` the connection is encrypted by STARTTLS if the server offers it, and EGRESS_ALLOW must have the server; `smtps:` always encrypts. If not set, mail is listed in `GET /notifications` instead.',
  },
  smtpFrom: {
    name: 'SMTP_FROM',
    format: word('an address'),
    ...always('causeway@localhost'),
    description: 'Address of the sender of mail.',
  },
  maxEndpoints: {
    name: 'MAX_ENDPOINTS_PER_ACCOUNT',
    format: integer(0, 1000),
    ...always('20'),
    description: 'Maximum number of endpoints of one account: subscriptions with a filter of their own.',
  },
  bulkUploadMax: {
    name: 'BULK_UPLOAD_MAX_BYTES',
    format: integer(1, 1024 ** 4),
    ...always('1073741824'),
    description: 'Maximum size of the file of a bulk upload, in bytes.',
  },
  auditRetention: {
    name: 'AUDIT_RETENTION_DAYS',
    format: integer(1, 36_500),
    ...always('365'),
    description:
      'Days that the service keeps entries of the audit log. It deletes a whole month once all its entries are older.',
  },
  activityRetention: {
    name: 'ACTIVITY_RETENTION_DAYS',
    format: integer(1, 3650),
    ...always('7'),
    description:
      'Days that the service keeps activity: each request with its calls to the provider, and the headers and bodies that trace logging stores.',
  },
  providerMemory: {
    name: 'PROVIDER_MEMORY_MB',
    format: integer(16, 1_000_000),
    shownDefault: 'a third of the heap',
    description:
      'Memory in MB for the responses of providers in progress and for their records. One account can use half of it. Beyond that, pages end early and calls return 503.',
  },
  ...TRACING_VARIABLES,
  environment: {
    name: 'NODE_ENV',
    format: oneOf(ENVIRONMENTS),
    ...always('production'),
    description: 'In `development` and `test` the service checks every response against the specification.',
  },
} as const satisfies Record<string, OptionalVariable<unknown>>;

/** The settings of a process. */
export type ServiceConfig = ReturnType<typeof readConfig>;

/** A start that fails because of its configuration. `problems` is complete and has no secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(
      `The configuration has problems. Correct these variables:\n${problems.map((problem) => `- ${problem}`).join('\n')}`,
      options,
    );
    this.problems = problems;
  }
}

/**
 * Reads the settings of a process. An empty variable counts as unset, unless empty is a value of its own.
 * @throws ConfigError with every problem at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const setting = {
    embedded: textOf(VARIABLES.databaseUrl, environment) === undefined,
    local: isLoopback(textOf(VARIABLES.host, environment) ?? VARIABLES.host.defaultText()),
  };
  const problems = Object.values(VARIABLES).flatMap((variable) => problemsOf(variable, environment, setting));
  if (problems.length > 0) throw new ConfigError(problems);

  const required = <Value>(variable: DefaultedVariable<Value>) => readRequired(variable, environment, setting);
  const optional = <Value>(variable: OptionalVariable<Value>) => readOptional(variable, environment, setting);
  return Object.freeze({
    port: required(VARIABLES.port),
    host: required(VARIABLES.host),
    /** Configured value without a slash at the end; see `publicUrlOf`. */
    publicUrl: optional(VARIABLES.publicUrl),
    /** Undefined for the embedded database. */
    databaseUrl: optional(VARIABLES.databaseUrl),
    databaseWaitMs: required(VARIABLES.databaseWait) * 1000,
    /** What the tables are distributed with at a start. Undefined leaves them as they are. */
    distributed: optional(VARIABLES.distributed),
    dataDir: required(VARIABLES.dataDir),
    /** Undefined when no simulators are served. */
    simulatorsPort: required(VARIABLES.simulatorsPort).number,
    /** Configured value without a slash at the end. */
    simulatorsUrl: optional(VARIABLES.simulatorsUrl),
    /** Undefined only with the embedded database, which generates keys. */
    encryptionKeys: optional(VARIABLES.encryptionKeys),
    bootstrapOrganizationSecret: optional(VARIABLES.bootstrapOrganizationSecret),
    bootstrapUserSecret: optional(VARIABLES.bootstrapUserSecret),
    egressAllow: required(VARIABLES.egressAllow),
    /** Whether HOST is loopback. Every caller is then on this machine and can reach the same addresses as this process. */
    isLocal: setting.local,
    /** Addresses of the proxies whose forwarding headers are trusted. */
    trustProxy: required(VARIABLES.trustProxy),
    /** Origins whose pages may call the API. */
    corsOrigins: required(VARIABLES.corsOrigins),
    /** Maximum requests per minute of one user; undefined without a limit. */
    rateLimitUser: required(VARIABLES.rateLimitUser).number,
    /** Maximum requests per minute of all users of an account; undefined without a limit. */
    rateLimitAccount: required(VARIABLES.rateLimitAccount).number,
    maxConnections: required(VARIABLES.maxConnections),
    /** Undefined when the metrics are on the port of the API. */
    metricsPort: required(VARIABLES.metricsPort).number,
    metricsToken: optional(VARIABLES.metricsToken),
    role: required(VARIABLES.role),
    logLevel: required(VARIABLES.logLevel),
    connectorsPath: required(VARIABLES.connectorsPath),
    connectors: required(VARIABLES.connectors),
    providerHosts: required(VARIABLES.providerHosts),
    databasePoolSize: required(VARIABLES.databasePoolSize),
    shutdownTimeoutMs: required(VARIABLES.shutdownTimeout) * 1000,
    eventRetentionDays: required(VARIABLES.eventRetention),
    bulkRetentionDays: required(VARIABLES.bulkRetention),
    formulaRetentionDays: required(VARIABLES.formulaRetention),
    schemaWatchHours: required(VARIABLES.schemaWatch),
    /** Server for mail, with its password. */
    smtpUrl: optional(VARIABLES.smtpUrl),
    smtpFrom: required(VARIABLES.smtpFrom),
    maxEndpointsPerAccount: required(VARIABLES.maxEndpoints),
    bulkUploadMaxBytes: required(VARIABLES.bulkUploadMax),
    auditRetentionDays: required(VARIABLES.auditRetention),
    activityRetentionDays: required(VARIABLES.activityRetention),
    /** Memory limit for provider responses in bytes; undefined for a third of the heap. */
    providerMemoryBytes: toBytes(optional(VARIABLES.providerMemory)),
    /** Undefined when nothing is traced. */
    tracing: readTracing(environment, setting),
    validateResponses: required(VARIABLES.environment) !== 'production',
  });
}

/** Reads the settings of tracing. Undefined without a collector, and when tracing is disabled. */
function readTracing(environment: NodeJS.ProcessEnv, setting: Setting): TracingConfig | undefined {
  const required = <Value>(variable: DefaultedVariable<Value>) => readRequired(variable, environment, setting);
  const optional = <Value>(variable: OptionalVariable<Value>) => readOptional(variable, environment, setting);
  const base = optional(VARIABLES.otlpEndpoint);
  const url = optional(VARIABLES.otlpTracesEndpoint) ?? (base === undefined ? undefined : `${base}/v1/traces`);
  if (url === undefined || optional(VARIABLES.otelDisabled) === true) return undefined;
  return {
    url,
    headers: { ...optional(VARIABLES.otlpHeaders), ...optional(VARIABLES.otlpTracesHeaders) },
    timeoutMs: required(VARIABLES.otlpTimeout),
    serviceName: optional(VARIABLES.serviceName),
    resourceAttributes: optional(VARIABLES.resourceAttributes) ?? {},
    sampler: required(VARIABLES.tracesSampler),
    samplerShare: required(VARIABLES.tracesSamplerArgument),
    delayMs: required(VARIABLES.spanDelay),
    mostWaiting: required(VARIABLES.spanQueue),
    contextHosts: required(VARIABLES.traceContextHosts),
  };
}

function toBytes(megabytes: number | undefined): number | undefined {
  return megabytes === undefined ? undefined : megabytes * 1024 * 1024;
}

/** Returns PUBLIC_URL. If it is not set, returns the URL of HOST and the port, as a browser on this machine reaches it. */
export function publicUrlOf(config: Pick<ServiceConfig, 'publicUrl' | 'host'>, listeningPort: number): string {
  if (config.publicUrl !== undefined) return config.publicUrl;
  const host = isAnyHost(config.host) ? 'localhost' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${listeningPort}`;
}

/** Returns the addresses of the service, the public one first. An address of this machine has several names. */
export function ownUrlsOf(config: Pick<ServiceConfig, 'publicUrl' | 'host'>, listeningPort: number): readonly string[] {
  const hosts = isLoopback(config.host) || isAnyHost(config.host) ? ['localhost', '127.0.0.1', '[::1]'] : [];
  const listening = publicUrlOf({ ...config, publicUrl: undefined }, listeningPort);
  return [publicUrlOf(config, listeningPort), listening, ...hosts.map((host) => `http://${host}:${listeningPort}`)];
}

function isAnyHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Returns whether only this machine can reach a server on this host. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || (isIP(host) !== 0 && LOOPBACK_NETWORKS.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'))
  );
}

/** Returns the variables as a Markdown table for the documentation. */
export function describeVariables(): string {
  const rows = Object.values(VARIABLES).map(
    ({ name, shownDefault, description }) => `| \`${name}\` | ${shownDefault} | ${description} |`,
  );
  return ['| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

/** Returns the values of a configuration that must never be logged. */
export function secretsOf(config: ServiceConfig): readonly string[] {
  const keys = config.encryptionKeys?.split(',').map((key) => key.slice(key.indexOf(':') + 1)) ?? [];
  const passwords = [config.databaseUrl, config.smtpUrl].map((url) => URL.parse(url ?? '')?.password ?? '');
  const secrets = [
    ...passwords.flatMap((password) => [password, querystring.unescape(password)]),
    config.bootstrapOrganizationSecret,
    config.bootstrapUserSecret,
    config.metricsToken,
    ...Object.values(config.tracing?.headers ?? {}).flatMap(headerSecrets),
    ...keys,
  ];
  return secrets.flatMap((secret) => (secret === undefined || secret === '' ? [] : [secret]));
}

/** `Bearer abc` is quoted as a whole or without its scheme. */
function headerSecrets(value: string): readonly string[] {
  return [value, value.slice(value.indexOf(' ') + 1)];
}

function textOf(variable: Variable<unknown>, environment: NodeJS.ProcessEnv): string | undefined {
  const text = environment[variable.name];
  return text === '' && variable.mayBeEmpty !== true ? undefined : text;
}

function problemsOf(variable: Variable<unknown>, environment: NodeJS.ProcessEnv, { embedded }: Setting): string[] {
  const text = textOf(variable, environment);
  if (text === undefined) {
    if (embedded || variable.requiredWithDatabaseUrl !== true) return [];
    return [`${variable.name} is required with DATABASE_URL; set it to ${variable.format.expected}`];
  }
  if (variable.format.parse(text) !== undefined) return [];
  const found = variable.secret === true ? `******** (${text.length} characters)` : JSON.stringify(text);
  return [`${variable.name} is ${found}; set it to ${variable.format.expected}`];
}

function readOptional<Value>(
  variable: OptionalVariable<Value>,
  environment: NodeJS.ProcessEnv,
  setting: Setting,
): Value | undefined {
  const text = textOf(variable, environment) ?? variable.defaultText?.(setting);
  return text === undefined ? undefined : variable.format.parse(text);
}

function readRequired<Value>(
  variable: DefaultedVariable<Value>,
  environment: NodeJS.ProcessEnv,
  setting: Setting,
): Value {
  const value = readOptional(variable, environment, setting);
  if (value === undefined) throw new ConfigError([`${variable.name} has no usable default`]);
  return value;
}

import { isIPv4 } from 'node:net';
import { delimiter } from 'node:path';
import querystring from 'node:querystring';
import {
  encryptionKeys,
  type Format,
  httpUrl,
  integer,
  list,
  oneOf,
  platformSecret,
  portOrOff,
  urlOf,
  word,
} from './config/formats.ts';

export { type EncryptionKey, parseEncryptionKeys } from './config/formats.ts';

interface Variable<Value> {
  readonly name: string;
  readonly description: string;
  readonly format: Format<Value>;
  /** The default as the documentation shows it. */
  readonly shownDefault: string;
  /** Never shown, not even when it is wrong. */
  readonly secret?: boolean;
  readonly requiredWithDatabaseUrl?: boolean;
  /** Set to nothing it means nothing, where other variables take their default. */
  readonly mayBeEmpty?: boolean;
}

/** What defaults depend on. */
interface Setting {
  /** No DATABASE_URL is given. */
  readonly embedded: boolean;
  /** Only programs on this machine reach the service. */
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
const ENVIRONMENTS_THAT_VALIDATE_RESPONSES: readonly string[] = ['development', 'test'];
const LOOPBACK = '127.0.0.0/8,::1/128';

export type LogLevel = (typeof LOG_LEVELS)[number];
export type Role = (typeof ROLES)[number];

/** The variables of the environment, in the order the documentation shows them. */
export const VARIABLES = {
  port: {
    name: 'PORT',
    format: integer(0, 65535),
    shownDefault: '8080',
    defaultText: () => '8080',
    description: 'Port of the API and the console; 0 takes a free one.',
  },
  host: {
    name: 'HOST',
    format: word('a host name or an IP address'),
    shownDefault: '127.0.0.1',
    defaultText: () => '127.0.0.1',
    description: 'Address to listen on.',
  },
  publicUrl: {
    name: 'PUBLIC_URL',
    format: httpUrl(),
    shownDefault: 'from HOST and PORT',
    description: 'Where callers and providers reach the service from outside, without the path of the API.',
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    format: urlOf(['postgres:', 'postgresql:'], 'a URL like postgres://user:password@host:5432/database'),
    shownDefault: 'embedded PostgreSQL',
    secret: true,
    description: 'PostgreSQL 15 or newer. Without it an embedded PostgreSQL is started under DATA_DIR.',
  },
  dataDir: {
    name: 'DATA_DIR',
    format: word('a folder'),
    shownDefault: '.data',
    defaultText: () => '.data',
    description:
      'Embedded database, first credentials, generated development keys, bulk files, tokens of the simulators.',
  },
  simulatorsPort: {
    name: 'SIMULATORS_PORT',
    format: portOrOff(),
    shownDefault: '8081 with the embedded database, otherwise off',
    defaultText: ({ embedded }) => (embedded ? '8081' : 'off'),
    description: 'Port of the provider simulators; 0 takes a free one, `off` starts none.',
  },
  encryptionKeys: {
    name: 'ENCRYPTION_KEYS',
    format: encryptionKeys(),
    shownDefault: 'generated into DATA_DIR with the embedded database, otherwise required',
    secret: true,
    requiredWithDatabaseUrl: true,
    description: 'Keys that encrypt stored secrets: `id:base64 of 32 bytes`, separated by commas; the first encrypts.',
  },
  bootstrapOrganizationSecret: {
    name: 'BOOTSTRAP_ORGANIZATION_SECRET',
    format: platformSecret(),
    shownDefault: 'random',
    secret: true,
    description: 'Secret of the organization created on the first start.',
  },
  bootstrapUserSecret: {
    name: 'BOOTSTRAP_USER_SECRET',
    format: platformSecret(),
    shownDefault: 'random',
    secret: true,
    description: 'Secret of the user created on the first start.',
  },
  egressAllow: {
    name: 'EGRESS_ALLOW',
    format: list(',', 'address ranges (CIDR) and host names, separated by commas'),
    shownDefault: 'loopback with the embedded database while HOST is loopback too, otherwise empty',
    defaultText: ({ embedded, local }) => (embedded && local ? LOOPBACK : ''),
    mayBeEmpty: true,
    description:
      'Addresses and hosts that may be called although they are not public; set to nothing, none. Unless HOST is loopback, callers are not shown what such an address answers to a failed call.',
  },
  role: {
    name: 'ROLE',
    format: oneOf(ROLES),
    shownDefault: 'all',
    defaultText: () => 'all',
    description: 'What this process does: the API, background work, or both.',
  },
  logLevel: {
    name: 'LOG_LEVEL',
    format: oneOf(LOG_LEVELS),
    shownDefault: 'info',
    defaultText: () => 'info',
    description: 'Least severe level that is logged.',
  },
  connectorsPath: {
    name: 'CONNECTORS_PATH',
    format: list(delimiter, 'folders, separated like those in PATH'),
    shownDefault: 'empty',
    defaultText: () => '',
    description: 'Folders with connectors from outside this repository.',
  },
  databasePoolSize: {
    name: 'DATABASE_POOL_SIZE',
    format: integer(2, 1000),
    shownDefault: '10',
    defaultText: () => '10',
    description: 'Most connections of one process to PostgreSQL, not counting background jobs and notifications.',
  },
  shutdownTimeout: {
    name: 'SHUTDOWN_TIMEOUT',
    format: integer(1, 3600),
    shownDefault: '30',
    defaultText: () => '30',
    description: 'Seconds that running requests and jobs get to end after SIGTERM or SIGINT.',
  },
  eventRetention: {
    name: 'EVENT_RETENTION_DAYS',
    format: integer(1, 3650),
    shownDefault: '30',
    defaultText: () => '30',
    description: 'Days that events and delivery attempts are kept. An event that is still to be delivered stays.',
  },
  environment: {
    name: 'NODE_ENV',
    format: word('a name like production'),
    shownDefault: 'production',
    defaultText: () => 'production',
    description: 'In `development` and `test` every response is checked against the specification.',
  },
} as const satisfies Record<string, OptionalVariable<unknown>>;

export interface Config {
  readonly port: number;
  readonly host: string;
  /** As configured; see `publicUrlOf`. Without a slash at the end. */
  readonly publicUrl: string | undefined;
  /** Undefined: use the embedded database. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** Undefined: no simulators. */
  readonly simulatorsPort: number | undefined;
  /** Undefined only with the embedded database: generate them. */
  readonly encryptionKeys: string | undefined;
  readonly bootstrapOrganizationSecret: string | undefined;
  readonly bootstrapUserSecret: string | undefined;
  readonly egressAllow: readonly string[];
  /** HOST is loopback: whoever calls can reach by himself what this process reaches there. */
  readonly isLocal: boolean;
  readonly role: Role;
  readonly logLevel: LogLevel;
  readonly connectorsPath: readonly string[];
  readonly databasePoolSize: number;
  readonly shutdownTimeoutMs: number;
  readonly eventRetentionDays: number;
  readonly validateResponses: boolean;
}

/** A start that cannot go on because of its settings; `problems` is complete and free of secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`The configuration is not usable:\n${problems.map((problem) => `- ${problem}`).join('\n')}`, options);
    this.problems = problems;
  }
}

/**
 * Reads the settings of a process. An empty variable counts as unset, unless empty is a value of its own.
 * @throws ConfigError with every problem at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
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
    publicUrl: optional(VARIABLES.publicUrl),
    databaseUrl: optional(VARIABLES.databaseUrl),
    dataDir: required(VARIABLES.dataDir),
    simulatorsPort: required(VARIABLES.simulatorsPort).port,
    encryptionKeys: optional(VARIABLES.encryptionKeys),
    bootstrapOrganizationSecret: optional(VARIABLES.bootstrapOrganizationSecret),
    bootstrapUserSecret: optional(VARIABLES.bootstrapUserSecret),
    egressAllow: required(VARIABLES.egressAllow),
    isLocal: setting.local,
    role: required(VARIABLES.role),
    logLevel: required(VARIABLES.logLevel),
    connectorsPath: required(VARIABLES.connectorsPath),
    databasePoolSize: required(VARIABLES.databasePoolSize),
    shutdownTimeoutMs: required(VARIABLES.shutdownTimeout) * 1000,
    eventRetentionDays: required(VARIABLES.eventRetention),
    validateResponses: ENVIRONMENTS_THAT_VALIDATE_RESPONSES.includes(required(VARIABLES.environment)),
  });
}

/** PUBLIC_URL, or the URL of HOST and the port that was taken, as a browser on this machine reaches it. */
export function publicUrlOf(config: Pick<Config, 'publicUrl' | 'host'>, listeningPort: number): string {
  if (config.publicUrl !== undefined) return config.publicUrl;
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${listeningPort}`;
}

/** The variables as a Markdown table for the README. */
export function describeVariables(): string {
  const rows = Object.values(VARIABLES).map(
    ({ name, shownDefault, description }) => `| \`${name}\` | ${shownDefault} | ${description} |`,
  );
  return ['| variable | default | |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The values of a configuration that must never be seen in a log. */
export function secretsOf(config: Config): readonly string[] {
  const keys = config.encryptionKeys?.split(',').map((key) => key.slice(key.indexOf(':') + 1)) ?? [];
  const password = URL.parse(config.databaseUrl ?? '')?.password ?? '';
  const secrets = [
    password,
    querystring.unescape(password),
    config.bootstrapOrganizationSecret,
    config.bootstrapUserSecret,
    ...keys,
  ];
  return secrets.flatMap((secret) => (secret === undefined || secret === '' ? [] : [secret]));
}

/** A name that is not known for loopback may resolve to anything. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function textOf(variable: Variable<unknown>, environment: NodeJS.ProcessEnv): string | undefined {
  const text = environment[variable.name];
  return text === '' && variable.mayBeEmpty !== true ? undefined : text;
}

function problemsOf(variable: Variable<unknown>, environment: NodeJS.ProcessEnv, { embedded }: Setting): string[] {
  const text = textOf(variable, environment);
  if (text === undefined) {
    if (embedded || variable.requiredWithDatabaseUrl !== true) return [];
    return [`${variable.name} is not set, but DATABASE_URL is; expected ${variable.format.expected}`];
  }
  if (variable.format.parse(text) !== undefined) return [];
  const found = variable.secret === true ? `******** (${text.length} characters)` : JSON.stringify(text);
  return [`${variable.name} is ${found}; expected ${variable.format.expected}`];
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

import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { ConfigError, describeVariables, publicUrlOf, readConfig, secretsOf, VARIABLES } from '../src/config/index.ts';

const DATABASE_URL = 'postgres://causeway:canary-password@db.internal:5432/causeway';
const KEY = randomBytes(32).toString('base64');

function problemsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('readConfig', () => {
  it('answers the defaults for the embedded database', () => {
    expect(readConfig({})).to.deep.equal({
      port: 8080,
      host: '127.0.0.1',
      publicUrl: undefined,
      databaseUrl: undefined,
      databaseWaitMs: 60_000,
      distributed: undefined,
      dataDir: '.data',
      simulatorsPort: 8081,
      simulatorsUrl: undefined,
      encryptionKeys: undefined,
      bootstrapOrganizationSecret: undefined,
      bootstrapUserSecret: undefined,
      egressAllow: ['127.0.0.0/8', '::1/128'],
      isLocal: true,
      trustProxy: [],
      corsOrigins: [],
      rateLimitUser: 12_000,
      rateLimitAccount: 30_000,
      maxConnections: 10_000,
      metricsPort: undefined,
      metricsToken: undefined,
      role: 'all',
      logLevel: 'info',
      connectorsPath: [],
      connectors: [],
      providerHosts: [],
      databasePoolSize: 10,
      shutdownTimeoutMs: 30_000,
      eventRetentionDays: 30,
      bulkRetentionDays: 3,
      formulaRetentionDays: 3,
      schemaWatchHours: 24,
      smtpUrl: undefined,
      smtpFrom: 'causeway@localhost',
      maxEndpointsPerAccount: 20,
      bulkUploadMaxBytes: 1073741824,
      auditRetentionDays: 365,
      activityRetentionDays: 7,
      providerMemoryBytes: undefined,
      tracing: undefined,
      validateResponses: false,
    });
  });

  it('starts no simulators and opens no private address with a database of its own', () => {
    const config = readConfig({ DATABASE_URL, ENCRYPTION_KEYS: `a:${KEY}` });
    expect(config.simulatorsPort).to.equal(undefined);
    expect(config.egressAllow).to.deep.equal([]);
    expect(config.databaseUrl).to.equal(DATABASE_URL);
  });

  it('reads every variable', () => {
    const config = readConfig({
      PORT: '0',
      HOST: '0.0.0.0',
      PUBLIC_URL: 'https://api.example.com/causeway/',
      DATABASE_WAIT: '5',
      DISTRIBUTED: 'citus',
      DATA_DIR: '/srv/causeway',
      SIMULATORS_PORT: 'off',
      SIMULATORS_URL: 'http://simulators.internal:8081/',
      ENCRYPTION_KEYS: `new:${KEY},old:${KEY}`,
      BOOTSTRAP_ORGANIZATION_SECRET: 'organization-secret',
      BOOTSTRAP_USER_SECRET: 'user-secret-with-16',
      EGRESS_ALLOW: '10.0.0.0/8, erp.internal',
      TRUST_PROXY: '10.0.0.0/8, 2001:db8::1',
      CORS_ORIGINS: 'https://app.example.com, http://localhost:3000',
      RATE_LIMIT_USER: '60',
      RATE_LIMIT_ACCOUNT: 'off',
      MAX_CONNECTIONS: '500',
      METRICS_PORT: '9464',
      METRICS_TOKEN: 'metrics-token-of-16',
      ROLE: 'worker',
      LOG_LEVEL: 'debug',
      CONNECTORS_PATH: import.meta.dirname,
      CONNECTORS: 'causeway-connector-acme,@acme/causeway-connector-shop',
      PROVIDER_HOSTS: 'servicenow=support.example.com, servicenowoauth=*.Example.com',
      DATABASE_POOL_SIZE: '25',
      SHUTDOWN_TIMEOUT: '5',
      EVENT_RETENTION_DAYS: '7',
      BULK_RETENTION_DAYS: '5',
      FORMULA_RETENTION_DAYS: '4',
      SCHEMA_WATCH_HOURS: '6',
      SMTP_URL: 'smtps://mail:secret@mail.example.com',
      SMTP_FROM: 'formulas@example.com',
      MAX_ENDPOINTS_PER_ACCOUNT: '50',
      BULK_UPLOAD_MAX_BYTES: '10000000000',
      AUDIT_RETENTION_DAYS: '2555',
      ACTIVITY_RETENTION_DAYS: '3',
      PROVIDER_MEMORY_MB: '64',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.internal:4318/',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one, authorization=Bearer%20of-the-collector',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=two',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
      OTEL_SERVICE_NAME: 'hub',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,team=a%2Cb',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_BSP_MAX_QUEUE_SIZE: '64',
      OTEL_SDK_DISABLED: 'no',
      TRACE_CONTEXT_HOSTS: 'api.example.com, *.example.org',
      NODE_ENV: 'test',
    });
    expect(config).to.deep.equal({
      port: 0,
      host: '0.0.0.0',
      publicUrl: 'https://api.example.com/causeway',
      databaseUrl: undefined,
      databaseWaitMs: 5000,
      distributed: 'citus',
      dataDir: '/srv/causeway',
      simulatorsPort: undefined,
      simulatorsUrl: 'http://simulators.internal:8081',
      encryptionKeys: `new:${KEY},old:${KEY}`,
      bootstrapOrganizationSecret: 'organization-secret',
      bootstrapUserSecret: 'user-secret-with-16',
      egressAllow: ['10.0.0.0/8', 'erp.internal'],
      isLocal: false,
      trustProxy: ['10.0.0.0/8', '2001:db8::1'],
      corsOrigins: ['https://app.example.com', 'http://localhost:3000'],
      rateLimitUser: 60,
      rateLimitAccount: undefined,
      maxConnections: 500,
      metricsPort: 9464,
      metricsToken: 'metrics-token-of-16',
      role: 'worker',
      logLevel: 'debug',
      connectorsPath: [import.meta.dirname],
      connectors: ['causeway-connector-acme', '@acme/causeway-connector-shop'],
      providerHosts: [
        { element: 'servicenow', host: 'support.example.com' },
        { element: 'servicenowoauth', host: '*.example.com' },
      ],
      databasePoolSize: 25,
      shutdownTimeoutMs: 5000,
      eventRetentionDays: 7,
      bulkRetentionDays: 5,
      formulaRetentionDays: 4,
      schemaWatchHours: 6,
      smtpUrl: 'smtps://mail:secret@mail.example.com',
      smtpFrom: 'formulas@example.com',
      maxEndpointsPerAccount: 50,
      bulkUploadMaxBytes: 10_000_000_000,
      auditRetentionDays: 2555,
      activityRetentionDays: 3,
      providerMemoryBytes: 64 * 1024 * 1024,
      tracing: {
        url: 'https://collector.internal:4318/v1/traces',
        headers: { 'x-tenant': 'two', authorization: 'Bearer of-the-collector' },
        timeoutMs: 2500,
        serviceName: 'hub',
        resourceAttributes: { 'deployment.environment.name': 'test', team: 'a,b' },
        sampler: 'parentbased_traceidratio',
        samplerShare: 0.25,
        delayMs: 100,
        mostWaiting: 64,
        contextHosts: ['api.example.com', '*.example.org'],
      },
      validateResponses: true,
    });
  });

  it('takes an empty variable for one that is not set', () => {
    const { egressAllow: _, ...others } = VARIABLES;
    const empty = Object.fromEntries(Object.values(others).map(({ name }) => [name, '']));
    expect(readConfig(empty)).to.deep.equal(readConfig({}));
  });

  for (const origins of [
    ...['*', 'app.example.com', 'https://app.example.com/', 'https://*.example.com', 'null', 'ftp://x.example'],
  ]) {
    it(`takes no other origins than those of pages: ${origins}`, () => {
      expect(problemsOf({ CORS_ORIGINS: origins })).to.deep.equal([
        `CORS_ORIGINS is ${JSON.stringify(origins)}; set it to origins like https://app.example.com, without a path, separated by commas`,
      ]);
    });
  }

  it('sends traces where it is told for traces alone, and as it is told', () => {
    const url = 'http://localhost:4318/own/path';
    expect(readConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url }).tracing).to.include({ url, timeoutMs: 10_000 });
    expect(readConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url, OTEL_SDK_DISABLED: 'TRUE' }).tracing).to.equal(
      undefined,
    );
  });

  it('counts the headers of a collector among the secrets', () => {
    const config = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
    });
    expect(secretsOf(config)).to.include('Bearer of-the-collector').and.include('of-the-collector');
  });

  it('allows no address that is not public when EGRESS_ALLOW is set to nothing', () => {
    expect(readConfig({ EGRESS_ALLOW: '' }).egressAllow).to.deep.equal([]);
  });

  const hosts = { '127.0.0.1': true, '127.1.2.3': true, localhost: true, '::1': true, '0.0.0.0': false } as const;
  for (const [host, local] of Object.entries({ ...hosts, '::': false, '127.example.com': false, '10.0.0.1': false }))
    it(`${local ? 'allows' : 'does not allow'} loopback by default while HOST is ${host}`, () => {
      const config = readConfig({ HOST: host });
      expect(config.isLocal).to.equal(local);
      expect(config.egressAllow).to.deep.equal(local ? ['127.0.0.0/8', '::1/128'] : []);
    });

  it('reports all problems together, without the secrets', () => {
    expect(
      problemsOf({
        PORT: '80x0',
        HOST: 'http://localhost',
        PUBLIC_URL: 'ftp://example.com',
        DATABASE_URL: 'mysql://root:canary-password@db/x',
        SIMULATORS_PORT: '70000',
        SIMULATORS_URL: 'localhost:8081',
        ENCRYPTION_KEYS: 'a:canary',
        BOOTSTRAP_USER_SECRET: 'canary, short',
        EGRESS_ALLOW: '10.0.0.0/33, erp.internal',
        ROLE: 'boss',
        LOG_LEVEL: 'loud',
        CONNECTORS_PATH: '/no/such/folder',
        CONNECTORS: 'acme',
        PROVIDER_HOSTS: 'support.example.com',
        DATABASE_POOL_SIZE: '1',
        SHUTDOWN_TIMEOUT: '-1',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://canary@collector',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_HEADERS: 'canary',
        OTEL_TRACES_SAMPLER: 'sometimes',
        OTEL_TRACES_SAMPLER_ARG: '1.1',
        TRACE_CONTEXT_HOSTS: 'https://api.example.com',
        NODE_ENV: 'prodution',
      }),
    ).to.deep.equal([
      'PORT is "80x0"; set it to a whole number from 0 to 65535',
      'HOST is "http://localhost"; set it to a host name or an IP address',
      'PUBLIC_URL is "ftp://example.com"; set it to an http or https URL without query and fragment',
      'DATABASE_URL is ******** (33 characters); set it to a URL like postgres://user:password@host:5432/database',
      'SIMULATORS_PORT is "70000"; set it to a whole number from 0 to 65535, or to off',
      'SIMULATORS_URL is "localhost:8081"; set it to an http or https URL without query and fragment',
      'ENCRYPTION_KEYS is ******** (8 characters); set it to keys of the form id:base64 of 32 bytes, separated by commas, each id once',
      'BOOTSTRAP_USER_SECRET is ******** (13 characters); set it to at least 16 letters, digits or any of -._~+/=',
      'EGRESS_ALLOW is "10.0.0.0/33, erp.internal"; set it to IP addresses, ranges (CIDR) and host names, separated by commas',
      'ROLE is "boss"; set it to one of all, api, worker',
      'LOG_LEVEL is "loud"; set it to one of fatal, error, warn, info, debug, trace, silent',
      'CONNECTORS_PATH is "/no/such/folder"; set it to existing folders, separated as in PATH',
      'CONNECTORS is "acme"; set it to npm packages named causeway-connector-<key>, with or without a scope, separated by commas',
      'PROVIDER_HOSTS is "support.example.com"; set it to elements and hosts such as servicenow=support.example.com, separated by commas',
      'DATABASE_POOL_SIZE is "1"; set it to a whole number from 2 to 1000',
      'SHUTDOWN_TIMEOUT is "-1"; set it to a whole number from 1 to 3600',
      'OTEL_EXPORTER_OTLP_ENDPOINT is ******** (23 characters); set it to an http or https URL without user, query and fragment',
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; set it to one of http/protobuf',
      'OTEL_EXPORTER_OTLP_HEADERS is ******** (6 characters); set it to pairs of the form name=value, separated by commas, with percent-encoded values',
      'OTEL_TRACES_SAMPLER is "sometimes"; set it to one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio',
      'OTEL_TRACES_SAMPLER_ARG is "1.1"; set it to a number from 0 to 1',
      'TRACE_CONTEXT_HOSTS is "https://api.example.com"; set it to host names, or *. followed by a domain, separated by commas',
      'NODE_ENV is "prodution"; set it to one of production, development, test',
    ]);
  });

  it('puts every problem into the message on a line of its own', () => {
    expect(() => readConfig({ PORT: 'x', ROLE: 'y' })).to.throw(
      ConfigError,
      'The configuration has problems. Correct these variables:\n- PORT is "x"; set it to a whole number from 0 to 65535\n- ROLE is "y"; set it to one of all, api, worker',
    );
  });

  it('requires encryption keys once there is a database to encrypt', () => {
    expect(problemsOf({ DATABASE_URL })).to.deep.equal([
      'ENCRYPTION_KEYS is required with DATABASE_URL; set it to keys of the form id:base64 of 32 bytes, separated by commas, each id once',
    ]);
  });

  for (const [fault, keys] of Object.entries({
    'a key of another length': `a:${randomBytes(16).toString('base64')}`,
    'an id that comes twice': `a:${KEY},a:${KEY}`,
    'an id with a dot, which ends it in a ciphertext': `a.b:${KEY}`,
    'a key without id': KEY,
    'a part that is empty': `a:${KEY},`,
  })) {
    it(`refuses ${fault} in ENCRYPTION_KEYS`, () => {
      expect(problemsOf({ ENCRYPTION_KEYS: keys })).to.have.length(1);
    });
  }
});

describe('publicUrlOf', () => {
  const cases = [
    { publicUrl: 'https://api.example.com', host: '127.0.0.1', expected: 'https://api.example.com' },
    { publicUrl: undefined, host: '127.0.0.1', expected: 'http://127.0.0.1:4321' },
    { publicUrl: undefined, host: '0.0.0.0', expected: 'http://localhost:4321' },
    { publicUrl: undefined, host: '::', expected: 'http://localhost:4321' },
    { publicUrl: undefined, host: '::1', expected: 'http://[::1]:4321' },
  ];
  for (const { publicUrl, host, expected } of cases) {
    it(`answers ${expected} for ${publicUrl ?? 'no PUBLIC_URL'} and host ${host}`, () => {
      expect(publicUrlOf({ publicUrl, host }, 4321)).to.equal(expected);
    });
  }
});

describe('describeVariables', () => {
  it('has one row for each variable', () => {
    const lines = describeVariables().split('\n');
    expect(lines).to.have.length(2 + Object.keys(VARIABLES).length);
    expect(lines[2]).to.equal(
      '| `PORT` | 8080 | Port of the API and the console. With 0 the service chooses a free port. |',
    );
  });
});

import { randomBytes } from 'node:crypto';
import type { Tables } from '../../../generated/tables.ts';
import { type Clock, SYSTEM_CLOCK } from '../../../src/clock.ts';
import type { Config, OAuth2Auth } from '../../../src/connector/contract.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { createKeyring } from '../../../src/db/keyring.ts';
import { createNotifier } from '../../../src/db/notifier.ts';
import type { InstanceKey } from '../../../src/instances/instance.ts';
import type { OAuthConnector } from '../../../src/instances/oauth/fields.ts';
import type { RequestToken, TokenGrant } from '../../../src/instances/oauth/token-endpoint.ts';
import type { RefreshStep, TokenRecords } from '../../../src/instances/oauth/tokens/refresh.ts';
import {
  createTokens,
  type TokenOptions,
  type TokenOwner,
  type Tokens,
} from '../../../src/instances/oauth/tokens/tokens.ts';
import type { Logger } from '../../../src/log.ts';
import { createMetrics, type Metrics } from '../../../src/metrics.ts';
import { ENCRYPTION_KEYS } from '../../support/app.ts';
import { silentLog, type TestDatabase, theRow, useDatabase } from '../../support/database.ts';
import { leastConnector } from '../../support/least-connector.ts';
import { useStarted } from '../../support/started.ts';
import { createStrictTokens } from '../../support/strict-tokens.ts';

export type Stage = ReturnType<typeof createStage>;
/** A process of the service, as far as tokens are concerned. */
export type TokenProcess = Awaited<ReturnType<Stage['startProcess']>>;

export interface TestInstance extends TokenOwner {
  readonly connector: OAuthConnector;
  readonly settingsVersion: number;
  /** Its first tokens. */
  readonly grant: TokenGrant;
}

export interface ConnectOptions {
  readonly auth?: Partial<OAuth2Auth>;
  readonly graceMs?: number;
  readonly change?: (grant: TokenGrant) => TokenGrant;
}

export interface ProcessOverrides extends TokenOptions, Partial<TokenRecords> {
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly log?: Logger;
  readonly metrics?: Metrics;
  /** In place of the strict provider's. */
  readonly endpoint?: (strict: RequestToken) => RequestToken;
}

const AUTH: OAuth2Auth = { type: 'oauth2', tokenUrl: () => 'https://strict.example.com/token' };
const CONNECTOR = leastConnector({
  key: 'strict',
  name: 'Strict',
  baseUrl: () => 'https://strict.example.com',
  hosts: ['strict.example.com'],
});

const HOUR_SECONDS = 3_600;

/** Processes over one database before one strict provider, on clocks that the test moves. */
export function createStage(database: TestDatabase, { lifeSeconds = HOUR_SECONDS } = {}) {
  let offsetMs = 0;
  const clock: Clock = {
    ...SYSTEM_CLOCK,
    steady: () => SYSTEM_CLOCK.steady() + offsetMs,
    // What a process that died waits for keeps nobody.
    after: (ms, call) => {
      const timer = setTimeout(call, ms).unref();
      return () => clearTimeout(timer);
    },
  };
  const provider = createStrictTokens({ now: clock.steady, lifeSeconds });
  const refusals: { id: number; reason: string }[] = [];
  const recovered: number[] = [];
  const adopted: (InstanceKey & Pick<TokenGrant, 'values'>)[] = [];
  const owners = new Map<number, TestInstance>();
  const processes: Awaited<ReturnType<typeof openProcess>>[] = [];
  const keyring = createKeyring(ENCRYPTION_KEYS);

  const strictEndpoint: RequestToken = async ({ grantType, parameters }) =>
    grantType === 'client_credentials'
      ? withoutRefreshToken(provider.issue())
      : provider.refresh(parameters.refresh_token ?? '');

  async function openProcess(overrides: ProcessOverrides) {
    const { endpoint = (strict) => strict, random = Math.random, log = silentLog, metrics, ...others } = overrides;
    const { onStep, timing, clock: ownClock = clock, ...noted } = others;
    const records: TokenRecords = {
      get: async (_accountId, id) => getOwner(owners, id),
      invalidate: async ({ id, reason }) => void refusals.push({ id, reason }),
      restore: async ({ id }) => void recovered.push(id),
      adoptValues: async (told) => void adopted.push(told),
      ...noted,
    };
    const own = openDatabase({ url: database.url, poolSize: 3, log: silentLog });
    const notifier = createNotifier({ url: database.url, knex: own.knex, log: silentLog });
    await notifier.start();
    let queries = 0;
    let decryptions = 0;
    own.knex.on('query', () => queries++);
    const counted = {
      ...keyring,
      decrypt: (text: string, context: string) => {
        decryptions++;
        return keyring.decrypt(text, context);
      },
    };
    const tokens = createTokens(
      {
        knex: own.knex,
        keyring: counted,
        notifier,
        log,
        metrics: metrics ?? createMetrics({ processMetrics: false }),
        clock: ownClock,
        random: { bytes: randomBytes, fraction: random },
      },
      { records, requestToken: endpoint(strictEndpoint) },
      { ...(onStep !== undefined && { onStep }), timing: { graceMs: 20, ...timing } },
    );
    const accessTokens = (owner: TokenOwner) => {
      const found = tokens.of(owner);
      if (found === undefined) throw new Error('The instance has no access tokens');
      return found;
    };
    return {
      tokens,
      /** Tells a token that is good now. */
      current: (owner: TokenOwner, signal = new AbortController().signal) => accessTokens(owner).current(signal),
      replace: (owner: TokenOwner, refused: string) =>
        accessTokens(owner).replace(refused, new AbortController().signal),
      /** Asks for a token that nobody waits for, as where the process dies. It may be refused long after the test. */
      ask: (owner: TokenOwner) => {
        accessTokens(owner)
          .current(new AbortController().signal)
          .catch(() => undefined);
      },
      /** Queries since the last look. */
      countQueries: () => {
        const counted = queries;
        queries = 0;
        return counted;
      },
      decryptions: () => decryptions,
      /** As if it was killed: nothing of it goes on, what it asked for is answered to nobody. */
      stop: async () => {
        await notifier.close();
        await own.close();
      },
    };
  }

  async function startProcess(overrides: ProcessOverrides = {}) {
    const process = await openProcess(overrides);
    processes.push(process);
    return process;
  }

  /** Moves the clocks of the database's rows, of the provider and of every process. */
  const passTime = async (ms: number) => {
    offsetMs += ms;
    const columns = ['access_expires_at', 'refresh_at', 'retry_at', 'lease_until'];
    const earlier = columns.map((column) => `(${column} - ${ms} * interval '1 millisecond')::text as ${column}`);
    // In two steps, because a distributed database calculates with times in a query only.
    const { rows } = await database.knex.raw<{ rows: { account_id: number; instance_id: number }[] }>(
      `select account_id, instance_id, ${earlier.join(', ')} from oauth_token`,
    );
    for (const { account_id, instance_id, ...times } of rows)
      await database.knex('oauth_token').where({ account_id, instance_id }).update(times);
  };

  /** An instance with tokens. */
  const connect = async (options: ConnectOptions = {}): Promise<TestInstance> => {
    const { auth = {}, graceMs, change = (grant: TokenGrant) => grant } = options;
    const key = await insertInstance(database);
    const connector = { ...CONNECTOR, auth: { ...AUTH, ...auth } };
    const grant = change(provider.issue(graceMs === undefined ? {} : { graceMs }));
    const [process = await startProcess()] = processes;
    const owner = { ...key, connector, config: {}, valid: true, settingsVersion: 1, grant };
    await database.knex.transaction((via) => process.tokens.store(via, owner, grant));
    owners.set(key.id, owner);
    return owner;
  };

  return {
    provider,
    refusals,
    recovered,
    /** What was told of values that the configuration does not have, and went into it. */
    adopted,
    startProcess,
    passTime,
    connect,
    /** An instance whose access has ended. */
    connectExpired: async (options: ConnectOptions = {}) => {
      const instance = await connect(options);
      await passTime(lifeSeconds * 1_000);
      return instance;
    },
    /** New settings for an instance, as a PATCH stores them; with a process, after the provider took their client. */
    changeSettings: async (
      owner: TestInstance,
      config: Config,
      process?: { readonly tokens: Tokens },
    ): Promise<TestInstance> => {
      const { accountId, id } = owner;
      const next = { ...owner, config, settingsVersion: owner.settingsVersion + 1 };
      await database.knex.transaction(async (via) => {
        const settings = { settings_version: next.settingsVersion };
        await via('instance').where({ account_id: accountId, id }).update(settings);
        owners.set(id, next);
        await process?.tokens.acceptClient(via, owner);
      });
      return next;
    },
    row: async ({ accountId, id }: TokenOwner): Promise<Tables['oauth_token']> =>
      theRow(database.knex('oauth_token').where({ account_id: accountId, instance_id: id })),
    close: async () => {
      await Promise.all(processes.map((process) => process.stop()));
    },
  };
}

/** A stage for each test of the suite that calls this, and its database. */
export function useStage(): Stage & { readonly database: TestDatabase } {
  const database = useDatabase();
  return useStarted(
    () => ({ ...createStage(database), database }),
    ({ close }) => close(),
    'test',
  );
}

function getOwner(owners: ReadonlyMap<number, TestInstance>, id: number): TestInstance {
  const owner = owners.get(id);
  if (owner === undefined) throw new Error(`There is no instance ${id}`);
  return owner;
}

function withoutRefreshToken({ refreshToken: _, ...grant }: TokenGrant): TokenGrant {
  return grant;
}

/** With an account of its own. */
async function insertInstance({ knex }: Pick<TestDatabase, 'knex'>): Promise<{ accountId: number; id: number }> {
  const hash = () => randomBytes(32);
  const organization = await theRow(knex('organization').insert({ name: 'O' }).returning('id'));
  const account = await theRow(
    knex('account').insert({ organization_id: organization.id, name: 'A', external_id: 'A' }).returning('id'),
  );
  const user = { organization_id: organization.id, account_id: account.id, email_address: 'a@example.com' };
  const { id: userId } = await theRow(knex('app_user').insert(user).returning('id'));
  const instance = { account_id: account.id, user_id: userId, name: 'I', element_key: 'strict' };
  const secrets = { credentials: 'none', token: 'none', token_hash: hash() };
  const row = await theRow(
    knex('instance')
      .insert({ ...instance, ...secrets })
      .returning('id'),
  );
  return { accountId: account.id, id: row.id };
}

/** Stands still for ever at a step, as a killed process does; `reached` resolves there. */
export function diesAt(fatal: RefreshStep): ProcessOverrides & { readonly reached: Promise<void> } {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const { promise: never } = Promise.withResolvers<never>();
  const onStep = (step: RefreshStep) => {
    if (step !== fatal) return;
    resolve();
    return never;
  };
  return { onStep, reached };
}

/** Stands still at a step until it is let go. */
export function pausesAt(pause: RefreshStep) {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const onStep = (step: RefreshStep) => {
    if (step !== pause) return;
    resolve();
    return released;
  };
  return { onStep, reached, release };
}

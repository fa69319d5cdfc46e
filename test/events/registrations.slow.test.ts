import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Registration, WebhookRegistration } from '../../src/connector/index.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { AppError } from '../../src/errors.ts';
import { createWebhookAddresses } from '../../src/events/webhooks/address.ts';
import { createRegistrationStore } from '../../src/events/webhooks/registration-store.ts';
import { createFindRegistrationSecret, createRegistrations } from '../../src/events/webhooks/registrations.ts';
import type { WebhookInstance } from '../../src/instances/event-sources.ts';
import type { Instance, InstanceKey } from '../../src/instances/instance.ts';
import { createRedactor } from '../../src/redaction.ts';
import { silentLog, theRow } from '../support/database.ts';
import { useAccountDatabase } from '../support/event-rows.ts';
import { leastConnector } from '../support/least-connector.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const PLACE = { accountId: 1, id: 1 };
const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** What a provider was asked for, and what it says to the next. */
class Provider {
  readonly asked: string[] = [];
  failure: AppError | undefined;
  lifetime: number | undefined;
  renews = false;
  /** Happens while it is asked, until something else is said. */
  onAsk: () => Promise<void> = async () => {};

  /** Happens while it is asked the next time. */
  onNextAsk(act: () => Promise<void>): void {
    this.onAsk = () => {
      this.onAsk = async () => {};
      return act();
    };
  }

  private async ask(what: string): Promise<void> {
    this.asked.push(what);
    await this.onAsk();
    if (this.failure !== undefined) throw this.failure;
  }

  private made(id: string): Registration {
    const { lifetime } = this;
    return { id, secret: `secret of ${id}`, ...(lifetime !== undefined && { expiresInSeconds: lifetime }) };
  }

  get registration(): WebhookRegistration {
    return {
      create: {
        run: async (_, { url }) => {
          const id = String(this.asked.length + 1);
          await this.ask(`create ${new URL(url).origin}`);
          return this.made(id);
        },
      },
      ...(this.renews && {
        renew: {
          run: async (_, { id }) => {
            await this.ask(`renew ${id}`);
            return this.made(id);
          },
        },
      }),
      remove: { run: async (_, { id }) => this.ask(`remove ${id}`) },
    };
  }
}

describe('webhooks at a provider', () => {
  const database = useAccountDatabase(1);
  const keyring = createKeyring(`k:${randomBytes(32).toString('base64')}`);
  let provider: Provider;
  let publicUrl: string;
  let company: string;
  let wanted: boolean;
  let changes: Partial<Instance>;
  let warnings: (string | null)[];
  let told: unknown[];
  let clock: ReturnType<typeof createVirtualClock>;

  beforeEach(async () => {
    await database.knex('webhook_registration').delete();
    provider = new Provider();
    publicUrl = 'https://causeway.example.com';
    company = 'https://shop.example.com';
    wanted = true;
    changes = {};
    warnings = [];
    told = [];
    clock = createVirtualClock();
    await note();
  });

  const note = () => createRegistrationStore(database.knex).note(database.knex, PLACE, wanted);
  const row = () => theRow(database.knex('webhook_registration'));

  /** Of one process. */
  function open() {
    const { knex } = database;
    const addresses = createWebhookAddresses({ digest: (text) => Buffer.from(text.padEnd(32)) }, () => publicUrl);
    return createRegistrations(
      { knex, keyring, clock, log: silentLog, notifier: { subscribe: () => () => {} } },
      {
        addresses,
        findInstance: async () => ({ instance: toInstance(), settings, isRegistered: wanted, objectNames: [] }),
        client: {
          execute: async (operation, input, { config, signal }) => {
            if (!('run' in operation)) throw new Error('The provider of the test has no requests.');
            return operation.run({ config, signal, send: async () => ({ status: 200, headers: {}, body: {} }) }, input);
          },
        },
        tokensOf: () => undefined,
        noteEventWarning: async (_: InstanceKey, warning) => warnings.push(warning) > 0,
        notifications: { publish: async (_, type, data) => void told.push({ type, ...data }) },
        changed: async () => {},
      },
    );
  }

  const settings: WebhookInstance['settings'] = {
    isEnabled: true,
    callbackUrl: 'https://example.com/',
    signatureKey: undefined,
    ordered: false,
    format: 'standard',
    hydrate: true,
    vendorType: 'webhook',
  };

  function toInstance(): Instance {
    const connector = leastConnector({
      baseUrl: () => company,
      hosts: ['*.example.com'],
      webhooks: { verify: () => 'genuine', events: () => [], registration: provider.registration },
    });
    return {
      ...PLACE,
      userId: 1,
      name: 'The shop',
      tags: [],
      connector,
      config: {},
      token: 't',
      redactor: createRedactor([]),
      providerData: {},
      valid: true,
      invalidReason: null,
      refusedCalls: [],
      disabled: false,
      eventWarning: null,
      traceLoggingUntil: null,
      createdAt: new Date(0),
      settingsVersion: 1,
      version: '1',
      ...changes,
    };
  }

  it('are not made for an account that was deleted', async () => {
    const account = () => database.knex('account').where({ id: PLACE.accountId });
    await account().update({ deleted_at: database.knex.fn.now() });
    expect(await open().keep(NEVER)).to.equal(0);
    await account().update({ deleted_at: null });
    expect(await open().keep(NEVER)).to.equal(1);
    expect(provider.asked).to.deep.equal(['create https://causeway.example.com']);
  });

  it('are made once, however many processes look, and kept with an encrypted secret', async () => {
    await Promise.all([open(), open(), open()].map(({ keep }) => keep(NEVER)));
    expect(provider.asked).to.deep.equal(['create https://causeway.example.com']);
    const { secret, provider_id: id, due } = await row();
    expect([id, due]).to.deep.equal(['1', null]);
    expect(secret).to.match(/^v1\.k\./);
    expect(await createFindRegistrationSecret({ knex: database.knex, keyring })(PLACE)).to.equal('secret of 1');
    expect(await open().keep(NEVER)).to.equal(0);
  });

  it('are renewed when three quarters of their lifetime are over', async () => {
    provider.lifetime = 4 * 3600;
    provider.renews = true;
    const { keep } = open();
    await keep(NEVER);
    await clock.advance(3 * HOUR_MS - 1);
    expect(await keep(NEVER)).to.equal(0);
    await clock.advance(1);
    expect(await keep(NEVER)).to.equal(1);
    // Nothing that an instance is given in between is a reason to ask before the time.
    await note();
    await keep(NEVER);
    await clock.advance(3 * HOUR_MS);
    await keep(NEVER);
    expect(provider.asked.slice(1)).to.deep.equal(['renew 1', 'renew 1']);
  });

  it('are made anew where a provider has no way to renew them', async () => {
    provider.lifetime = 60;
    await open().keep(NEVER);
    await clock.advance(45_000);
    await open().keep(NEVER);
    expect(provider.asked).to.have.length(2);
    expect((await row()).provider_id).to.equal('2');
  });

  it('are tried again after a failure, less and less often, and told of once it is known why', async () => {
    provider.failure = new AppError('PROVIDER_REJECTED', 'Shop refused it.', { providerMessage: 'No rights.' });
    const waits: number[] = [];
    for (let tries = 0; tries < 12; tries++) {
      await open().keep(NEVER);
      const waitMs = ((await row()).due?.getTime() ?? 0) - clock.now();
      waits.push(waitMs / 1000);
      await clock.advance(waitMs);
    }
    expect(waits).to.deep.equal([15, 30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 21_600]);
    const reason = 'Shop did not accept the registration for events. Causeway tries again: Shop refused it. No rights.';
    expect(warnings).to.deep.equal(Array(12).fill(reason));
    expect(told[0]).to.deep.equal({
      type: 'instance.webhook.failed',
      instanceId: 1,
      name: 'The shop',
      elementKey: 'shop',
      reason,
    });
    provider.failure = undefined;
    await open().keep(NEVER);
    expect([warnings.at(-1), (await row()).failures]).to.deep.equal([null, 0]);
  });

  it('are looked at again when something changes while the provider is asked', async () => {
    provider.onNextAsk(async () => {
      wanted = false;
      await note();
    });
    const { keep } = open();
    await keep(NEVER);
    expect((await row()).due).not.to.equal(null);
    await keep(NEVER);
    expect(provider.asked).to.deep.equal(['create https://causeway.example.com', 'remove 1']);
    expect(await database.knex('webhook_registration')).to.deep.equal([]);
  });

  it('that were removed by others are removed', async () => {
    await open().keep(NEVER);
    wanted = false;
    await note();
    provider.failure = new AppError('NOT_FOUND', 'No such webhook.');
    await open().keep(NEVER);
    expect(await database.knex('webhook_registration')).to.deep.equal([]);
  });

  it('that the provider has forgotten are made anew when they are to be renewed', async () => {
    provider.lifetime = 60;
    provider.renews = true;
    await open().keep(NEVER);
    await clock.advance(45_000);
    provider.onNextAsk(async () => {
      throw new AppError('NOT_FOUND', 'No such webhook.');
    });
    await open().keep(NEVER);
    expect(provider.asked.slice(1)).to.deep.equal(['renew 1', 'create https://causeway.example.com']);
  });

  it('are made anew for another company at the provider, and left at the one before', async () => {
    await open().keep(NEVER);
    company = 'https://other.example.com';
    await note();
    await open().keep(NEVER);
    expect(provider.asked).to.deep.equal(Array(2).fill('create https://causeway.example.com'));
    expect((await row()).base_url).to.equal(company);
  });

  it('are not asked for on behalf of an instance that is disabled', async () => {
    changes = { disabled: true };
    await open().keep(NEVER);
    expect([provider.asked, warnings, (await row()).due]).to.deep.equal([[], [], null]);
    changes = {};
    await note();
    await open().keep(NEVER);
    expect(provider.asked).to.have.length(1);
  });

  it('are made again when that is wanted while they are removed', async () => {
    await open().keep(NEVER);
    wanted = false;
    await note();
    provider.onNextAsk(async () => {
      wanted = true;
      await note();
    });
    await open().keep(NEVER);
    await open().keep(NEVER);
    expect(provider.asked.slice(1)).to.deep.equal(['remove 1', 'create https://causeway.example.com']);
    expect((await row()).provider_id).to.equal('3');
  });

  it('do not outlive an instance that is deleted while they are made', async () => {
    provider.onNextAsk(async () => {
      await database.knex('webhook_registration').delete();
    });
    await open().keep(NEVER);
    expect(provider.asked).to.deep.equal(['create https://causeway.example.com', 'remove 1']);
  });

  it('of a simulator are none of the provider', async () => {
    changes = { config: { simulator: true } };
    await open().keep(NEVER);
    changes = {};
    await note();
    await open().keep(NEVER);
    expect(provider.asked).to.have.length(2);
  });

  it('follow the service to another address, whatever becomes of the one before', async () => {
    await open().keep(NEVER);
    publicUrl = 'https://elsewhere.example.com';
    await note();
    provider.onNextAsk(async () => {
      throw new AppError('PROVIDER_REJECTED', 'It belongs to another user.');
    });
    await open().keep(NEVER);
    expect(provider.asked.slice(1)).to.deep.equal(['remove 1', 'create https://elsewhere.example.com']);
  });

  it('follow the service to another address', async () => {
    await open().keep(NEVER);
    publicUrl = 'https://elsewhere.example.com';
    const moved = open();
    await moved.start(publicUrl);
    await moved.keep(NEVER);
    expect(provider.asked.slice(1)).to.deep.equal(['remove 1', 'create https://elsewhere.example.com']);
    await open().start(publicUrl);
    expect(await open().keep(NEVER)).to.equal(0);
  });

  const unreachable = (why: string) =>
    `Shop cannot send events here: ${why}. Set PUBLIC_URL to the https address of this service, or event.vendor.type to polling.`;
  const local = (url: string) => unreachable(`only this machine reaches ${url}`);
  const OBSTACLES: readonly (readonly [name: string, url: string, changes: Partial<Instance>, words: string])[] = [
    ['on this machine alone', 'http://127.0.0.1:8080', {}, local('http://127.0.0.1:8080')],
    ['on this machine alone by IPv6', 'https://[::1]:8443', {}, local('https://[::1]:8443')],
    ['without TLS', 'http://causeway.example.com', {}, unreachable('http://causeway.example.com is not https')],
    [
      'of an instance whose credentials are refused',
      'https://causeway.example.com',
      { valid: false },
      'Shop receives the URL for events when the credentials of the instance are renewed.',
    ],
  ];
  for (const [name, url, given, words] of OBSTACLES) {
    it(`are not asked for at an address ${name}, which is told`, async () => {
      publicUrl = url;
      changes = given;
      await open().keep(NEVER);
      expect([provider.asked, warnings]).to.deep.equal([[], [words]]);
      await clock.advance(HOUR_MS);
      publicUrl = 'https://causeway.example.com';
      changes = {};
      await open().keep(NEVER);
      expect([provider.asked.length, warnings.at(-1)]).to.deep.equal([1, null]);
    });
  }

  it('of simulators need no other address', async () => {
    publicUrl = 'http://127.0.0.1:8080';
    changes = { config: { simulator: true } };
    await open().keep(NEVER);
    expect(provider.asked).to.deep.equal(['create http://127.0.0.1:8080']);
  });

  for (const [end, failure] of Object.entries({
    'and is removed when it came to be': undefined,
    'when its request fails': new AppError('PROVIDER_TIMEOUT', 'It took too long.'),
  }))
    it(`does not replace that of another process after the lease, ${end}`, async () => {
      provider.onNextAsk(async () => {
        await clock.advance(2 * MINUTE_MS);
        await open().keep(NEVER);
        provider.failure = failure;
      });
      await open().keep(NEVER);
      expect(provider.asked.slice(2)).to.deep.equal(failure === undefined ? ['remove 1'] : []);
      expect(await row()).to.include({ provider_id: '2', failures: 0, lease_until: null });
      expect(warnings).not.to.include(failure?.message ?? '');
      expect(told).to.deep.equal([]);
    });

  it('are left to another process by one that died with them', async () => {
    // It never comes back.
    provider.onAsk = () => new Promise(() => {});
    void open().keep(NEVER);
    while (provider.asked.length === 0) await new Promise(setImmediate);
    provider.onAsk = async () => {};
    expect(await open().keep(NEVER)).to.equal(0);
    await clock.advance(2 * MINUTE_MS);
    expect(await open().keep(NEVER)).to.equal(1);
    expect(provider.asked).to.have.length(2);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NewEndpoint } from '@causeway/client';
import { Command } from 'commander';
import { addEndpoints } from '../../src/commands/endpoints.js';
import type { Session } from '../../src/session.js';

const URL_OF_RECEIVER = 'https://example.com/events';

/** Runs `endpoints create` with a session that sends nothing. */
async function create(options: readonly string[], { instance }: { readonly instance?: number } = {}) {
  const bodies: NewEndpoint[] = [];
  const lines: string[] = [];
  const secrets: string[] = [];
  const session = {
    namesInstance: instance !== undefined,
    instanceId: async () => instance,
    environment: { TOKEN: 'a token', EMPTY: '' },
    keep: (secret: string) => {
      secrets.push(secret);
      return secret;
    },
    output: {
      one: async (_value: unknown, line: () => string) => lines.push(line()),
      note: (line: string) => lines.push(line),
    },
    platform: async () => ({
      notifications: {
        createSubscription: async ({ newEndpoint }: { readonly newEndpoint: NewEndpoint }) => {
          bodies.push(newEndpoint);
          return { id: 7, config: { url: newEndpoint.url }, secret: 'whsec_a', warnings: [{ message: 'Unknown.' }] };
        },
      },
    }),
    // The parts of a session that the command uses.
  } as unknown as Session;
  const program = new Command();
  addEndpoints(
    program,
    (action) =>
      (...given) =>
        action(session, ...given),
  );
  await program.parseAsync(['endpoints', 'create', URL_OF_RECEIVER, ...options], { from: 'user' });
  return { body: bodies[0], lines, secrets };
}

describe('causeway endpoints create', () => {
  it('sends only the members that options name, and prints the secret and the warnings', async () => {
    const { body, lines } = await create([]);
    assert.deepEqual(body, { url: URL_OF_RECEIVER });
    assert.deepEqual(lines, [
      `Endpoint 7 receives events at ${URL_OF_RECEIVER}. Its signing secret: whsec_a`,
      'Warning: Unknown.',
    ]);
  });

  it('sends each option as its member', async () => {
    const filter = ['--types', 'deals.*, contacts.created', '--where', "object.stage = 'Won'", '--tags', 'vip'];
    const form = ['--body-format', 'cloudevents', '--header', 'X-Team: sales', '--header', 'X-Url: a:b'];
    const { body, secrets } = await create(
      [...filter, ...form, '--bearer-env', 'TOKEN', '--rate', '0.5', '--ordered'],
      { instance: 12 },
    );
    assert.deepEqual(body, {
      url: URL_OF_RECEIVER,
      eventTypes: ['deals.*', 'contacts.created'],
      where: "object.stage = 'Won'",
      instances: [12],
      tags: ['vip'],
      format: 'cloudevents',
      headers: { 'X-Team': 'sales', 'X-Url': 'a:b' },
      authentication: { type: 'bearer', token: 'a token' },
      maxPerSecond: 0.5,
      ordered: true,
    });
    assert.deepEqual(secrets, ['a token']);
  });

  for (const [options, message] of [
    [['--rate', 'fast'], '--rate must be a number, such as 10 or 0.5.'],
    [['--header', 'X-Team'], "'X-Team' is not a header, such as 'X-Team: sales'."],
    [['--bearer-env', 'EMPTY'], 'The environment variable EMPTY is not set.'],
    [['--bearer-env', 'TOKEN', '--auth-file', 'a.json'], 'Add --bearer-env or --auth-file, not both.'],
  ] as const) {
    it(`refuses ${options.join(' ')}`, async () => {
      await assert.rejects(create(options), { message });
    });
  }
});

import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import {
  type ChangesInput,
  type ChangesPage,
  defineConnector,
  defineObject,
  notFound,
} from '../../src/connector/index.ts';
import { type AppError, isAppError } from '../../src/errors.ts';
import type { NewEvent } from '../../src/events/model.ts';
import type { EarlyEnd } from '../../src/polls/run.ts';
import { composeResources } from '../../src/resources/index.ts';
import { RUN_OPTIONS, usePolls } from './single-runs.ts';

const NOW_MS = Date.UTC(2030, 0, 1);
const PAGE = 30;

type Action = 'created' | 'updated' | 'deleted';

/** A provider whose token is the number of the changes before it. Without `hasRecords`, records must be read one by one. */
function createLog({ hasRecords = true } = {}) {
  const log: { readonly id: string; readonly action: Action }[] = [];
  const requests: ChangesInput[] = [];
  let keptFrom = 0;
  let given: unknown;
  const read = ({ token, cursor }: ChangesInput): ChangesPage => {
    if (token === undefined) return { changes: [], token: String(log.length) };
    if (Number(token) < keptFrom) throw notFound('This token is too old.');
    const from = Number(cursor ?? token);
    const changes = log.slice(from, from + PAGE).map(({ id, action }) => ({
      ...{ id, action },
      ...(action !== 'deleted' && hasRecords && { record: { id } }),
    }));
    const end = from + changes.length;
    return { changes, token: String(end), ...(end < log.length && { next: String(end) }) };
  };
  return {
    requests,
    add: (action: Action, ...ids: readonly string[]) => log.push(...ids.map((id) => ({ id, action }))),
    forget: () => {
      keptFrom = log.length + 1;
      log.push({ id: 'lost', action: 'deleted' });
    },
    /** Makes the provider return this as its token. */
    give: (token: unknown) => {
      given = token;
    },
    page: (input: ChangesInput): ChangesPage => {
      requests.push(input);
      const page = read(input);
      return given === undefined ? page : { ...page, token: given as string };
    },
  };
}

type Log = ReturnType<typeof createLog>;

function connectorOf({ page }: Log) {
  return defineConnector({
    ...{ key: 'log', id: 990_102, name: 'Log', description: 'A provider of the tests.', hub: 'general' },
    auth: { type: 'none' },
    configuration: [
      { key: 'drive', type: 'string', description: 'The drive.' },
      { key: 'password', type: 'string', secret: true, description: 'A secret.' },
    ],
    baseUrl: () => 'https://log.example',
    hosts: ['log.example'],
    probe: { path: '/me' },
    objects: {
      entries: defineObject({
        fields: { id: { type: 'string' } },
        changes: { feed: { run: async (_, input) => page(input) } },
      }),
    },
  });
}

/** The ids `a1` to `a<count>`. */
const ids = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);

describe('a feed that continues from a token', () => {
  const polls = usePolls();

  /** A poller that ran once. */
  async function createPoll(options = RUN_OPTIONS, provided: Parameters<typeof createLog>[0] = {}) {
    const log = createLog(provided);
    const connector = connectorOf(log);
    const poll = await polls.add('entries', NOW_MS);
    const resources = composeResources({ clock: { ...SYSTEM_CLOCK, now: () => NOW_MS }, keys: {} as never }, {
      client: {
        execute: async (operation: { run: (...input: unknown[]) => unknown }, input: unknown) =>
          operation.run({}, input),
      },
      budget: { open: () => ({ close: () => undefined, keep: () => undefined, take: () => true, held: () => 0 }) },
      tokensOf: () => undefined,
      noteCredentials: async () => undefined,
    } as never);
    const found: NewEvent[] = [];
    let config = { drive: 'one', password: 'first' };
    let commits = 0;
    let failsAt = Number.POSITIVE_INFINITY;
    let diesAfter = false;

    /** Runs once. @returns the end, and what it counted */
    const run = async () =>
      poll.run({
        poll: await poll.claim(NOW_MS),
        instance: { settingsVersion: 1, connector, config, disabled: false, valid: true, refusedCalls: [] },
        ...{ nowMs: NOW_MS, resources, options },
        insert: async (_, events) => {
          if (events.length > 0 && ++commits >= failsAt) throw new Error('The process was killed.');
        },
        committed: (events) => {
          found.push(...events);
          if (events.length > 0 && diesAfter) throw new Error('The process was killed.');
        },
      });

    const { hasLostToken } = await run();
    expect(hasLostToken).to.equal(undefined);
    expect(log.requests.splice(0).map(({ token }) => token)).to.deep.equal([undefined]);
    return {
      log,
      run,
      replay: (from: Date, to: Date) =>
        poll.store.replay(polls.knex, { accountId: 1, instanceId: poll.instanceId, resource: 'entries' }, from, to),
      /** Kills the process in the transaction of the nth commit of events from now on. */
      failAt: (commit: number) => {
        [commits, failsAt] = [0, commit];
      },
      /** Kills the process after the next commit of events. */
      dieAfter: () => {
        diesAfter = true;
      },
      configure: (changed: Partial<typeof config>) => {
        config = { ...config, ...changed };
      },
      token: async () => (await poll.store.list(1, poll.instanceId))[0]?.feedToken,
      /** The events since the last look. */
      events: () => found.splice(0).map(({ type, objectId }) => `${type} ${objectId}`),
    };
  }

  it('begins without events, and then reports each change once', async () => {
    const { log, run, token, events } = await createPoll();
    expect(await token()).to.equal('0');
    log.add('created', 'a');
    log.add('updated', 'b');
    log.add('deleted', 'c');
    await run();
    expect(events()).to.deep.equal(['entries.created a', 'entries.updated b', 'entries.deleted c']);
    expect(await token()).to.equal('3');
    await run();
    expect(events()).to.deep.equal([]);
    expect(log.requests.map(({ token: sent }) => sent)).to.deep.equal(['0', '3']);
  });

  it('reports a second change of a record, and one that was created before it was reported as changed', async () => {
    const { log, run, events } = await createPoll();
    log.add('created', 'a');
    await run();
    log.add('created', 'a');
    await run();
    log.add('updated', 'a');
    await run();
    expect(events()).to.deep.equal(['entries.created a', 'entries.updated a', 'entries.updated a']);
  });

  for (const [commit, reported, hasRecords] of [
    [1, 0, true],
    [2, 30, true],
    [1, 0, false],
    [2, 20, false],
    // The second page has only deletions.
    [3, 30, false],
  ] as const) {
    const pages = hasRecords ? 'pages with records' : 'pages without records';
    it(`loses nothing and repeats nothing if the process is killed in commit ${commit} of ${pages}`, async () => {
      const { log, run, failAt, token, events } = await createPoll(RUN_OPTIONS, { hasRecords });
      log.add('created', ...ids('a', PAGE));
      log.add('deleted', ...ids('b', PAGE - 5));
      failAt(commit);
      const error: unknown = await run().catch((caught: unknown) => caught);
      expect(String(error)).to.contain('killed');
      const first = events();
      expect(first).to.have.length(reported);
      // The position moves only together with the last events of its page.
      expect(await token()).to.equal(reported >= PAGE ? String(PAGE) : '0');
      failAt(Number.POSITIVE_INFINITY);
      await run();
      expect([...first, ...events()].toSorted()).to.deep.equal(
        [
          ...ids('a', PAGE).map((id) => `entries.created ${id}`),
          ...ids('b', PAGE - 5).map((id) => `entries.deleted ${id}`),
        ].toSorted(),
      );
      expect(await token()).to.equal(String(2 * PAGE - 5));
    });
  }

  it('stores the token in the transaction of the events before it', async () => {
    const { log, run, dieAfter, token, events } = await createPoll();
    log.add('created', 'a', 'b');
    dieAfter();
    const error: unknown = await run().catch((caught: unknown) => caught);
    expect(String(error)).to.contain('killed');
    expect([events().length, await token()]).to.deep.equal([2, '2']);
  });

  it('continues in the next run where a run with many pages ended', async () => {
    const { log, run, token, events } = await createPoll({ ...RUN_OPTIONS, mostPages: 2 });
    log.add('deleted', ...ids('a', 5 * PAGE));
    const from: (string | undefined)[] = [];
    let end: EarlyEnd | undefined;
    do {
      const before = log.requests.length;
      ({ end } = await run());
      from.push(log.requests[before]?.token);
      if (end !== undefined) expect(end).to.deep.equal({ afterMs: 0, isWait: false });
    } while (end !== undefined);
    expect(from).to.deep.equal(['0', '60', '120']);
    expect(events()).to.deep.equal(ids('a', 5 * PAGE).map((id) => `entries.deleted ${id}`));
    expect(await token()).to.equal(String(5 * PAGE));
  });

  it('begins again where the provider has forgotten the token, says so, and reports what follows', async () => {
    const { log, run, token, events } = await createPoll();
    log.add('created', 'a');
    await run();
    expect(events()).to.deep.equal(['entries.created a']);
    log.forget();
    expect(await run()).to.include({ hasLostToken: true });
    expect(events()).to.deep.equal([]);
    expect(await token()).to.equal('2');
    log.add('deleted', 'a');
    expect(await run()).not.to.have.property('hasLostToken');
    expect(events()).to.deep.equal(['entries.deleted a']);
  });

  it('keeps its token with another secret, and begins again with another setting of the element', async () => {
    const { log, run, configure, events } = await createPoll();
    log.add('created', 'a');
    configure({ password: 'second' });
    await run();
    expect(events()).to.deep.equal(['entries.created a']);
    configure({ drive: 'two' });
    expect(await run()).not.to.have.property('hasLostToken');
    expect(log.requests.map(({ token }) => token)).to.deep.equal(['0', undefined]);
  });

  it('keeps its token when the poll is replayed, because it cannot go back', async () => {
    const { log, replay, run, token, events } = await createPoll();
    log.add('deleted', 'a');
    await run();
    await replay(new Date(NOW_MS - 3_600_000), new Date(NOW_MS));
    await run();
    expect(events()).to.deep.equal(['entries.deleted a']);
    expect(await token()).to.equal('1');
  });

  for (const [what, bad] of [
    ['is empty', ''],
    ['is too long', 'x'.repeat(4_001)],
    ['cannot be stored', 'a\0b'],
    ['is no text', 7],
  ] as const) {
    it(`stores nothing of a page whose token ${what}`, async () => {
      const { log, run, token, events } = await createPoll();
      log.add('created', 'a');
      log.give(bad);
      const error = (await run().catch((caught: unknown) => caught)) as AppError;
      expect(isAppError(error, 'PROVIDER_PROTOCOL')).to.equal(true);
      expect(error.message).to.equal(
        'The token of the feed of Log must have from 1 to 4000 characters that can be stored.',
      );
      expect([events(), await token()]).to.deep.equal([[], '0']);
      log.give(undefined);
      await run();
      expect(events()).to.deep.equal(['entries.created a']);
    });
  }
});

import { expect } from 'chai';
import { readPollSettings } from '../../src/instances/polling/poll-settings.ts';
import { type RunInput, type RunPorts, runPoll } from '../../src/polls/run.ts';
import { THINGS } from './things.ts';

const LEASE_MS = 300_000;

const START_MS = Date.UTC(2030, 0, 1);
const PAGES = { leaseMs: LEASE_MS, mostPages: 100, mostListed: 1000, mostPasses: 4 };

/** Polls a list that is compared as a whole, of whose pages the number is given. */
async function pollPages(
  pages: number,
  { clock, options, onPage }: { clock: { now: () => number }; options: typeof PAGES; onPage: (page: number) => void },
  advance: (leaseUntil: Date) => void = () => undefined,
): Promise<void> {
  const settings = readPollSettings({ 'event.notification.enabled': true, 'event.objects': 'notes' });
  const [resource] = settings?.resources ?? [];
  let page = 0;
  const ports = {
    store: {
      transaction: async (work: (via: unknown) => Promise<unknown>) => work(undefined),
      advance: async (_via: unknown, _poll: unknown, { leaseUntil }: { readonly leaseUntil: Date }) => {
        advance(leaseUntil);
        return true;
      },
      // All of it was there before.
      seen: async () => [],
      see: async () => undefined,
      forgetSeen: async () => undefined,
    },
    resources: {
      getObject: async () => Object(THINGS.objects).notes,
      listRecords: async () => {
        onPage(page++);
        return { records: [], pushdown: 'full', providerCalls: 1, ...(page < pages && { nextPage: String(page) }) };
      },
    },
    prepare: async () => ({ insert: async () => undefined, committed: () => undefined }),
    clock,
    options,
  } as unknown as RunPorts;
  const poll = { accountId: 1, instanceId: 2, resource: 'notes', kind: 'snapshot', watermark: new Date(START_MS) };
  const signal = new AbortController().signal;
  const input = { poll, instance: { connector: THINGS }, settings, resource, signal } as unknown as RunInput;
  await runPoll(ports, input, { events: 0, providerCalls: 0 });
}

describe('a run of a poll', () => {
  it('keeps its lease while it reads page after page without anything new', async () => {
    let nowMs = START_MS;
    let leaseUntilMs = nowMs + LEASE_MS;
    let read = 0;
    const onPage = (page: number) => {
      expect(nowMs, `at page ${page}`).to.be.lessThan(leaseUntilMs);
      nowMs += 100_000;
      read++;
    };
    await pollPages(10, { clock: { now: () => nowMs }, options: PAGES, onPage }, (leaseUntil) => {
      leaseUntilMs = leaseUntil.getTime();
    });
    expect(read).to.equal(10);
  });

  it('ends with an error at a list that never ends', async () => {
    let read = 0;
    const onPage = () => void read++;
    const options = { ...PAGES, mostListed: 20 };
    const error: unknown = await pollPages(Number.POSITIVE_INFINITY, {
      clock: { now: () => START_MS },
      options,
      onPage,
    }).catch((caught: unknown) => caught);
    expect(error).to.include({ code: 'PROVIDER_PROTOCOL' });
    expect(read).to.equal(21);
  });
});

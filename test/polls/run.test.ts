import { expect } from 'chai';
import { readPollSettings } from '../../src/instances/polling/poll-settings.ts';
import { type RunInput, type RunPorts, runPoll } from '../../src/polls/run.ts';
import { THINGS } from './things.ts';

const LEASE_MS = 300_000;

describe('a run of a poll', () => {
  it('keeps its lease while it reads page after page without anything new', async () => {
    let nowMs = Date.UTC(2030, 0, 1);
    let leaseUntilMs = nowMs + LEASE_MS;
    const clock = { now: () => nowMs };
    const settings = readPollSettings({ 'event.notification.enabled': true, 'event.objects': 'notes' });
    const [resource] = settings?.resources ?? [];
    let page = 0;
    const ports = {
      store: {
        transaction: async (work: (via: unknown) => Promise<unknown>) => work(undefined),
        advance: async (_via: unknown, _poll: unknown, { leaseUntil }: { readonly leaseUntil: Date }) => {
          leaseUntilMs = leaseUntil.getTime();
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
          expect(nowMs, `at page ${page}`).to.be.lessThan(leaseUntilMs);
          nowMs += 100_000;
          page++;
          return { records: [], pushdown: 'full', providerCalls: 1, ...(page < 10 && { nextPage: String(page) }) };
        },
      },
      prepare: async () => ({ insert: async () => undefined, committed: () => undefined }),
      clock,
      options: { leaseMs: LEASE_MS, mostPages: 100, mostPasses: 4 },
    } as unknown as RunPorts;
    const poll = { accountId: 1, instanceId: 2, resource: 'notes', kind: 'snapshot', watermark: new Date(nowMs) };
    const signal = new AbortController().signal;
    const input = { poll, instance: { connector: THINGS }, settings, resource, signal } as unknown as RunInput;
    await runPoll(ports, input, { events: 0, providerCalls: 0 });
    expect(page).to.equal(10);
  });
});

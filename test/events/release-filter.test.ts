import { expect } from 'chai';
import { readQueueFilter } from '../../src/events/deliveries/release-filter.ts';
import { thrownBy } from '../support/failures.ts';

const refusalOf = (where: string) => thrownBy(() => readQueueFilter(where));
const QUEUED = `channel = 'webhook' AND status = 'queued'`;

describe('the where of a release', () => {
  for (const [where, urls] of [
    [QUEUED, undefined],
    [`status='queued' and channel='webhook'`, undefined],
    [`(channel = 'webhook') AND NOT status != 'queued'`, undefined],
    [`channel IN ('webhook') AND status IN ('queued', 'queued')`, undefined],
    [`${QUEUED} AND ${QUEUED}`, undefined],
    [`${QUEUED} AND config.url = 'https://a.example'`, ['https://a.example']],
    [`config.url = 'it''s' AND ${QUEUED}`, [`it's`]],
    [`${QUEUED} AND config.url IN ('a', 'b')`, ['a', 'b']],
    [`${QUEUED} AND (config.url = 'a' OR config.url = 'b')`, ['a', 'b']],
    [`${QUEUED} AND config.url IN ('a', 'b') AND config.url IN ('b', 'c')`, ['b']],
    [`${QUEUED} AND config.url = 'a' AND config.url = 'b'`, []],
  ] as const) {
    it(`takes ${where}`, () => {
      expect(readQueueFilter(where)).to.deep.equal({ urls });
    });
  }

  const FORM = `The filter accepts only channel = 'webhook' AND status = 'queued', and at most config.url = '…' or config.url IN ('…', '…') besides.`;
  for (const [where, reason] of [
    [`status = 'queued'`, `channel = 'webhook' is missing.`],
    [`channel = 'webhook'`, `status = 'queued' is missing.`],
    [`config.url = 'a'`, `channel = 'webhook' is missing.`],
    [`channel = 'webhook' AND status = 'retrying'`, `'status' must be = 'queued' here.`],
    [`channel = 'webhook' AND status != 'queued'`, `'status' must be = 'queued' here.`],
    [`channel = 'webhook' AND status IN ('queued', 'retrying')`, `'status' must be = 'queued' here.`],
    [`channel = 'sms' AND status = 'queued'`, `'channel' must be = 'webhook' here.`],
    [`channel = 'WEBHOOK' AND status = 'queued'`, `'channel' must be = 'webhook' here.`],
    [`${QUEUED} AND id = 3`, `'id' cannot filter a queue.`],
    [`${QUEUED} AND event.type = 'a.created'`, `'event.type' cannot filter a queue.`],
    [`${QUEUED} AND config.url LIKE 'https:%'`, `'config.url' accepts only = and IN, not LIKE.`],
    [`${QUEUED} AND config.url != 'a'`, `'config.url' accepts only = and IN, not !=.`],
    [`${QUEUED} AND config.url IS NOT NULL`, `'config.url' accepts only = and IN, not IS NOT NULL.`],
    [`${QUEUED} AND config.url NOT IN ('a', 'b')`, `'config.url' accepts only = and IN, not NOT IN.`],
  ] as const) {
    it(`refuses ${where}, and says why`, () => {
      const error = refusalOf(where);
      expect(error.code).to.equal('WHERE_UNSUPPORTED');
      expect(error.message).to.equal(`${reason} ${FORM}`);
      expect(error.details?.[0]?.message).to.equal(reason);
    });
  }

  it('refuses alternatives', () => {
    const error = refusalOf(`${QUEUED} OR config.url = 'a'`);
    expect(error.code).to.equal('WHERE_UNSUPPORTED');
    expect(error.message).to.match(/alternatives are not accepted\. The filter accepts/);
    expect(refusalOf(`${QUEUED} AND (config.url = 'a' OR id = 1)`).message).to.match(/alternatives are not accepted/);
  });

  it('names every fault', () => {
    const messages = refusalOf(`id = 1 AND status = 'delivered'`).details?.map(({ message }) => message);
    expect(messages).to.deep.equal([
      `'id' cannot filter a queue.`,
      `'status' must be = 'queued' here.`,
      `channel = 'webhook' is missing.`,
      `status = 'queued' is missing.`,
    ]);
  });

  it('refuses what does not parse or names no field, as every other filter does', () => {
    expect(refusalOf(`${QUEUED} AND`).code).to.equal('WHERE_SYNTAX');
    expect(refusalOf(`${QUEUED} AND config.uri = 'a'`).message).to.equal(
      "Unknown field 'config.uri'. Did you mean 'config.url'?",
    );
  });
});

import { expect } from 'chai';
import { createEgress, EgressError } from '../../src/egress/index.ts';
import {
  closeKeptAlive,
  FAILURES,
  type MisbehavingReceiver,
  startMisbehavingReceiver,
} from './misbehaving-receiver.ts';
import type { Behaviour } from './misbehaving-server.ts';

const TIMEOUT_MS = 400;

describe('a misbehaving receiver', () => {
  let receiver: MisbehavingReceiver;
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  before(async () => {
    receiver = await startMisbehavingReceiver();
  });
  after(async () => {
    await receiver.close();
    await egress.close();
  });

  /** The status, or why there is none. */
  async function push(path: string): Promise<number | string> {
    const url = receiver.callbackUrl(path);
    try {
      const request = { url, method: 'POST', body: '{}', timeoutMs: TIMEOUT_MS, maxBytes: 4096 } as const;
      return (await egress.request(request)).status;
    } catch (error) {
      if (error instanceof EgressError) return error.reason;
      throw error;
    }
  }

  it('takes what it is sent unless it is told otherwise', async () => {
    expect(await push('/well')).to.equal(204);
    expect(receiver.requestsTo('/well').map(({ body }) => body)).to.deep.equal(['{}']);
  });

  for (const [name, behaviour] of Object.entries<Behaviour>(FAILURES)) {
    it(`never answers a success: ${name}`, async () => {
      receiver.answer('/failing', behaviour);
      const outcome = await push('/failing');
      expect(typeof outcome === 'string' || outcome >= 300, String(outcome)).to.equal(true);
    });
  }

  it('closes connections that it said it would keep', async () => {
    receiver.answer('/closing', closeKeptAlive);
    const before = receiver.connections();
    const outcomes = [await push('/closing'), await push('/closing'), await push('/closing')];
    expect(outcomes).to.include(204);
    expect(receiver.connections()).to.be.greaterThan(before);
  });
});

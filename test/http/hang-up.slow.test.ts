import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { assertThere, isHangUp, signalEnd } from '../../src/http/connection.ts';

function answerTo(): ServerResponse {
  return new ServerResponse(new IncomingMessage(new Socket()));
}

describe('the end of a request', () => {
  it('is told at once to whoever asks when the caller has gone already', () => {
    const response = answerTo();
    expect(() => assertThere(response)).not.to.throw();
    response.destroy();
    const { aborted, reason } = signalEnd(response);
    expect(aborted && isHangUp(reason)).to.equal(true);
    expect(() => assertThere(response)).to.throw('The caller hung up.');
  });

  it('comes to a few in each turn when hundreds hang up in one moment', async () => {
    await nextTurn();
    const responses = Array.from({ length: 40 }, answerTo);
    const signals = responses.map(signalEnd);
    for (const response of responses) response.emit('close');
    const perTurn: number[] = [];
    let ended = 0;
    while (ended < signals.length) {
      await nextTurn();
      const now = signals.filter(({ aborted }) => aborted).length;
      perTurn.push(now - ended);
      ended = now;
    }
    // This test looks between the turns, and may see those of two together.
    expect(Math.max(...perTurn)).to.be.at.most(16);
    expect(signals.every(({ reason }) => isHangUp(reason))).to.equal(true);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { authorize } from '../../src/oauth.js';

const NEVER = new AbortController().signal;

describe('the callback of OAuth', () => {
  it('takes the code of the page that was opened, and of no other one', async () => {
    const statuses: number[] = [];
    const visit = async (url: string) => statuses.push((await fetch(url)).status);
    const { code, callbackUrl } = await authorize({ port: 0, signal: NEVER }, async (callback, state) => {
      await visit(`${callback}?code=stolen&state=guess`);
      await visit(`${callback}?code=stolen`);
      await visit(`${new URL(callback).origin}/favicon.ico`);
      await visit(`${callback}?code=mine&state=${state}`);
    });
    assert.equal(code, 'mine');
    assert.deepEqual(statuses, [400, 400, 404, 200]);
    await assert.rejects(fetch(callbackUrl));
  });

  it('says what the provider said when the user says no', async () => {
    const refused = authorize({ port: 0, signal: NEVER }, async (callback, state) => {
      await fetch(`${callback}?error=access_denied&error_description=Not%20today&state=${state}`);
    });
    await assert.rejects(refused, /Not today/);
  });

  it('ends when nobody waits any more', async () => {
    const controller = new AbortController();
    const waiting = authorize({ port: 0, signal: controller.signal }, async () =>
      controller.abort(new Error('enough')),
    );
    await assert.rejects(waiting, /enough/);
  });
});

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { codeBlocks } from '../support/code-blocks.ts';
import { QUICK, startReceiver } from './events/receiving.ts';
import { pageOf } from './support/connect-page.ts';
import { SHOP } from './support/simulated.ts';

const BLOCKS = codeBlocks(
  readFileSync(resolve(import.meta.dirname, '../../docs/reference/connect-sessions.md'), 'utf8'),
);
const [setOrigins = '', createSession = '', getSession = '', setBranding = ''] = BLOCKS.filter(
  ({ language }) => language === 'sh',
).map(({ code }) => code);
const [event = '{}'] = BLOCKS.filter(({ language }) => language === 'json').map(({ code }) => code);

describe('docs/reference/connect-sessions.md', () => {
  const service = useSharedApp({}, { engineOptions: QUICK });

  it('leads from the origins of a product to the token of an instance, and to its event', async () => {
    const run = async (command: string, session = '') => {
      const env = {
        ...process.env,
        CAUSEWAY: service.app.baseUrl,
        SECRETS: `User ${service.userSecret}, Organization ${service.organizationSecret}`,
        SESSION: session,
      };
      return JSON.parse((await promisify(execFile)('bash', ['-euc', command], { env })).stdout);
    };
    const receiver = await startReceiver();
    const url = receiver.open('connected');
    await service.send('PATCH', '/accounts/settings', { 'notification.operational.callback.url': url });
    expect((await run(setOrigins)).origins).to.deep.equal(['http://localhost:3000', 'https://app.example.com']);
    const session = await run(createSession);
    const branding = await run(setBranding);
    expect((await pageOf(service, session).call()).body.branding).to.deep.equal(branding);
    const configuration = { 'base.url': SHOP['base.url'] };
    const { body } = await pageOf(service, session).connect({ elementKey: 'odata', configuration });
    const { id, instanceId, token } = await run(getSession, String(session.id));
    expect(body.returnUrl).to.equal(`https://app.example.com/connected?instanceId=${instanceId}&sessionId=${id}`);
    const [told] = await receiver.waitFor(url, 1);
    const { type, data } = JSON.parse(event);
    expect(told?.body).to.deep.include({
      type,
      data: { ...data, accountId: service.accountId, sessionId: id, instanceId, token },
    });
    await receiver.close();
  });
});

import { createHmac } from 'node:crypto';
// The whole library has 46,000 lines of types.
import { verifySlackRequest } from '@slack/bolt/dist/receivers/verify-request.js';
import { expect } from 'chai';
import {
  type ConnectorContext,
  type ProviderRequest,
  type ProviderResponse,
  rejected,
  type WebhookCall,
} from '#connector';
import { prepareQuery } from '../../src/where/index.ts';
import slack from './index.ts';
import { messages } from './messages.ts';
import { channels, files } from './objects.ts';
import { appWebhooks, TEAM } from './webhooks.ts';

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';

/** Returns the query of a list. */
function asked(object: typeof messages, where: string): unknown {
  const { plan } = prepareQuery({ where, orderBy: undefined }, object);
  return plan.queries.map(({ native }) => {
    if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
    const input = { filter: native, parameters: {}, fields: [], orderBy: [], limit: 5 };
    const { limit: _, count: __, page: ___, ...rest } = object.list.request(input, {}).query ?? {};
    return JSON.parse(JSON.stringify(rest));
  });
}

describe('filters of Slack', () => {
  it('read a channel between two timestamps', () => {
    const where = "channel = 'C012AB3CD' AND time >= '2024-02-29T12:00:00.5Z' AND time <= '2024-02-29T13:00:00Z'";
    expect(asked(messages, where)).to.deep.equal([
      { channel: 'C012AB3CD', oldest: '1709208000.500000', latest: '1709211600.000999', inclusive: true },
    ]);
  });

  it('find files by user and day', () => {
    const where = "user = 'U012AB3CD' AND created >= '2024-02-29T12:00:00Z'";
    expect(asked(files, where)).to.deep.equal([{ user: 'U012AB3CD', ts_from: '1709208000' }]);
  });
});

describe('Slack', () => {
  const judge = (body: unknown) => slack.classify?.({ status: 200, headers: {}, body } satisfies ProviderResponse);

  it('fails with the status 200', () => {
    expect(judge({ ok: true })).to.equal(undefined);
    expect(judge({ ok: false, error: 'channel_not_found' })).to.include({
      kind: 'notFound',
      message: 'channel_not_found',
    });
    expect(judge({ ok: false, error: 'missing_scope', needed: 'files:read' })).to.deep.equal({
      kind: undefined,
      message: 'missing_scope; needed scope: files:read',
    });
  });
});

describe('a channel of Slack whose topic is refused', () => {
  it('is reported as created, with its id', async () => {
    const send = ({ path }: ProviderRequest): Promise<ProviderResponse> => {
      if (path !== '/conversations.create') return Promise.reject(rejected('too_long'));
      return Promise.resolve({ status: 200, headers: {}, body: { ok: true, channel: { id: 'C1' } } });
    };
    const { create } = channels;
    if (create === undefined || !('run' in create)) throw new Error('A function was expected.');
    // The creation uses no more of its context.
    const context = { send, signal: new AbortController().signal } as ConnectorContext;
    const failure = await create
      .run(context, { values: { name: 'a', topic: 'b' }, fields: [] })
      .catch((error: unknown) => error);
    expect(String(failure)).to.include("The channel was created with the id 'C1'.");
  });
});

describe('webhooks of Slack', () => {
  const callOf = (body: object, time = 1_709_208_000): WebhookCall => {
    const text = JSON.stringify(body);
    const signature = createHmac('sha256', SECRET).update(`v0:${time}:${text}`).digest('hex');
    const headers: WebhookCall['headers'] = {
      'x-slack-signature': `v0=${signature}`,
      'x-slack-request-timestamp': String(time),
    };
    return { method: 'POST', url: '', headers, body: Buffer.from(text) };
  };
  const event = (inner: object, team = 'T012AB3CD') => ({
    ...{
      token: 'x',
      team_id: team,
      api_app_id: 'A1',
      type: 'event_callback',
      event_id: 'Ev1',
      event_time: 1_709_208_000,
    },
    event: inner,
  });
  const read = (inner: object, team?: string) =>
    appWebhooks
      .events(callOf(event(inner, team)), { [TEAM]: 'T012AB3CD' })
      .map(({ objectName, action, objectId, id }) => [objectName, action, objectId, id]);

  it('are genuine where the library of Slack says so', () => {
    const time = Math.floor(Date.now() / 1000);
    const genuine = callOf(event({ type: 'message' }), time);
    const altered: WebhookCall = { ...genuine, body: Buffer.from('{}') };
    const unversioned: WebhookCall = { ...genuine, headers: { ...genuine.headers, 'x-slack-signature': 'v1=00' } };
    const old = callOf(event({ type: 'message' }), time - 400);
    const { verify } = appWebhooks;
    for (const call of [genuine, altered, unversioned, old]) {
      let isGenuine = true;
      try {
        verifySlackRequest({
          signingSecret: SECRET,
          body: Buffer.from(call.body).toString(),
          headers: {
            'x-slack-signature': String(call.headers['x-slack-signature']),
            'x-slack-request-timestamp': Number(call.headers['x-slack-request-timestamp']),
          },
        });
      } catch {
        isGenuine = false;
      }
      const verdict = verify !== 'unsigned' && verify(call, { secret: SECRET, now: Date.now(), config: {} });
      expect(verdict === 'genuine').to.equal(isGenuine);
    }
    expect(
      appWebhooks.handshake?.(callOf({ type: 'url_verification', challenge: '3eZbrw1aB' }), { secret: SECRET })?.body,
    ).to.equal('3eZbrw1aB');
  });

  it('name the record', () => {
    const ts = '1709208000.000100';
    const channel = 'C012AB3CD';
    expect(read({ type: 'message', channel, ts })).to.deep.equal([['messages', 'created', `${channel}-${ts}`, 'Ev1']]);
    const changed = { type: 'message', subtype: 'message_changed', channel, message: { ts }, ts: '1709208001.000100' };
    expect(read(changed)).to.deep.equal([['messages', 'updated', `${channel}-${ts}`, 'Ev1']]);
    const deleted = { type: 'message', subtype: 'message_deleted', channel, deleted_ts: ts, ts: '1709208001.000100' };
    expect(read(deleted)).to.deep.equal([['messages', 'deleted', `${channel}-${ts}`, 'Ev1']]);
    const disabled = { type: 'subteam_updated', subteam: { id: 'S1', date_delete: 1_709_208_000 } };
    expect(read(disabled)).to.deep.equal([['usergroups', 'deleted', 'S1', 'Ev1']]);
    expect(read({ type: 'channel_archive', channel })).to.deep.equal([['channels', 'updated', channel, 'Ev1']]);
    expect(read({ type: 'reaction_added' })).to.deep.equal([]);
    expect(read({ type: 'message', channel, ts }, 'T000000000')).to.deep.equal([]);
  });
});

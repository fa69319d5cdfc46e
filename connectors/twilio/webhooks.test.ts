import { expect } from 'chai';
import twilio from 'twilio';
import type { WebhookCall } from '#connector';
import { deliver } from './simulator.ts';
import { accountWebhooks } from './webhooks.ts';

const TOKEN = '12345678901234567890123456789012';
const URL = 'https://causeway.example.com/events/twilio/key?a=%2B1&b=it%27s';
const MESSAGE = { MessageSid: `SM${'1'.repeat(32)}`, SmsStatus: 'received', From: '+15551230000', Body: 'a b & c=é' };

function callOf(
  params: Readonly<Record<string, string | readonly string[]>>,
  signature: string | undefined,
): WebhookCall {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  const body = Buffer.from(new URLSearchParams(pairs).toString());
  return { method: 'POST', url: URL, headers: { 'x-twilio-signature': signature }, body };
}

function verdictOf(call: WebhookCall, secret = TOKEN) {
  const { verify } = accountWebhooks;
  return verify === 'unsigned' ? verify : verify(call, { secret, now: 0, config: {} });
}

describe('webhooks of Twilio', () => {
  it('are signed as Twilio’s own package signs', () => {
    const forms: readonly Readonly<Record<string, string | readonly string[]>>[] = [
      MESSAGE,
      {},
      { b: '2', a: '1', B: '0' },
      { MediaUrl: ['z', 'a', 'a'], Media: 'x' },
      { ä: 'ö', '': '' },
    ];
    for (const params of forms) {
      const signature = twilio.getExpectedTwilioSignature(TOKEN, URL, params);
      expect(twilio.validateRequest(TOKEN, signature, URL, params)).to.equal(true);
      expect(verdictOf(callOf(params, signature)), JSON.stringify(params)).to.equal('genuine');
      expect(verdictOf(callOf(params, signature), 'another token')).to.equal('forged');
      expect(verdictOf(callOf({ ...params, More: '1' }, signature))).to.equal('forged');
      expect(verdictOf({ ...callOf(params, signature), url: `${URL}1` })).to.equal('forged');
    }
    expect(verdictOf(callOf(MESSAGE, undefined))).to.equal('unsigned');
  });

  it('of the simulator pass at Twilio’s own package', () => {
    const { headers, url } = deliver({ form: MESSAGE }, URL, TOKEN);
    expect(twilio.validateRequest(TOKEN, headers['x-twilio-signature'] ?? '', url, MESSAGE)).to.equal(true);
  });

  it('tell of messages, calls and recordings', () => {
    const eventsOf = (params: Readonly<Record<string, string>>) =>
      accountWebhooks
        .events(callOf(params, ''), {})
        .map(({ id, action, objectName }) => [id, `${objectName}.${action}`]);
    const [sm, ca, re] = ['SM1', 'CA1', 'RE1'];
    expect(eventsOf({ MessageSid: sm, SmsStatus: 'received' })).to.deep.equal([['SM1:received', 'messages.created']]);
    const sent = { MessageSid: sm, SmsStatus: 'sent', MessageStatus: 'sent' };
    expect(eventsOf(sent)).to.deep.equal([['SM1:sent', 'messages.updated']]);
    expect(eventsOf({ CallSid: ca, CallStatus: 'ringing' })).to.deep.equal([['CA1:ringing', 'calls.created']]);
    const recorded = { CallSid: ca, RecordingSid: re, RecordingStatus: 'completed' };
    expect(eventsOf(recorded)).to.deep.equal([['RE1:completed', 'recordings.created']]);
    expect(eventsOf({ EventType: 'onMessageAdded' })).to.deep.equal([]);
    expect(accountWebhooks.events(callOf(MESSAGE, ''), {})[0]?.raw).to.deep.equal(MESSAGE);
  });
});

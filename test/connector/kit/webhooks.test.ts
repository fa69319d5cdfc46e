import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  type HmacOptions,
  handshakes,
  type WebhookCall,
  type WebhookVerdict,
  webhooks,
} from '../../../src/connector/index.ts';
import { anyCharacter } from '../../support/characters.ts';

const NOW = Date.parse('2026-01-31T08:30:00Z');

function call(given: Partial<Omit<WebhookCall, 'body'>> & { readonly body?: string | Uint8Array }): WebhookCall {
  const { body = '', ...rest } = given;
  return { method: 'POST', url: 'https://hooks.example/x', headers: {}, ...rest, body: Buffer.from(body) };
}

const GITHUB: HmacOptions = {
  header: 'x-hub-signature-256',
  algorithm: 'sha256',
  encoding: 'hex',
  signatures: (text) => [text.replace(/^sha256=/, '')],
};

const SLACK: HmacOptions = {
  header: 'x-slack-signature',
  algorithm: 'sha256',
  encoding: 'hex',
  signatures: (text) => [text.replace(/^v0=/, '')],
  signed: ({ headers, body }) => [`v0:${headers['x-slack-request-timestamp']}:`, body],
  signedAt: ({ headers }) => headers['x-slack-request-timestamp'],
};

/** The address, then every parameter of the form by name. */
const TWILIO: HmacOptions = {
  header: 'x-twilio-signature',
  algorithm: 'sha1',
  encoding: 'base64',
  signed: ({ url, body }) => [
    url,
    ...[...new URLSearchParams(Buffer.from(body).toString())].toSorted().map((pair) => pair.join('')),
  ],
};

const STANDARD: HmacOptions = {
  header: 'webhook-signature',
  algorithm: 'sha256',
  encoding: 'base64',
  signatures: (text) => text.split(' ').flatMap((each) => (each.startsWith('v1,') ? [each.slice(3)] : [])),
  signed: ({ headers, body }) => [`${headers['webhook-id']}.${headers['webhook-timestamp']}.`, body],
  signedAt: ({ headers }) => headers['webhook-timestamp'],
  key: (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
};

interface Example {
  readonly options: HmacOptions;
  readonly secret: string;
  readonly sent: WebhookCall;
  readonly now: number;
}

/** As the providers publish them. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  GitHub: {
    options: GITHUB,
    secret: "It's a Secret to Everybody",
    sent: call({
      headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
      body: 'Hello, World!',
    }),
    now: NOW,
  },
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  Slack: {
    options: SLACK,
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    sent: call({
      headers: {
        'x-slack-request-timestamp': '1531420618',
        'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      },
      body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    }),
    now: 1531420618_000,
  },
  // https://www.twilio.com/docs/usage/security
  Twilio: {
    options: TWILIO,
    secret: '12345',
    sent: call({
      url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
      headers: { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
      body: new URLSearchParams({
        To: '+18005551212',
        From: '+14158675309',
        Digits: '1234',
        Caller: '+14158675309',
        CallSid: 'CA1234567890ABCDE',
      }).toString(),
    }),
    now: NOW,
  },
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
  'Standard Webhooks': {
    options: STANDARD,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    sent: call({
      headers: {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,Zm9v v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      body: '{"test": 2432232314}',
    }),
    now: 1614265330_000,
  },
};

describe('signatures of calls', () => {
  for (const [name, { options, secret, sent, now }] of Object.entries(EXAMPLES)) {
    const verify = webhooks.hmac(options);
    const judged = (changed: Partial<WebhookCall>, known = { secret, now }): WebhookVerdict =>
      verify({ ...sent, ...changed }, { ...known, config: {} });

    it(`are good in the example that ${name} publishes, and forged when anything is different`, () => {
      expect(judged({})).to.equal('genuine');
      expect(judged({ body: Buffer.concat([sent.body, Buffer.from(' ')]) })).to.equal('forged');
      expect(judged({}, { secret: `AAAA${secret.slice(4)}`, now })).to.equal('forged');
      const header = sent.headers[options.header] ?? '';
      for (const wrong of [header.slice(0, -4), `${header}00`, '!', 'v1,', 'sha256=']) {
        expect(judged({ headers: { ...sent.headers, [options.header]: wrong } })).to.equal('forged');
      }
    });

    it(`are missed where there is none: ${name}`, () => {
      for (const none of [undefined, '']) {
        expect(judged({ headers: { ...sent.headers, [options.header]: none } })).to.equal('unsigned');
      }
    });
  }

  it('are stale after five minutes, and before', () => {
    const { sent, secret, now } = EXAMPLES.Slack ?? {};
    if (sent === undefined || secret === undefined || now === undefined) throw new Error('There is an example.');
    const judged = (later: number, tolerance?: number) =>
      webhooks.hmac({ ...SLACK, ...(tolerance !== undefined && { tolerance }) })(sent, {
        secret,
        now: now + later,
        config: {},
      });
    expect([0, 300_000, -300_000, 300_001, -300_001].map((later) => judged(later))).to.deep.equal([
      ...['genuine', 'genuine', 'genuine'],
      ...['stale', 'stale'],
    ]);
    expect([judged(30_000, 30), judged(30_001, 30)]).to.deep.equal(['genuine', 'stale']);
  });

  it('are at no time when they say none', () => {
    for (const time of [undefined, '', 'soon']) {
      const headers = { 'x-slack-request-timestamp': time };
      const signature = createHmac('sha256', 's').update(`v0:${time}:`).digest('hex');
      const sent = call({ headers: { ...headers, 'x-slack-signature': `v0=${signature}` } });
      expect(webhooks.hmac(SLACK)(sent, { secret: 's', now: NOW, config: {} })).to.equal('stale');
    }
  });

  it('are over the bytes, whatever they are, as another implementation makes them', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.uint8Array({ minLength: 24, maxLength: 64 }), (text, key) => {
        const secret = `whsec_${Buffer.from(key).toString('base64')}`;
        const body = Buffer.from(text).toString();
        const signature = new Webhook(secret).sign('msg_1', new Date(NOW), body);
        const headers = {
          'webhook-id': 'msg_1',
          'webhook-timestamp': String(NOW / 1000),
          'webhook-signature': signature,
        };
        expect(webhooks.hmac(STANDARD)(call({ headers, body }), { secret, now: NOW, config: {} })).to.equal('genuine');
      }),
    );
    const bytes = Uint8Array.of(0xff, 0xfe, 0x00, 0x80);
    const headers = { 'x-hub-signature-256': createHmac('sha256', 's').update(bytes).digest('hex') };
    expect(webhooks.hmac(GITHUB)(call({ headers, body: bytes }), { secret: 's', now: NOW, config: {} })).to.equal(
      'genuine',
    );
  });
});

describe('secrets that come with the call', () => {
  const known = { secret: 'tok€n', now: NOW, config: {} };

  it('are compared wherever they are', () => {
    const places = [
      [webhooks.token({ header: 'x-token' }), (token: string) => call({ headers: { 'x-token': token } })],
      [
        webhooks.token({ query: 'token' }),
        (token: string) => call({ url: `https://a.example/?token=${encodeURIComponent(token)}` }),
      ],
      [
        webhooks.token({ body: ['auth', 'token'] }),
        (token: string) => call({ body: JSON.stringify({ auth: { token } }) }),
      ],
    ] as const;
    for (const [verify, callWith] of places) {
      expect(verify(callWith('tok€n'), known)).to.equal('genuine');
      for (const wrong of ['tok€', 'tok€n2', 'TOK€N']) expect(verify(callWith(wrong), known)).to.equal('forged');
      expect([verify(callWith(''), known), verify(call({ body: '<html>' }), known)]).to.deep.equal([
        'unsigned',
        'unsigned',
      ]);
    }
  });
});

describe('bodies of webhooks', () => {
  it('are read with all digits of their numbers, and without a byte order mark', () => {
    const body = webhooks.json(call({ body: '\ufeff{"id":9007199254740993.10}' }));
    expect(JSON.stringify(body)).to.equal('{"id":9007199254740993.10}');
    expect(() => webhooks.json(call({ body: '<html>' }))).to.throw(SyntaxError);
  });

  it('are read as forms', () => {
    expect([...webhooks.form(call({ body: 'From=%2B1555&Body=a+b' }))]).to.deep.equal([
      ['From', '+1555'],
      ['Body', 'a b'],
    ]);
  });
});

describe('handshakes', () => {
  const known = { secret: 's' };

  it('send back the text of the question, which no browser takes for a page', () => {
    const echo = handshakes.echo({ query: 'challenge' });
    const asked = call({ method: 'GET', url: 'https://hooks.example/x?challenge=%3Cb%3E1' });
    expect(echo(asked, known)).to.deep.equal({
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
      body: '<b>1',
    });
  });

  it('take no event for a question', () => {
    const echo = handshakes.echo({ query: 'challenge' });
    expect(echo(call({ url: 'https://hooks.example/x?challenge=1', body: '{"event":1}' }), known)).to.equal(undefined);
    expect(handshakes.echo({ body: ['challenge'] })(call({ body: '{"event":1}' }), known)).to.equal(undefined);
  });

  it('send it back in a header, but nothing that could end one', () => {
    const echo = handshakes.echo({ header: 'x-hook-secret' }, { header: 'x-hook-secret' });
    const response = { status: 200, headers: { 'x-hook-secret': 'abc' }, body: '' };
    expect(echo(call({ headers: { 'x-hook-secret': 'abc' } }), known)).to.deep.equal(response);
    expect(echo(call({ headers: { 'x-hook-secret': 'abc\r\nset-cookie: x' } }), known)).to.equal(undefined);
  });

  it('show that the secret is known', () => {
    // https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint
    const challenge = handshakes.challenge({
      where: { body: ['payload', 'plainToken'] },
      algorithm: 'sha256',
      encoding: 'hex',
      response: (plainToken, encryptedToken) => ({ plainToken, encryptedToken }),
    });
    const asked = call({
      body: JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken: 'qgg8v' } }),
    });
    const encryptedToken = createHmac('sha256', 's').update('qgg8v').digest('hex');
    expect(challenge(asked, known)).to.deep.equal({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ plainToken: 'qgg8v', encryptedToken }),
    });
    expect(challenge(call({ body: '{}' }), known)).to.equal(undefined);
  });
});

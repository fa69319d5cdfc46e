import { expect } from 'chai';
import { createLogger, type Logger } from '../src/log.ts';
import { createRedactor } from '../src/redaction.ts';
import { createTrace, inBackground, withTrace } from '../src/trace.ts';

const CANARY = 'caña/ry+"7f\\3=?&x y';

describe('createLogger', () => {
  function logLines(
    write: (log: Logger) => void,
    { level = 'info', secret = CANARY }: { readonly level?: 'info' | 'silent'; readonly secret?: string } = {},
  ): string {
    const lines: string[] = [];
    const redactor = createRedactor([secret]);
    write(createLogger({ level, redactor, destination: { write: (line) => lines.push(line) } }));
    return lines.join('');
  }

  const record = (write: (log: Logger) => void, secret?: string) =>
    JSON.parse(logLines(write, { ...(secret && { secret }) }));

  it('writes one JSON object a line with level and time', () => {
    const line = JSON.parse(logLines((log) => log.info({ port: 8080 }, 'listening')));
    expect(line).to.include({ level: 'info', port: 8080, msg: 'listening' });
    expect(new Date(line.time).toISOString()).to.equal(line.time);
  });

  it('writes a known secret nowhere: not in messages, fields, child fields, errors or their causes', () => {
    const written = logLines((log) => {
      log.info(`token ${CANARY}`);
      log.info({ url: `https://example.com/?q=${encodeURIComponent(CANARY)}` });
      log.child({ body: JSON.stringify({ a: CANARY }) }).warn('child');
      log.error({ err: new Error('outer', { cause: new Error(`inner ${CANARY}`) }) }, 'failed');
      log.error(new Error(CANARY));
    });
    expect(written.split('\n')).to.have.length(6);
    expect(written).to.not.contain('7f');
    expect(written.match(/\[redacted\]/g)?.length).to.be.at.least(5);
  });

  it('knows the secrets of the call that a line is about, for that line', () => {
    const redactor = createRedactor(['secret-of-the-call']);
    const written = logLines((log) => {
      log.error(
        { redactor, err: new Error('with secret-of-the-call'), path: '/secret-of-the-call' },
        'a secret-of-the-call',
      );
      log.info('secret-of-the-call');
    });
    const [first = '', second = ''] = written.split('\n');
    expect(first).to.contain('"path":"/[redacted]"').and.contain('"msg":"a [redacted]"').and.not.contain('of-the-call');
    expect(JSON.parse(first)).to.not.have.property('redactor');
    expect(second).to.contain('"msg":"secret-of-the-call"');
  });

  it('names the request that is worked on, whoever writes, and knows its secrets', async () => {
    const trace = { ...createTrace('request-1'), redactor: createRedactor(['secret-of-the-call']) };
    const written: string[] = [];
    const log = createLogger({ level: 'info', destination: { write: (line) => written.push(line) } });
    await withTrace({ trace, span: undefined }, async () => {
      await Promise.resolve();
      log.child({ room: 'deep' }).warn({ err: new Error('with secret-of-the-call') });
      log.info({ requestId: 'another' }, 'about another');
      inBackground(() => log.info('of nobody'));
    });
    log.info('afterwards');
    const [deep, another, ...others] = written.map((line) => JSON.parse(line));
    expect(deep).to.include({ requestId: 'request-1', room: 'deep', msg: 'with [redacted]' });
    expect(another).to.include({ requestId: 'another' });
    for (const line of others) expect(line).not.to.have.property('requestId');
  });

  for (const secret of ['request"}', '"level":"info"', '","msg":"', '"time":"2', '\\\\\\\\\\\\', 'status', 'request']) {
    it(`writes well-formed JSON with the same members, though a secret is ${secret}`, () => {
      const line = record((log) => log.info({ status: 200, text: `a ${secret} b` }, 'request'), secret);
      expect(Object.keys(line)).to.deep.equal(['level', 'time', 'status', 'text', 'msg']);
      expect(line).to.include({ level: 'info', status: 200 });
      if (secret.length >= 6) expect(line.text).to.equal('a [redacted] b');
    });
  }

  it('keeps the code of an error, and drops a code elsewhere', () => {
    const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', address: 'x' });
    const line = record((log) => log.info({ err: error, query: { code: '4/P7q7W91a' }, exit: { code: 1 } }));
    expect(line.err).to.include({ type: 'Error', code: 'ECONNREFUSED', address: 'x' });
    expect([line.query, line.exit]).to.deep.equal([{ code: '[redacted]' }, { code: 1 }]);
    expect(line.msg).to.equal('refused');
  });

  it('writes what has a form of its own in JSON in that form, and errors within errors', () => {
    const many = new AggregateError([new Error('one'), new Error('two')], 'several');
    const line = record((log) =>
      log.info({ at: new Date(0), url: new URL('https://x.example'), many, list: [1, 'a'] }),
    );
    expect(line).to.deep.include({ at: '1970-01-01T00:00:00.000Z', url: 'https://x.example/', list: [1, 'a'] });
    expect(line.many.aggregateErrors.map(({ message }: Error) => message)).to.deep.equal(['one', 'two']);
  });

  it('writes a bounded line, whatever is in the record', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const error = new Error('x'.repeat(1_000_000), { cause: 'y' });
    error.cause = error;
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`member ${at}`, { at }]));
    const line = logLines((log) => log.error({ circle, err: error, wide, list: Array(100_000).fill('text') }));
    expect(line.length).to.be.below(200_000);
    expect(JSON.parse(line)).to.include({ level: 'error' });
  });

  for (const key of [
    ...['authorization', 'password', 'secret', 'token', 'apiKey', 'cookie', 'Set-Cookie', 'client_secret'],
    ...['refresh_token', 'oauth.api.secret', 'code'],
  ]) {
    it(`drops the value of ${key} although it is not a known secret`, () => {
      const written = logLines((log) => {
        log.info({ [key]: 'hush-hush' });
        log.info({ request: { headers: { [key]: 'hush-hush' } } });
      });
      expect(written).to.not.contain('hush-hush');
      expect(written.match(/\[redacted\]/g)).to.have.length(2);
    });
  }

  it('writes the causes of an error with it', () => {
    const cause = new TypeError('the cause');
    const line = JSON.parse(logLines((log) => log.error({ err: new Error('the error', { cause }) })));
    expect(line.err).to.include({ type: 'Error', message: 'the error' });
    expect(line.err.cause).to.include({ type: 'TypeError', message: 'the cause' });
  });

  it('writes nothing below its level', () => {
    expect(logLines((log) => log.debug('quiet'))).to.equal('');
    expect(logLines((log) => log.fatal('quiet'), { level: 'silent' })).to.equal('');
  });
});

import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { assert, property, string } from 'fast-check';
import { createLogger, createRedactor } from '../src/log.ts';

const CANARY = 'caña/ry+"7f\\3=?&x y';

describe('createRedactor', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const forms = {
    'as it is': CANARY,
    'URI-encoded': encodeURIComponent(CANARY),
    'URI-encoded with lower-case escapes': encodeURIComponent(CANARY).replace(/%../g, (escaped) =>
      escaped.toLowerCase(),
    ),
    'form-encoded': new URLSearchParams({ a: CANARY }).toString().slice(2),
    'JSON-escaped': JSON.stringify(CANARY).slice(1, -1),
    'JSON-escaped twice': JSON.stringify(JSON.stringify(CANARY)).slice(3, -3),
    'in base64': base64(CANARY),
    'in base64 after a user name': base64(`user:${CANARY}`),
    'in base64 one byte on': base64(`u:${CANARY}:x`),
    'in base64url': Buffer.from(CANARY).toString('base64url'),
  };
  const restOfBase64 = (text: string) => text.replace('[redacted]', '').replace(/=+$/, '').length;

  for (const [name, form] of Object.entries(forms)) {
    it(`takes out a secret ${name}`, () => {
      const redactor = createRedactor();
      redactor.add(CANARY);
      const redacted = redactor.redact(`before ${form} after`);
      expect(redacted).to.contain('[redacted]').and.not.contain(form);
      if (!name.includes('base64')) expect(redacted).to.equal('before [redacted] after');
    });
  }

  it('leaves nothing of the secret in base64 but the characters it shares with what stands around it', () => {
    const redactor = createRedactor();
    redactor.add(CANARY);
    const around = base64('user:').length;
    expect(restOfBase64(redactor.redact(base64(`user:${CANARY}`)))).to.be.at.most(around + 1);
  });

  it('takes out a secret wherever it stands in any text', () => {
    assert(
      property(string({ minLength: 6 }), string(), string(), (secret, before, after) => {
        const redactor = createRedactor();
        redactor.add(secret);
        const redacted = redactor.redact(before + secret + after);
        return redacted.includes('[redacted]') && (!redacted.includes(secret) || '[redacted]'.includes(secret));
      }),
    );
  });

  it('leaves text without a secret as it is', () => {
    const redactor = createRedactor();
    redactor.add('abcdefgh');
    for (const text of ['', 'abc', 'abcdef', 'abcdefg', 'xabcdefgy', 'bcdefgh']) {
      expect(redactor.redact(text)).to.equal(text);
    }
  });

  it('takes out secrets that follow each other, and at both ends', () => {
    const redactor = createRedactor();
    redactor.add('first-secret');
    redactor.add('other-secret');
    expect(redactor.redact('first-secretother-secret and first-secret')).to.equal(
      '[redacted][redacted] and [redacted]',
    );
  });

  it('takes the longer of two secrets that begin alike', () => {
    const redactor = createRedactor();
    redactor.add('secret-1');
    redactor.add('secret-123');
    expect(redactor.redact('secret-123 secret-12')).to.equal('[redacted] [redacted]2');
  });

  it('ignores secrets of fewer than 6 characters', () => {
    const redactor = createRedactor();
    redactor.add('');
    redactor.add('abcde');
    expect(redactor.redact('abcde abcdef')).to.equal('abcde abcdef');
  });

  it('knows as many secrets as it may, those that were added last', () => {
    const redactor = createRedactor(3);
    for (const secret of ['secret-1', 'secret-2', 'secret-3', 'secret-1', 'secret-4']) redactor.add(secret);
    expect(redactor.redact('secret-1 secret-2 secret-3 secret-4')).to.equal(
      '[redacted] secret-2 [redacted] [redacted]',
    );
  });

  it('does not get slow with many secrets', () => {
    const redactor = createRedactor();
    for (let count = 0; count < 20_000; count += 1) redactor.add(randomBytes(24).toString('base64url'));
    const text = randomBytes(1_000_000).toString('base64');
    const startedAt = performance.now();
    redactor.redact(text);
    // Looking for each secret in turn takes minutes.
    expect(performance.now() - startedAt).to.be.below(2000);
  });
});

describe('createLogger', () => {
  function logLines(write: (log: ReturnType<typeof createLogger>) => void, level: 'info' | 'silent' = 'info'): string {
    const lines: string[] = [];
    const redactor = createRedactor();
    redactor.add(CANARY);
    write(createLogger({ level, redactor, destination: { write: (line) => lines.push(line) } }));
    return lines.join('');
  }

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

  for (const key of ['authorization', 'password', 'secret', 'token', 'apiKey']) {
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
    expect(logLines((log) => log.fatal('quiet'), 'silent')).to.equal('');
  });
});

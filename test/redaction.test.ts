import { expect } from 'chai';
import { array, assert, property, string } from 'fast-check';
import { beginningOf, combineRedactors, createRedactor, redactBeginning } from '../src/redaction.ts';

const CANARY = 'caña/ry+"7f\\3=?&x y';

describe('createRedactor', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const redact = (secrets: readonly string[], text: string) => createRedactor(secrets).redact(text);
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
      const redacted = redact([CANARY], `before ${form} after`);
      expect(redacted).to.contain('[redacted]').and.not.contain(form);
      if (!name.includes('base64')) expect(redacted).to.equal('before [redacted] after');
    });
  }

  it('leaves nothing of the secret in base64 but the characters it shares with what stands around it', () => {
    const around = base64('user:').length;
    expect(restOfBase64(redact([CANARY], base64(`user:${CANARY}`)))).to.be.at.most(around + 1);
  });

  it('takes out a secret wherever it stands in any text', () => {
    assert(
      property(string({ minLength: 6 }), string(), string(), (secret, before, after) => {
        const redacted = redact([secret], before + secret + after);
        return redacted.includes('[redacted]') && (!redacted.includes(secret) || '[redacted]'.includes(secret));
      }),
    );
  });

  it('takes out each of some secrets, and changes nothing else', () => {
    const words = array(string({ minLength: 6, maxLength: 40, unit: 'grapheme-ascii' }), { maxLength: 5 });
    assert(
      property(words, array(string({ unit: 'grapheme-ascii' })), (secrets, texts) => {
        const redacted = redact(secrets, texts.flatMap((text, at) => [text, secrets[at] ?? '']).join(''));
        const rest = redacted.split('[redacted]');
        expect(
          secrets.slice(0, texts.length).filter((secret) => rest.some((text) => text.includes(secret))),
        ).to.deep.equal([]);
        if (secrets.every((secret) => !texts.join('').includes(secret))) return;
        expect(rest.length).to.be.greaterThan(1);
      }),
    );
  });

  it('leaves text without a secret as it is', () => {
    for (const text of ['', 'abc', 'abcdef', 'abcdefg', 'xabcdefgy', 'bcdefgh']) {
      expect(redact(['abcdefgh'], text)).to.equal(text);
    }
  });

  it('takes out secrets that follow each other, and at both ends', () => {
    const redacted = redact(['first-secret', 'other-secret'], 'first-secret, other-secret and first-secret');
    expect(redacted).to.equal('[redacted], [redacted] and [redacted]');
  });

  it('takes the longer of two secrets that begin alike', () => {
    expect(redact(['secret-1', 'secret-123'], 'secret-123 secret-12')).to.equal('[redacted] [redacted]2');
  });

  it('leaves nothing of secrets that overlap', () => {
    expect(redact(['abcdefgh', 'fghijklm'], 'xabcdefghijklmx')).to.equal('x[redacted]x');
    expect(redact(['cdefghij', 'abcdefghijkl'], 'xabcdefghijklx')).to.equal('x[redacted]x');
  });

  it('takes out the beginning of a secret that somebody cut short, from 32 characters on', () => {
    const secret = 'abcdefghijklmnopqrstuvwxyz0123456789';
    expect(redact([secret], `${secret.slice(0, 34)}…`)).to.equal('[redacted]…');
    expect(redact([secret], `${secret.slice(0, 32)}`)).to.equal('[redacted]');
    expect(redact([secret], secret.slice(0, 31))).to.equal(secret.slice(0, 31));
  });

  it('ignores secrets of fewer than 6 characters', () => {
    expect(redact(['', 'abcde'], 'abcde abcdef')).to.equal('abcde abcdef');
  });

  it('knows the first 64 secrets it is given, and of each its first 16,384 characters', () => {
    const secrets = Array.from({ length: 65 }, (_, at) => `secret-${at}-of-many`);
    expect(redact(secrets, 'secret-63-of-many secret-64-of-many')).to.equal('[redacted] secret-64-of-many');
    const long = Array.from({ length: 5000 }, (_, at) => `${at};`).join('');
    expect(redact([`${long}x`], long)).to.equal(`[redacted]${long.slice(16_384)}`);
  });

  it('works nothing out before there is text', () => {
    let asked = 0;
    const secrets = {
      *[Symbol.iterator]() {
        asked += 1;
        yield 'the-secret';
      },
    };
    const redactor = combineRedactors([createRedactor(secrets)]);
    expect(asked).to.equal(0);
    expect([redactor.redact('a'), asked]).to.deep.equal(['a', 0]);
    expect(redactor.redact('the-secret')).to.equal('[redacted]');
    expect([redactor.redact('the-secret'), asked]).to.deep.equal(['[redacted]', 1]);
  });

  it('knows what any of those knows that it is combined of', () => {
    const redactor = combineRedactors([createRedactor(['abcdefgh']), createRedactor(['fghijklm'])]);
    expect(redactor.redact('xabcdefghijklmx')).to.equal('x[redacted]x');
  });

  const LONGEST = 4096;
  /** Each a hard case for escaping or for searching. */
  const HOSTILE: Readonly<Record<string, string>> = {
    backslashes: '\\'.repeat(LONGEST),
    quotes: '"'.repeat(LONGEST),
    'control characters': '\u0001'.repeat(LONGEST),
    'three bytes a character': '€'.repeat(LONGEST),
    'halves of surrogate pairs': '\ud800'.repeat(LONGEST),
    'one letter': 'a'.repeat(LONGEST),
    'one letter, and another at the end': `${'a'.repeat(LONGEST - 1)}b`,
    'one letter, and another before': `b${'a'.repeat(LONGEST - 1)}`,
    'one letter, and another after 31': `${'a'.repeat(31)}b${'a'.repeat(LONGEST - 32)}`,
  };

  for (const [name, secret] of Object.entries(HOSTILE)) {
    it(`looks for a bounded number of characters: ${name}`, () => {
      const characters = createRedactor([secret])
        .forms()
        .reduce((sum, { text }) => sum + text.length, 0);
      expect(characters).to.be.at.most(80 * LONGEST);
    });
  }

  it('redacts 20,000 hostile characters with 16 hostile secrets in bounded time', () => {
    const secrets = Object.values(HOSTILE);
    const texts = secrets.map((secret) => secret.slice(0, 5).repeat(4000));
    const before = process.cpuUsage();
    for (const text of texts)
      createRedactor([...secrets, ...secrets.map((secret) => `${secret.slice(1)}c`)]).redact(text);
    const { user, system } = process.cpuUsage(before);
    // Some 40 ms each; with a search of characters × characters, minutes.
    expect((user + system) / 1000).to.be.below(texts.length * 1000);
  });
});

describe('a text that is cut', () => {
  const MOST = 100;
  const show = (text: string, secret = 'a secret of many words that nobody may read') =>
    redactBeginning(createRedactor([secret]), beginningOf(text, MOST), MOST);

  it('shows nothing of a secret, wherever it is cut', () => {
    const secret = 'a secret of many words that nobody may read';
    for (let before = 0; before < 200; before++) {
      const shown = show('.'.repeat(before) + secret + '.'.repeat(300));
      for (let end = 6; end <= secret.length; end++) expect(shown).to.not.contain(secret.slice(0, end));
      expect(shown.length).to.be.at.most(MOST + 1);
    }
  });

  it('shows nothing of a secret behind another one that makes the text shorter', () => {
    const [one, other] = ['x'.repeat(90), 'another secret of many words'];
    const redactor = createRedactor([one, other]);
    for (let end = 1; end <= other.length; end++) {
      const text = `${one}${'.'.repeat(74 - end)}${other}`;
      expect(redactBeginning(redactor, beginningOf(text, MOST), MOST)).to.not.contain('another');
    }
  });

  it('is whole when it is short, and ends with … otherwise', () => {
    expect(show('short')).to.equal('short');
    expect(show('x'.repeat(MOST))).to.equal('x'.repeat(MOST));
    expect(show('x'.repeat(MOST + 1))).to.match(/^x+…$/);
    expect(show('x'.repeat(1000))).to.equal(`${'x'.repeat(MOST)}…`);
    expect(show('a\0b\ud800')).to.equal('ab\ufffd');
  });
});

import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError, parseEncryptionKeys } from '../../src/config/index.ts';
import { createDevelopmentKeys, createKeyring, DecryptionError } from '../../src/db/keyring.ts';
import { useTemporaryFolder } from '../support/database.ts';
import { thrownBy } from '../support/failures.ts';

const CONTEXT = 'instance:1:42:credentials';
const PLAIN = '{"password":"canary"}';
const faultOf = (work: () => unknown) => thrownBy(work, DecryptionError);
const randomKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

describe('createKeyring', () => {
  const keys = randomKey('first');
  const keyring = createKeyring(keys);

  it('decrypts what it encrypted for the same place', () => {
    for (const plain of ['', PLAIN, 'Zoë \u{1F511}', 'x'.repeat(100_000)]) {
      expect(keyring.decrypt(keyring.encrypt(plain, CONTEXT), CONTEXT)).to.equal(plain);
    }
  });

  it('names the key in the ciphertext and shows nothing of the plain text', () => {
    const ciphertext = keyring.encrypt(PLAIN, CONTEXT);
    expect(ciphertext).to.match(/^v1\.first\.[A-Za-z0-9_-]+$/);
    expect(Buffer.from(ciphertext.slice(9), 'base64url').toString('latin1')).to.not.contain('canary');
  });

  it('encrypts the same text differently each time', () => {
    expect(keyring.encrypt(PLAIN, CONTEXT)).to.not.equal(keyring.encrypt(PLAIN, CONTEXT));
  });

  it('encrypts with the first key and decrypts with any', () => {
    const rotated = createKeyring(`${randomKey('second')},${keys}`);
    expect(rotated.currentKeyId).to.equal('second');
    expect(rotated.encrypt(PLAIN, CONTEXT)).to.match(/^v1\.second\./);
    expect(rotated.decrypt(keyring.encrypt(PLAIN, CONTEXT), CONTEXT)).to.equal(PLAIN);
  });

  it('does not decrypt a ciphertext that was moved to another place', () => {
    const error = faultOf(() => keyring.decrypt(keyring.encrypt(PLAIN, CONTEXT), 'instance:2:42:credentials'));
    expect(error.code).to.equal('REFUSED');
    expect(error.message).to.equal(
      "The key 'first' does not decrypt the ciphertext of instance:2:42:credentials: the ciphertext is damaged, from another row, or from another key of that name",
    );
  });

  it('says which key is missing', () => {
    const error = faultOf(() => createKeyring(randomKey('other')).decrypt(keyring.encrypt(PLAIN, CONTEXT), CONTEXT));
    expect(error).to.include({ code: 'UNKNOWN_KEY', keyId: 'first' });
    expect(error.message).to.equal(
      "The ciphertext of instance:1:42:credentials needs the key 'first', which is not in ENCRYPTION_KEYS",
    );
  });

  it('refuses a key of the same name that is another', () => {
    expect(
      faultOf(() => createKeyring(randomKey('first')).decrypt(keyring.encrypt(PLAIN, CONTEXT), CONTEXT)).code,
    ).to.equal('REFUSED');
  });

  it('refuses a ciphertext that passes for one of another key with the same bytes', () => {
    const twin = createKeyring(`${keys},${keys.replace('first', 'twin')}`);
    const renamed = keyring.encrypt(PLAIN, CONTEXT).replace('v1.first.', 'v1.twin.');
    expect(faultOf(() => twin.decrypt(renamed, CONTEXT)).code).to.equal('REFUSED');
  });

  it('refuses a ciphertext that was cut anywhere or changed in one bit', () => {
    const ciphertext = keyring.encrypt(PLAIN, CONTEXT);
    for (let length = 0; length < ciphertext.length; length += 1) {
      expect(faultOf(() => keyring.decrypt(ciphertext.slice(0, length), CONTEXT)).code).to.be.oneOf([
        'MALFORMED',
        'REFUSED',
        'UNKNOWN_KEY',
      ]);
    }
    const bytes = Buffer.from(ciphertext.slice('v1.first.'.length), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(faultOf(() => keyring.decrypt(`v1.first.${changed.toString('base64url')}`, CONTEXT)).code).to.equal(
        'REFUSED',
      );
    }
  });

  it('says when something is no ciphertext at all, without showing it', () => {
    const error = faultOf(() => keyring.decrypt('canary in clear', CONTEXT));
    expect(error.code).to.equal('MALFORMED');
    expect(error.message).to.equal(
      'The ciphertext of instance:1:42:credentials does not have the form v1.<key id>.<base64url>',
    );
  });

  it('refuses keys that are not well formed', () => {
    expect(() => createKeyring('canary'))
      .to.throw(ConfigError)
      .with.property('message')
      .that.does.not.contain('canary');
  });
});

describe('createDevelopmentKeys', () => {
  const dataDir = useTemporaryFolder('test');

  it('makes keys once, for the eyes of the owner only', async () => {
    const keys = await createDevelopmentKeys(dataDir.path);
    expect(parseEncryptionKeys(keys)?.map(({ id, key }) => [id, key.symmetricKeySize])).to.deep.equal([
      ['development', 32],
    ]);
    expect(await createDevelopmentKeys(dataDir.path)).to.equal(keys);
    expect((await stat(join(dataDir.path, 'encryption-keys'))).mode & 0o777).to.equal(0o600);
    expect(await readFile(join(dataDir.path, 'encryption-keys'), 'utf8')).to.equal(`${keys}\n`);
  });

  it('gives two processes that start together the same keys', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => createDevelopmentKeys(dataDir.path)));
    expect(new Set(keys)).to.have.property('size', 1);
  });
});

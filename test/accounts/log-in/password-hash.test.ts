import { type Argon2Parameters, argon2Sync, createHmac, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createPasswordHasher } from '../../../src/accounts/log-in/password-hash.ts';
import { isAppError } from '../../../src/errors.ts';
import { createVirtualClock } from '../../support/virtual-clock.ts';

const OWNER = { accountId: 3, userId: 7 };
const PASSWORD = 'violet anchor drifts past noon';
/** Quick. */
const LITTLE = { memory: 32, passes: 1, parallelism: 1 };

const digest = (text: string, context: string) => createHmac('sha256', 'key').update(`${context}\0${text}`).digest();
const keys = { digest, lookupHash: () => Buffer.alloc(0), seal: String, open: String };
const random = { bytes: randomBytes, fraction: Math.random };

function create(options = {}) {
  const clock = createVirtualClock();
  return { clock, ...createPasswordHasher({ keys, random, clock }, options) };
}

describe('createPasswordHasher', () => {
  it('makes what Argon2id makes of the password and a key, with the cost that OWASP asks for', async () => {
    const passwordHash = await create().hash(PASSWORD, OWNER);
    const [, salt = '', tag] = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$([^$]{22})\$([^$]{43})$/.exec(passwordHash) ?? [];
    const expected = argon2Sync('argon2id', {
      message: PASSWORD,
      nonce: Buffer.from(salt, 'base64'),
      memory: 19_456,
      passes: 2,
      parallelism: 1,
      tagLength: 32,
      secret: digest('3:7', 'user_password.password_hash'),
    });
    expect(`${tag}=`).to.equal(expected.toString('base64'));
  });

  it('knows the password again, and no other, and not that of another user', async () => {
    const { hash, verify } = create({ cost: LITTLE });
    const passwordHash = await hash(PASSWORD, OWNER);
    expect(await verify(PASSWORD, { ...OWNER, passwordHash })).to.equal(true);
    expect(await verify(`${PASSWORD} `, { ...OWNER, passwordHash })).to.equal(false);
    expect(await verify(PASSWORD, { accountId: 3, userId: 8, passwordHash })).to.equal(false);
    expect(await hash(PASSWORD, OWNER)).to.not.equal(passwordHash);
  });

  it('takes the same characters for the same, however they were typed', async () => {
    const { hash, verify } = create({ cost: LITTLE });
    const passwordHash = await hash('café au lait ﬁne', OWNER);
    expect(await verify('café au lait fine'.normalize('NFD'), { ...OWNER, passwordHash })).to.equal(true);
  });

  it('works as much for nobody, and for somebody without a password, who is never right', async () => {
    const done: Argon2Parameters[] = [];
    const run = async (parameters: Argon2Parameters) => {
      done.push(parameters);
      return Buffer.alloc(parameters.tagLength);
    };
    const { verify } = create({ run });
    expect(await verify(PASSWORD, undefined)).to.equal(false);
    expect(await verify(PASSWORD, { ...OWNER, passwordHash: null })).to.equal(false);
    for (const { memory, passes, parallelism, tagLength } of done)
      expect({ memory, passes, parallelism, tagLength }).to.deep.equal({
        memory: 19_456,
        passes: 2,
        parallelism: 1,
        tagLength: 32,
      });
    expect(done).to.have.length(2);
  });

  it('checks by the cost that a stored hash names, and tells when that is not the one of now', async () => {
    const older = create({ cost: LITTLE });
    const passwordHash = await older.hash(PASSWORD, OWNER);
    const newer = create();
    expect(await newer.verify(PASSWORD, { ...OWNER, passwordHash })).to.equal(true);
    expect([older.isCurrent(passwordHash), newer.isCurrent(passwordHash)]).to.deep.equal([true, false]);
  });

  it('works on two at a time, lets 64 wait for 5 seconds, and refuses more', async () => {
    const waiting: (() => void)[] = [];
    const run = () => new Promise<Buffer>((resolve) => waiting.push(() => resolve(Buffer.alloc(32))));
    const { hash, clock } = create({ run });
    const refused: unknown[] = [];
    const all = Array.from({ length: 70 }, () => hash(PASSWORD, OWNER).catch((error) => void refused.push(error)));
    await new Promise(setImmediate);
    expect([waiting.length, refused.length]).to.deep.equal([2, 4]);
    expect(refused.every((error) => isAppError(error, 'OVERLOADED'))).to.equal(true);
    for (const end of waiting.splice(0)) end();
    await new Promise(setImmediate);
    expect(waiting).to.have.length(2);
    await clock.advance(5_000);
    expect(refused).to.have.length(4 + 62);
    for (const end of waiting.splice(0)) end();
    await Promise.all(all);
  });

  it('says so when what is stored is no hash', async () => {
    const error = await create()
      .verify(PASSWORD, { ...OWNER, passwordHash: 'plain' })
      .catch((reason: unknown) => reason);
    expect(error).to.have.property('message', 'A stored password hash cannot be read');
  });
});

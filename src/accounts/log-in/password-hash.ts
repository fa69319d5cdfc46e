import { type Argon2Parameters, argon2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { createSemaphore } from '../../db/semaphore.ts';
import { AppError } from '../../errors.ts';
import type { Platform } from '../../platform.ts';

/** Cost of hashing a password with Argon2 (RFC 9106); `memory` is in KiB. */
type PasswordCost = Pick<Argon2Parameters, 'memory' | 'passes' | 'parallelism'>;

/** Owner of a password. A hash that was moved to another user matches no password. */
export interface PasswordOwner {
  readonly accountId: number;
  readonly userId: number;
}

export interface StoredPassword extends PasswordOwner {
  /** A PHC string; null for a user without a password. */
  readonly passwordHash: string | null;
}

export type PasswordHasher = ReturnType<typeof createPasswordHasher>;

interface PasswordHasherOptions {
  readonly cost?: PasswordCost;
  readonly run?: (parameters: Argon2Parameters) => Promise<Buffer>;
}

/** The minimum of the OWASP Password Storage Cheat Sheet. A stored hash contains its own cost, so it can be raised. */
const COST: PasswordCost = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/**
 * Maximum number of hashes at a time. Each needs the memory of its cost and one of the four threads that files, DNS and compression also
 * use.
 */
const AT_ONCE = 2;
const MOST_WAITING = 64;
const WAIT_MS = 5_000;

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const NOBODY: PasswordOwner = { accountId: 0, userId: 0 };

/** Creates the hasher of passwords. It runs Argon2id in the threads of Node, a few at a time. */
export function createPasswordHasher(
  { keys, random, clock }: Pick<Platform, 'keys' | 'random' | 'clock'>,
  { cost = COST, run = runArgon2 }: PasswordHasherOptions = {},
) {
  const semaphore = createSemaphore({ atOnce: AT_ONCE, mostWaiting: MOST_WAITING, waitMs: WAIT_MS, clock, refuse });
  const ofNobody = printPhc({ cost, salt: Buffer.alloc(SALT_BYTES), tag: Buffer.alloc(TAG_BYTES) });

  /** Returns the key of a user's hash. With it, a copy of the database alone is not enough to test passwords. */
  const keyOf = ({ accountId, userId }: PasswordOwner) =>
    keys.digest(`${accountId}:${userId}`, 'user_password.password_hash');

  const compute = (password: string, owner: PasswordOwner, { cost, salt, tagLength }: Computed) =>
    semaphore.run(() =>
      run({ ...cost, message: normalizePassword(password), nonce: salt, tagLength, secret: keyOf(owner) }),
    );

  return {
    /**
     * Hashes a password.
     * @returns a PHC string
     * @throws AppError OVERLOADED
     */
    hash: async (password: string, owner: PasswordOwner) => {
      const salt = random.bytes(SALT_BYTES);
      const tag = await compute(password, owner, { cost, salt, tagLength: TAG_BYTES });
      return printPhc({ cost, salt, tag });
    },
    /**
     * Returns whether the password matches. It always takes the time of one hash, also for an unknown user or a user without a password.
     * @throws AppError OVERLOADED
     */
    verify: async (password: string, stored: StoredPassword | undefined) => {
      const { cost, salt, tag } = parsePhc(stored?.passwordHash ?? ofNobody);
      const computed = await compute(password, stored ?? NOBODY, { cost, salt, tagLength: tag.length });
      return timingSafeEqual(computed, tag) && stored?.passwordHash != null;
    },
    /** Returns whether a hash has the cost of new hashes. */
    isCurrent: (passwordHash: string) => {
      const { cost: own } = parsePhc(passwordHash);
      return own.memory === cost.memory && own.passes === cost.passes && own.parallelism === cost.parallelism;
    },
  };
}

/** Normalizes a password (NIST SP 800-63B): texts that look the same on two keyboards are the same password. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

interface Computed {
  readonly cost: PasswordCost;
  readonly salt: Buffer;
  readonly tagLength: number;
}

interface HashParts {
  readonly cost: PasswordCost;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

/** https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md */
function printPhc({ cost, salt, tag }: HashParts): string {
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

function parsePhc(text: string): HashParts {
  const [, memory, passes, parallelism, salt, tag] = PHC.exec(text) ?? [];
  if (salt === undefined || tag === undefined) throw new Error('A stored password hash cannot be read');
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

const computeArgon2 = promisify(argon2);

function runArgon2(parameters: Argon2Parameters): Promise<Buffer> {
  return computeArgon2('argon2id', parameters);
}

function refuse(): AppError {
  return new AppError('OVERLOADED', 'Too many passwords are checked at the moment. Try again in a moment.', {
    retryAfterSeconds: 1,
  });
}

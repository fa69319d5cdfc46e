import { crc32 } from 'node:zlib';
import type { Platform } from '../../platform.ts';

/** Beginning of every access key, so that scanners for leaked secrets find them. */
const PREFIX = 'ck_';
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 30;
/** Number of base62 digits of 30 bytes, and of a CRC-32. */
const RANDOM_DIGITS = 41;
const CHECK_DIGITS = 6;
/** Anything else needs no look-up. It is documented for scanners, as the check digits are. */
const KEY = /^ck_[0-9A-Za-z]{47}$/;

/**
 * Creates an access key: `ck_`, 41 random base62 digits, and 6 digits with the CRC-32 of everything before them. With the check digits, a
 * scanner tells a key from other texts without asking us. There is no `-`, so that a double click selects all of it.
 */
export function createKeyText({ bytes }: Pick<Platform['random'], 'bytes'>): string {
  const number = BigInt(`0x${bytes(RANDOM_BYTES).toString('hex')}`);
  return withCheckDigits(PREFIX + toBase62(number, RANDOM_DIGITS));
}

/** Returns whether a text can be an access key. A mistyped or shortened one cannot. */
export function isKeyText(text: string): boolean {
  return KEY.test(text) && withCheckDigits(text.slice(0, -CHECK_DIGITS)) === text;
}

export function lastFourOf(key: string): string {
  return key.slice(-4);
}

/** Returns the form in which a key is shown after its creation. */
export function maskKey(lastFour: string): string {
  return `${PREFIX}…${lastFour}`;
}

function withCheckDigits(text: string): string {
  return text + toBase62(BigInt(crc32(text)), CHECK_DIGITS);
}

function toBase62(number: bigint, length: number): string {
  let text = '';
  for (let left = number; text.length < length; left /= 62n) text = DIGITS.charAt(Number(left % 62n)) + text;
  return text;
}

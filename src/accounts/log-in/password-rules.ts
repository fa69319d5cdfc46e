import { invalidRequest } from '../../errors.ts';
import { normalizePassword } from './password-hash.ts';

/** Future owner of a password. A password must not consist of what others know about the owner. */
export interface PasswordUser {
  readonly emailAddress: string;
  readonly firstName: string;
  readonly lastName: string;
}

/** Unicode code points. */
const LENGTH = { least: 12, most: 256 };
/** Minimum number of characters beside well-known words. */
const LEAST_OF_ONES_OWN = 8;
const SHORTEST_WORD = 3;
const PRODUCT = 'causeway';

/**
 * Asserts that a password has an allowed length and is not on the blocklist. There are no rules about kinds of characters (NIST SP
 * 800-63B).
 * @throws AppError REQUEST_INVALID that describes the problem
 */
export async function assertPassword(password: string, user: PasswordUser): Promise<void> {
  const problem = findProblem(password, user, await commonPasswords());
  if (problem !== undefined) throw invalidRequest([{ path: '/body/password', message: problem }]);
}

/** Returns the problem of a password as a sentence; undefined for an acceptable password. */
export function findProblem(password: string, user: PasswordUser, common: ReadonlySet<string>): string | undefined {
  if (!password.isWellFormed()) return 'The password is not valid Unicode: it contains half of a surrogate pair.';
  const normal = normalizePassword(password);
  const { length } = [...normal];
  if (length < LENGTH.least || length > LENGTH.most)
    return `The password has ${length} characters; it needs ${LENGTH.least} to ${LENGTH.most}.`;
  const text = normal.toLowerCase();
  if (isOf(text, wordsOf(user)))
    return 'The password contains your e-mail address or name, which is easy to guess. Choose another one.';
  if (isRun(text) || isCommon(text, common))
    return 'The password is a common one, or a common one with little added. Choose several unrelated words instead.';
  return undefined;
}

/** The list of zxcvbn-ts (MIT), which is made from published leaks: 49,000 passwords. Read when the first password is set. */
let list: Promise<ReadonlySet<string>> | undefined;

function commonPasswords(): Promise<ReadonlySet<string>> {
  list ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => new Set(dictionary['passwords-common']));
  return list;
}

function wordsOf({ emailAddress, firstName, lastName }: PasswordUser): readonly string[] {
  const email = normalizePassword(emailAddress).toLowerCase();
  const names = normalizePassword(`${firstName} ${lastName}`).toLowerCase();
  const words = [email, ...email.split(/[@.+_-]+/), ...names.split(/\s+/), PRODUCT];
  return words.filter((word) => word.length >= SHORTEST_WORD).toSorted((one, other) => other.length - one.length);
}

/** Whether too little of the text is left without these words of the user. */
function isOf(text: string, words: readonly string[]): boolean {
  const rest = words.reduce((left, word) => left.replaceAll(word, ''), text);
  return rest !== text && rest.length < LEAST_OF_ONES_OWN;
}

/** Whether each character follows the one before it in the same direction: `aaaa`, `4567890123`, `zyxwvu`. */
function isRun(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = new Set(codes.slice(1).map((code, at) => nextStep(code - (codes[at] ?? 0))));
  return steps.size === 1 && [-1, 0, 1].some((step) => steps.has(step));
}

/** Returns the step between two characters. After 9 comes 0. */
function nextStep(difference: number): number {
  return Math.abs(difference) === 9 ? -Math.sign(difference) : difference;
}

/** Whether the text is in the list: as it is, with digits around it, with digits in place of letters, or repeated. */
function isCommon(text: string, common: ReadonlySet<string>): boolean {
  const unit = unitOf(text);
  const core = unit.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  const cores = unit.length - core.length <= LEAST_OF_ONES_OWN ? [unit, core] : [unit];
  const isIn = (each: string) => isListed(unitOf(each), common);
  return unit.length < LEAST_OF_ONES_OWN || [...cores, ...cores.map(withLetters)].some(isIn);
}

/** Whether the text is one entry of the list, or two in a row. */
function isListed(text: string, common: ReadonlySet<string>): boolean {
  if (common.has(text)) return true;
  return Array.from(text, (_, at) => at).some((at) => common.has(text.slice(0, at)) && common.has(text.slice(at)));
}

/** Returns the repeated part of a text: `abc` of `abcabcab`. */
function unitOf(text: string): string {
  const period = Array.from(text, (_, at) => at + 1).find((length) => text.startsWith(text.slice(length)));
  return text.slice(0, period);
}

const LETTERS: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't' },
  ...{ '@': 'a', $: 's', '!': 'i' },
};

function withLetters(text: string): string {
  return text.replace(/[013457@$!]/g, (sign) => LETTERS[sign] ?? sign);
}

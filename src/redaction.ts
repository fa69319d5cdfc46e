/**
 * Removes the secrets that it was created with from a text. It is a value: each call, instance or receiver has its own, so that a secret
 * that one caller sends never changes the texts of another.
 */
export interface Redactor {
  readonly redact: (text: string) => string;
  /** The forms to search for: each secret in every encoding in which it may be written. They are computed for the first text. */
  readonly forms: () => readonly SecretForm[];
}

interface SecretForm {
  readonly text: string;
  /** First characters of the form. */
  readonly head: string;
}

export const CENSOR = '[redacted]';

/** Headers and members whose value is a secret, or may be one. */
const SECRET_NAME =
  /^(?:proxy-?)?authorization$|^(?:set-?)?cookie$|password|secret|tokens?$|api[-_.]?key$|signature[-_.]?key$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Shorter ones would blank out ordinary words. */
const MIN_CHARACTERS = 6;
/** Validation lets no caller send a longer one than 4,096; a token of a provider may be. Of a longer one this much is looked for. */
const MAX_CHARACTERS = 16_384;
/** Escaping can double a text at each level. Of a longer form its beginning is looked for, and taken out as far as it goes. */
const MAX_FORM_CHARACTERS = 65_536;
const MAX_SECRETS = 64;
/**
 * Number of characters by which a form is recognized. Everything behind them that matches is removed too, so that a shortened secret is
 * also found. It also keeps the search linear, because a text that repeats the beginning of a secret is compared no further.
 */
const KNOWN_BY_CHARACTERS = 32;
/** JSON inside a JSON string is escaped once more: a message that quotes a body that quotes a body. */
const JSON_LEVELS = 4;

/**
 * Number of characters at the end of a text that was cut in which the beginning of a secret may be too short to be recognized. It is more
 * than `KNOWN_BY_CHARACTERS`.
 */
export const DOUBTFUL_CHARACTERS = 64;

/** Returns the part of a text to keep until `redactBeginning`: what is shown, and enough to recognize a secret at its end. */
export function beginningOf(text: string, most: number): string {
  return text.slice(0, most + DOUBTFUL_CHARACTERS);
}

/** Redacts what `beginningOf` kept, and returns at most that number of characters, with `…` at the end of a text that was cut. */
export function redactBeginning({ redact }: Redactor, kept: string, most: number): string {
  const redacted = redact(kept);
  const end = kept.length > most ? Math.min(most, redacted.length - DOUBTFUL_CHARACTERS) : most;
  const shown = redacted.length > end ? `${redacted.slice(0, Math.max(0, end))}…` : redacted;
  return shown.replaceAll('\0', '').toWellFormed();
}

/** Creates a redactor. Secrets of fewer than 6 characters are ignored. It costs almost nothing until there is text to redact. */
export function createRedactor(secrets: Iterable<string>): Redactor {
  return fromForms(() => {
    const texts = new Set([...secrets].slice(0, MAX_SECRETS).flatMap(formsOf));
    return [...texts].map((text) => ({ text, head: text.slice(0, KNOWN_BY_CHARACTERS) }));
  });
}

const pairs = new WeakMap<Redactor, WeakMap<Redactor, Redactor>>();

/**
 * Returns a redactor with the secrets of all given ones. The combination of the same two is cached, because redactors of callers and
 * instances live long.
 */
export function combineRedactors(redactors: readonly Redactor[]): Redactor {
  const [one, other, ...more] = redactors;
  if (one === undefined || other === undefined) return one ?? NO_SECRETS;
  if (more.length > 0) return fromForms(() => redactors.flatMap((redactor) => redactor.forms()));
  if (one === other) return one;
  const combined = pairs.get(one) ?? new WeakMap<Redactor, Redactor>();
  const known = combined.get(other) ?? fromForms(() => [...one.forms(), ...other.forms()]);
  pairs.set(one, combined.set(other, known));
  return known;
}

export const NO_SECRETS: Redactor = createRedactor([]);

function fromForms(readForms: () => readonly SecretForm[]): Redactor {
  let known: readonly SecretForm[] | undefined;
  const forms = () => {
    known ??= readForms();
    return known;
  };
  return { forms, redact: (text) => (text.length < MIN_CHARACTERS ? text : redactForms(text, forms())) };
}

/** All are looked for in the text as it is, so that of secrets which overlap nothing is left. */
function redactForms(text: string, forms: readonly SecretForm[]): string {
  const covered = cover(text, forms);
  if (covered === undefined) return text;
  let redacted = '';
  let copiedTo = 0;
  for (;;) {
    const start = covered.indexOf(1, copiedTo);
    if (start < 0) return redacted + text.slice(copiedTo);
    redacted += text.slice(copiedTo, start) + CENSOR;
    copiedTo = covered.indexOf(0, start);
  }
}

/**
 * Returns a mask with a 1 for each character that belongs to a secret, and a 0 behind the last character. Undefined if there is no secret.
 */
function cover(text: string, forms: readonly SecretForm[]): Uint8Array | undefined {
  let covered: Uint8Array | undefined;
  for (const { text: form, head } of forms) {
    if (head.length > text.length) continue;
    for (let start = text.indexOf(head); start >= 0; ) {
      const end = endOfCommon(text, start, form);
      covered ??= new Uint8Array(text.length + 1);
      covered.fill(1, start, end);
      start = text.indexOf(head, end);
    }
  }
  return covered;
}

/** The head is known to be there. */
function endOfCommon(text: string, start: number, form: string): number {
  if (text.startsWith(form, start)) return start + form.length;
  let length = KNOWN_BY_CHARACTERS;
  while (text.charCodeAt(start + length) === form.charCodeAt(length)) length += 1;
  return start + length;
}

function formsOf(whole: string): readonly string[] {
  const secret = whole.slice(0, MAX_CHARACTERS);
  if (secret.length < MIN_CHARACTERS) return [];
  const uriEncoded = encodeURIComponent(secret.toWellFormed());
  const formEncoded = new URLSearchParams({ '': secret }).toString().slice(1);
  const forms = [...escapedForms(secret), uriEncoded, lowerEscapes(uriEncoded), formEncoded, ...base64Forms(secret)];
  return forms.map((form) => form.slice(0, MAX_FORM_CHARACTERS)).filter((form) => form.length >= MIN_CHARACTERS);
}

/** The secret itself first; all the same for a secret in which JSON escapes nothing. */
function escapedForms(secret: string): readonly string[] {
  const forms = [secret];
  for (let level = 1; level <= JSON_LEVELS; level += 1) forms.push(escapeJson(forms.at(-1) ?? ''));
  return forms;
}

/** Cut before it is escaped once more, so that no level is longer than twice the one before it may be. */
function escapeJson(text: string): string {
  return JSON.stringify(text.slice(0, MAX_FORM_CHARACTERS)).slice(1, -1);
}

function lowerEscapes(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase());
}

/**
 * Returns the part of the secret's base64 that does not depend on its surroundings, as in `base64(user:secret)`: the characters that
 * consist of its bits alone, for each of the three positions in a group of three bytes.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((offset) => {
    const firstCharacter = Math.ceil((offset * 8) / 6);
    const endCharacter = Math.floor(((offset + bytes.length) * 8) / 6);
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const core = padded.toString('base64').slice(firstCharacter, endCharacter);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

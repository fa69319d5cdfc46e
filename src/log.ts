import { LRUCache } from 'lru-cache';
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import type { LogLevel } from './config.ts';

export type { Logger } from 'pino';

/** Takes known secrets out of text, whatever place they got to. */
export interface Redactor {
  /** Secrets of fewer than 6 characters are ignored: they would blank out ordinary words. */
  readonly add: (secret: string) => void;
  /** Also finds the URI-encoded, form-encoded, JSON-escaped and base64 forms. */
  readonly redact: (text: string) => string;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly redactor: Redactor;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

const CENSOR = '[redacted]';
const MAX_SECRETS = 50_000;
const PREFIX_LENGTH = 6;

// The hash of a prefix rolls along the text: characters are digits to this base, modulo 2^30 (a small integer in V8).
const HASH_BASE = 65_599;
const HASH_MASK = 0x3fffffff;
const LEADING_WEIGHT = weightOfLeadingCharacter();

const SECRET_KEYS = ['authorization', 'Authorization', 'password', 'secret', 'token', 'apiKey'];
const DEPTHS = ['', '*.', '*.*.', '*.*.*.'];

/**
 * A pino logger that writes no known secret: every line passes the redactor on its way out, and values under keys
 * named like a secret are dropped even when the redactor does not know them.
 */
export function createLogger({ level, redactor, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: stdSerializers.errWithCause, error: stdSerializers.errWithCause },
    redact: { paths: DEPTHS.flatMap((depth) => SECRET_KEYS.map((key) => depth + key)), censor: CENSOR },
    hooks: { streamWrite: redactor.redact },
  };
  // Not synchronous: a write per line would cost each request a system call. What is buffered is flushed at exit.
  return pino(options, destination ?? pino.destination({ dest: 1, sync: false }));
}

/**
 * Keeps the secrets added last, 50,000 of them by default. Forms are found by an index on their first 6 characters, so that redacting
 * costs time by the length of the text and not by the number of secrets.
 */
export function createRedactor(maxSecrets = MAX_SECRETS): Redactor {
  const formsByPrefix = new Map<number, readonly string[]>();
  const secrets = new LRUCache<string, readonly string[]>({
    max: maxSecrets,
    dispose: (forms) => {
      for (const form of forms) removeForm(formsByPrefix, form);
    },
  });

  return {
    add: (secret) => {
      if (secret.length < PREFIX_LENGTH || secrets.get(secret) !== undefined) return;
      const forms = formsOf(secret);
      for (const form of forms) addForm(formsByPrefix, form);
      secrets.set(secret, forms);
    },
    redact: (text) => redactForms(text, formsByPrefix),
  };
}

function redactForms(text: string, formsByPrefix: ReadonlyMap<number, readonly string[]>): string {
  if (text.length < PREFIX_LENGTH || formsByPrefix.size === 0) return text;
  let redacted = '';
  let copiedTo = 0;
  let position = 0;
  let hash = hashOfPrefix(text, 0);
  const last = text.length - PREFIX_LENGTH;
  while (position <= last) {
    const form = formsByPrefix.get(hash)?.find((candidate) => text.startsWith(candidate, position));
    if (form === undefined) {
      hash = rollHash(hash, text, position);
      position += 1;
      continue;
    }
    redacted += text.slice(copiedTo, position) + CENSOR;
    position += form.length;
    copiedTo = position;
    hash = hashOfPrefix(text, position);
  }
  return copiedTo === 0 ? text : redacted + text.slice(copiedTo);
}

/** Longest first, so that of two secrets of which one begins the other, the longer is taken whole. */
function addForm(formsByPrefix: Map<number, readonly string[]>, form: string): void {
  const hash = hashOfPrefix(form, 0);
  const forms = [...(formsByPrefix.get(hash) ?? []), form].sort((left, right) => right.length - left.length);
  formsByPrefix.set(hash, forms);
}

/** Removes one occurrence only: another secret may have the same form. */
function removeForm(formsByPrefix: Map<number, readonly string[]>, form: string): void {
  const hash = hashOfPrefix(form, 0);
  const forms = formsByPrefix.get(hash) ?? [];
  const index = forms.indexOf(form);
  const remaining = forms.filter((_, at) => at !== index);
  if (remaining.length === 0) formsByPrefix.delete(hash);
  else formsByPrefix.set(hash, remaining);
}

function formsOf(secret: string): readonly string[] {
  const uriEncoded = encodeURIComponent(secret.toWellFormed());
  const formEncoded = new URLSearchParams({ '': secret }).toString().slice(1);
  const texts = [secret, ...escapedForms(secret), uriEncoded, lowerEscapes(uriEncoded), formEncoded];
  return [...new Set([...texts, ...base64Forms(secret)])].filter((form) => form.length >= PREFIX_LENGTH);
}

/** JSON inside a JSON string is escaped once more: a message that quotes a body that quotes a body, in a line of the log. */
const JSON_LEVELS = 4;

/** A single form for a secret in which JSON escapes nothing. */
function escapedForms(secret: string): readonly string[] {
  const forms = [secret];
  for (let level = 1; level <= JSON_LEVELS; level += 1) forms.push(escapeJson(forms.at(-1) ?? ''));
  return forms;
}

function lowerEscapes(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase());
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * What is left of the secret in base64 whatever stands around it, as in `base64(user:secret)`: the characters made of
 * its bits alone, for each of the three places in a group of three bytes at which it may begin.
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

/** Missing characters count as 0, so that a hash exists at the end of a text too; it matches nothing there. */
function hashOfPrefix(text: string, start: number): number {
  let hash = 0;
  for (let offset = 0; offset < PREFIX_LENGTH; offset += 1) {
    hash = (Math.imul(hash, HASH_BASE) + (text.charCodeAt(start + offset) || 0)) & HASH_MASK;
  }
  return hash;
}

function rollHash(hash: number, text: string, position: number): number {
  const withoutLeading = hash - Math.imul(text.charCodeAt(position), LEADING_WEIGHT);
  return (Math.imul(withoutLeading, HASH_BASE) + (text.charCodeAt(position + PREFIX_LENGTH) || 0)) & HASH_MASK;
}

function weightOfLeadingCharacter(): number {
  let weight = 1;
  for (let power = 1; power < PREFIX_LENGTH; power += 1) weight = Math.imul(weight, HASH_BASE) & HASH_MASK;
  return weight;
}

import type { Schemas } from '../api.ts';

export type Field = Schemas['ConfigurationField'];

/** The values of a form by configuration key: a text as it was typed, or whether a box is checked. */
export type Values = Readonly<Record<string, string | boolean>>;

/** The text that replaces a secret in responses. Sending it keeps the secret. */
export const MASK = '********';

/** Keys that the console sets by itself, or that users need not see. */
const OWN_KEYS = ['simulator', 'oauth.callback.url', 'authentication.type'];
const EVENT_PREFIX = 'event.';
const TOKEN_KEYS = ['oauth.user.refresh_token', 'oauth.user.token'];
/** Keys that the user does not enter if an OAuth proxy has them. */
export const APPLICATION_KEYS = ['oauth.api.key', 'oauth.api.secret'];

export interface FieldGroups {
  /** The fields that are needed to create an instance, in the order of the API. */
  readonly needed: readonly Field[];
  readonly more: readonly Field[];
  readonly events: readonly Field[];
}

/** Groups the fields of an element. @param isOfProxy whether an OAuth proxy has the key and the secret of the application */
export function groupFields(fields: readonly Field[], isOfProxy: boolean): FieldGroups {
  const shown = fields.filter(({ key }) => !OWN_KEYS.includes(key) && !(isOfProxy && APPLICATION_KEYS.includes(key)));
  const isOfEvents = ({ key }: Field) => key.startsWith(EVENT_PREFIX);
  const own = shown.filter((field) => !isOfEvents(field));
  // The API lists the needed fields first. Among them are pairs of which one is enough, where neither field is required by itself.
  const count = own.findLastIndex(({ required }) => required) + 1;
  return { needed: own.slice(0, count), more: own.slice(count), events: shown.filter(isOfEvents) };
}

/** Converts a stored configuration to the values of a form. */
export function valuesOf(configuration: Readonly<Record<string, unknown>>): Values {
  return Object.fromEntries(Object.entries(configuration).map(([key, value]) => [key, toFormValue(value)]));
}

function toFormValue(value: unknown): string | boolean {
  if (typeof value === 'boolean') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : String(value ?? '');
}

/** Defaults that the API applies but does not report. */
const UNSAID: Values = { 'event.notification.hydrate': true };

/** Returns the initial values of the fields. */
export function defaultsOf(fields: readonly Field[]): Values {
  const defaults = fields.map((field) => [field.key, field.default ?? UNSAID[field.key]] as const);
  return valuesOf(Object.fromEntries(defaults.filter(([, value]) => value !== undefined)));
}

/** Returns the few values that a field can have. Undefined where it can have others. */
export function choicesOf({ type, pattern = '' }: Pick<Field, 'type' | 'pattern'>): readonly string[] | undefined {
  const inside = /^\^?(?:\(\?:([\w|.-]+)\)|([\w|.-]+))\$?$/.exec(pattern);
  const words = (inside?.[1] ?? inside?.[2] ?? '').split('|');
  return type === 'string' && words.length > 1 ? words : undefined;
}

/** Returns the fault of a value, as far as a form can check it; the API checks the rest. */
export function faultOf(field: Field, value: string | boolean): string | undefined {
  if (typeof value === 'boolean') return undefined;
  if (value === '') return field.required ? 'Fill in this field.' : undefined;
  if (value === MASK) return undefined;
  const { fits, expected } = FORMS[field.type];
  if (!fits(value)) return `Enter ${expected}.`;
  if (field.pattern === undefined || new RegExp(`^(?:${field.pattern})$`).test(value)) return undefined;
  return field.example === undefined
    ? 'This value does not have the required form.'
    : `Enter a value such as ${field.example}`;
}

const FORMS: Readonly<Record<Field['type'], { readonly expected: string; readonly fits: (text: string) => boolean }>> =
  {
    string: { expected: 'a text', fits: () => true },
    boolean: { expected: 'true or false', fits: () => true },
    number: { expected: 'a number', fits: (text) => text.trim() !== '' && Number.isFinite(Number(text)) },
    url: { expected: 'an address that begins with https:// or http://', fits: isWebUrl },
    object: { expected: 'a JSON object', fits: isJsonObject },
  };

export function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Returns the changed values. An emptied field is an empty text, which removes the value. */
export function changesOf(values: Values, before: Values): Values {
  const isNew = ([key, value]: readonly [string, string | boolean]) =>
    value !== (before[key] ?? (typeof value === 'boolean' ? false : ''));
  return Object.fromEntries(Object.entries(values).filter(isNew));
}

/** Returns whether the user entered tokens, so that no log-in is needed. */
export function hasTokens(values: Values): boolean {
  return TOKEN_KEYS.some((key) => (values[key] ?? '') !== '');
}

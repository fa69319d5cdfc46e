import { cutText, type ErrorDetail, inWords, pointer } from '../errors.ts';
import { type Faults, isObject } from '../mappings/faults.ts';
import { ExactNumber } from '../numbers/exact-json.ts';
import { type FindUse, type ResourceName, readApiSetting } from './check-resource.ts';
import { type GivenPart, LONGEST_NAME, wholeNumber } from './check-step.ts';
import { readFormulaName } from './check-template.ts';
import type { Formula, FormulaInstance } from './model.ts';
import { readInstanceId } from './variables.ts';

/** Settings of a formula instance, by their keys in the API. */
export const EMAIL = 'notification.email';
export const WEBHOOK_URL = 'notification.webhook.url';
export const API = 'api';
const TIME_TO_LIVE = 'formula.instance.time.to.live';
const SETTINGS: readonly string[] = [EMAIL, WEBHOOK_URL, API, TIME_TO_LIVE];

const MOST_VALUES = 500;
const LONGEST_VALUE = 64 * 1024;
const LONGEST_SETTING = 4_000;
/** Addresses and URLs of one setting. */
const MOST_RECEIVERS = 20;
/** Ten years. */
const LONGEST_LIFE_SECONDS = 315_360_000;

/** The members of a formula instance that a request can set. */
export type InstanceValues = Pick<FormulaInstance, 'name' | 'active' | 'settings' | 'configuration'>;

/** A formula instance as a request gives it. */
export interface InstanceDraft {
  readonly values: InstanceValues;
  /** Method and path of the setting `api`. */
  readonly api: ResourceName | undefined;
  /** URLs of the setting for webhooks, as they are called. */
  readonly webhookUrls: readonly string[];
}

const NOTHING: InstanceValues = { name: '', active: true, settings: {}, configuration: {} };

/**
 * Reads the body of a formula instance. With `before`, members that it leaves out keep their values, and settings and
 * configuration are merged.
 * @param body undefined: the instance is read again as it is stored
 */
export function readInstance(
  body: GivenPart | undefined,
  before: InstanceValues | undefined,
  faults: Faults,
  findUse: FindUse,
): InstanceDraft {
  const given = body ?? {};
  const base = before ?? NOTHING;
  const name = 'name' in given || before === undefined ? readFormulaName(given.name, ['name'], faults) : base.name;
  const configuration = readConfiguration(given.configuration, base.configuration, faults);
  const { settings, api, webhookUrls } = readSettings(
    withoutBlanks(merged(given.settings, base.settings, 'settings', faults)),
    faults,
    findUse,
  );
  const active = given.active === undefined ? base.active : given.active !== false;
  return { values: { name, active, settings, configuration }, api, webhookUrls };
}

/** Null removes a member. */
function merged(given: unknown, base: GivenPart, member: string, faults: Faults): GivenPart {
  if (given === undefined) return base;
  if (given !== null && !isObject(given)) faults.note([member], 'must be an object.');
  const own = isObject(given) ? given : {};
  return Object.fromEntries(Object.entries({ ...base, ...own }).filter(([, value]) => value !== null));
}

function readConfiguration(
  given: unknown,
  base: InstanceValues['configuration'],
  faults: Faults,
): InstanceValues['configuration'] {
  const values = Object.entries(merged(given, base, 'configuration', faults));
  if (values.length > MOST_VALUES)
    faults.note(['configuration'], `must have at most ${MOST_VALUES} members; it has ${values.length}.`);
  return Object.fromEntries(
    values.map(([key, value]) => {
      const text = textOf(value);
      const segments = ['configuration', key];
      if (text === undefined) faults.note(segments, 'must be a text, a number, true or false.');
      else if (text.length > LONGEST_VALUE) faults.note(segments, `must have at most ${LONGEST_VALUE} characters.`);
      if (key.length > LONGEST_NAME || key === '__proto__') faults.note(segments, 'cannot be the key of a variable.');
      return [key, text ?? ''];
    }),
  );
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const isScalar = typeof value === 'number' || typeof value === 'boolean' || value instanceof ExactNumber;
  return isScalar ? String(value) : undefined;
}

/** An empty text is no setting. */
function withoutBlanks(settings: GivenPart): GivenPart {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''));
}

function readSettings(settings: GivenPart, faults: Faults, findUse: FindUse) {
  for (const name of Object.keys(settings))
    if (!SETTINGS.includes(name)) faults.noteUnknown(['settings', name], 'setting', name, SETTINGS);
  const text = (name: string): string | undefined => {
    const value = settings[name];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value.length <= LONGEST_SETTING) return value;
    faults.note(['settings', name], `must be a text of at most ${LONGEST_SETTING} characters.`);
    return undefined;
  };
  readEmails(text(EMAIL), faults);
  const webhookUrls = readReceivers(text(WEBHOOK_URL), WEBHOOK_URL, faults).map(asUrl);
  const seconds = readTimeToLive(settings[TIME_TO_LIVE], faults);
  const given = text(API);
  const resource = given === undefined ? undefined : readApiSetting(given, findUse);
  if (resource !== undefined && 'fault' in resource) faults.note(['settings', API], resource.fault);
  // Clients of the original send it as a text.
  const shown = seconds === undefined ? settings : { ...settings, [TIME_TO_LIVE]: seconds };
  return { settings: shown, webhookUrls, api: resource !== undefined && 'uri' in resource ? resource : undefined };
}

function readEmails(text: string | undefined, faults: Faults): void {
  const wrong = readReceivers(text, EMAIL, faults).find((address) => !/^[^\s@,]+@[^\s@,]+$/.test(address));
  if (wrong !== undefined)
    faults.note(['settings', EMAIL], `must be addresses, separated by commas. '${cutText(wrong)}' is none.`);
}

function readReceivers(text: string | undefined, name: string, faults: Faults): readonly string[] {
  const receivers = (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  if (receivers.length > MOST_RECEIVERS)
    faults.note(['settings', name], `must have at most ${MOST_RECEIVERS} entries; it has ${receivers.length}.`);
  return receivers.slice(0, MOST_RECEIVERS);
}

/** Returns a URL with its scheme: without one, it is `https`. */
export function asUrl(text: string): string {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
}

function readTimeToLive(given: unknown, faults: Faults): number | undefined {
  if (given === undefined) return undefined;
  const seconds = wholeNumber(given);
  if (seconds === undefined || seconds < 1 || seconds > LONGEST_LIFE_SECONDS)
    faults.note(['settings', TIME_TO_LIVE], `must be a whole number of seconds from 1 to ${LONGEST_LIFE_SECONDS}.`);
  return seconds;
}

/** Returns the seconds after which a formula instance is deleted. */
export function timeToLiveOf({ settings }: Pick<InstanceValues, 'settings'>): number | undefined {
  return wholeNumber(settings[TIME_TO_LIVE]);
}

/** Returns why a formula cannot have instances. Its trigger leads nowhere. */
export function findTriggerFault({
  id,
  triggers,
  steps,
}: Pick<Formula, 'id' | 'triggers' | 'steps'>): ErrorDetail | undefined {
  const [trigger] = triggers;
  const path = pointer('path', 'id');
  if (trigger === undefined)
    return { path, message: `Formula ${id} has no trigger. Add one with POST /formulas/${id}/triggers.` };
  if (trigger.onSuccess.length === 0)
    return {
      path,
      message: `The trigger of formula ${id} leads to no step. Put the name of the first step into its onSuccess.`,
    };
  const names = new Set(steps.map(({ name }) => name));
  const unknown = trigger.onSuccess.find((name) => !names.has(name));
  return unknown === undefined
    ? undefined
    : {
        path,
        message: `The trigger of formula ${id} leads to '${cutText(unknown)}', which is no step of the formula.`,
      };
}

/** An element instance, as far as formula instances that name it depend on it. */
export interface ElementInstance {
  readonly id: number;
  readonly accountId: number;
}

/** The data that the values of variables are checked against. */
interface ValueContext {
  readonly formula: Pick<Formula, 'configuration'>;
  /** The element instances of the organization among those that are named. */
  readonly elementInstances: ReadonlyMap<number, ElementInstance>;
  /** Returns whether the caller may name an element instance for a variable. */
  readonly mayName: (instance: ElementInstance, key: string) => boolean;
}

/** Checks the values of variables. */
export function checkVariables(
  { configuration }: Pick<InstanceValues, 'configuration'>,
  { formula, elementInstances, mayName }: ValueContext,
  faults: Faults,
): void {
  for (const { key, type, required } of formula.configuration) {
    const value = Object.hasOwn(configuration, key) ? (configuration[key] ?? '') : '';
    const segments = ['configuration', key];
    if (value === '') {
      if (required === true) faults.note(segments, 'is missing. The formula requires a value for this variable.');
      continue;
    }
    if (type !== 'elementInstance') continue;
    const id = readInstanceId(value);
    const instance = id === undefined ? undefined : elementInstances.get(id);
    if (instance === undefined || !mayName(instance, key))
      faults.note(segments, `must be the id of an element instance of the account; '${cutText(value)}' is none.`);
  }
}

/** Returns the ids of element instances that the values of variables may be. */
export function namedInstanceIds(
  { configuration: variables }: Pick<Formula, 'configuration'>,
  { configuration }: Pick<InstanceValues, 'configuration'>,
): readonly number[] {
  const values = variables.filter(({ type }) => type === 'elementInstance').map(({ key }) => configuration[key] ?? '');
  return [...new Set(values.map(readInstanceId))].filter((id) => id !== undefined);
}

/** Returns a fault of a member of the body, for `details`. */
export function faultAt(segments: readonly string[], text: string): ErrorDetail {
  const path = pointer('body', ...segments);
  return { path, message: `${inWords(path)} ${text}` };
}

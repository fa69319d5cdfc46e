import type { ZoneId } from '@js-joda/core';
import type { Config } from '../../connector/contract.ts';
import { findZone } from '../../date-pattern.ts';
import { AppError, type ErrorDetail, pointer, suggest } from '../../errors.ts';
import { isJsonObject } from '../../numbers/exact-json.ts';
import { toJsonNumber } from '../../numbers/number-value.ts';
import type { PlatformField } from '../event-settings.ts';
import { EVENTS_ENABLED, textOf, VENDOR_TYPE } from '../event-settings.ts';
import {
  assertEverything,
  assertTarget,
  namesOfTwoWords,
  type PollElement,
  type PollTarget,
  standsFor,
} from './poll-target.ts';
import { MOST_ROWS, type PollQuery, parsePollUrl } from './poll-url.ts';
import { type ReadTimestamp, timestampReader } from './timestamps.ts';

/** The members of an object in the configuration. */
type SettingMembers = Readonly<Record<string, unknown>>;

const INTERVAL = 'event.poller.refresh_interval';
const CONFIGURATION = 'event.poller.configuration';
const TIME_ZONE = 'event.poller.time.zone';
const BACKFILL = 'event.poller.backfill';
const OBJECTS = 'event.objects';

/** Configuration keys of every element: which changes at its provider become events. */
export const POLL_FIELDS: readonly PlatformField[] = [
  {
    key: INTERVAL,
    type: 'number',
    description: 'Minutes between two polls, at least 1. Default: 15.',
    example: '5',
  },
  {
    key: CONFIGURATION,
    type: 'object',
    description:
      'Resources to poll, by name, each with `url`, `idField`, `datesConfiguration`, `filterByUpdatedDate`, `createdCheckTolerance`, `pageSize`, `pollDelay`. An object, or its JSON text.',
    example:
      '{"contacts":{"url":"/hubs/crm/contacts?where=modified>=\'${gmtDate:yyyy-MM-dd\'T\'HH:mm:ss\'Z\'}\'","idField":"id"}}',
  },
  {
    key: TIME_ZONE,
    type: 'string',
    example: 'Europe/Berlin',
    description: 'Time zone of `${date:…}`, and of times in records without a time zone. Default: UTC.',
  },
  {
    key: BACKFILL,
    type: 'boolean',
    description: 'Whether the first poll creates an event for each existing record. Default: false.',
  },
  {
    key: OBJECTS,
    type: 'string',
    example: 'contacts,orders',
    description: 'Objects to poll by the rules of the element, separated by commas.',
  },
];

const DEFAULT_INTERVAL_MINUTES = 15;
const DEFAULT_TOLERANCE_SECONDS = 2;
const MOST_RESOURCES = 100;
const LONGEST_NAME = 200;
const MOST_MINUTES = 31 * 24 * 60;

/** Checked poll settings of an instance. */
export interface PollSettings {
  readonly intervalMs: number;
  readonly zone: ZoneId;
  readonly backfill: boolean;
  readonly resources: readonly PolledResource[];
}

/** Polled resource of an instance. Undefined members default to the element's declaration for the object. */
export interface PolledResource {
  /** Name of the object in the resource's events. */
  readonly name: string;
  readonly query: PollQuery | undefined;
  readonly idField: string | undefined;
  readonly updated: DateField | undefined;
  readonly created: DateField | undefined;
  /** Whether to skip records that were updated before the start of the polled period, although the query returns them. */
  readonly filterByUpdated: boolean;
  /** Maximum difference in milliseconds between creation and update for which a record counts as created. */
  readonly createdToleranceMs: number;
  readonly pageSize: number | undefined;
  /** Milliseconds after its own time by which a change may become visible. */
  readonly overlapMs: number | undefined;
}

export interface DateField {
  readonly field: string;
  readonly read: ReadTimestamp;
}

/** Collects what is wrong, each with its path inside the configuration. */
interface Faults {
  readonly add: (path: readonly string[], message: string) => undefined;
  /** Adds what is wrong with what a resource names. */
  readonly check?: (target: PollTarget, path: readonly string[]) => void;
}

/**
 * Reads the settings for polling; undefined when the instance is not polled.
 * @param config as `resolveConfiguration` returns it
 * @param element whose `polls` are polled when the configuration names nothing
 */
export function readPollSettings(config: Config, element: Polled = NO_ELEMENT): PollSettings | undefined {
  if (config[EVENTS_ENABLED] !== true) return undefined;
  return settingsOf(config, element, { add: () => undefined });
}

/** Members of an element that decide how a configuration is read. */
export type Polled = Pick<PollElement, 'objects' | 'polls'>;
const NO_ELEMENT: Polled = { objects: {} };

/** Element and URLs that poll settings are checked against. */
interface PollContext {
  readonly element: PollElement;
  /** Base URLs of the service: the public one first, then others that lead to it. */
  readonly ownUrls: readonly string[];
}

/**
 * Returns the faults in the poll settings, regardless of the limits of a process.
 * @param context without it, the existence of the named objects and URLs is not checked
 */
export function findPollFaults(config: Config, element: Polled, context?: PollContext): readonly ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  const add = (path: readonly string[], message: string): undefined => {
    faults.push({ path: pointer('body', 'configuration', ...path), message: `'${path.join('.')}' ${message}` });
  };
  const minutes = config[INTERVAL];
  if (typeof minutes === 'number' && !(minutes > 0 && minutes <= MOST_MINUTES)) {
    add([INTERVAL], `must be from 1 to ${MOST_MINUTES} minutes.`);
  }
  const check = (target: PollTarget, at: readonly string[]) => {
    if (context === undefined) return;
    attempt(() => assertTarget(context.element, target, context.ownUrls), at, { add });
  };
  settingsOf(config, element, { add, check });
  return faults;
}

/** Returns the names of objects that the configuration of an instance asks for events of. */
export function namedObjects(config: Config): readonly string[] {
  const configured = config[CONFIGURATION];
  const listed = textOf(config[OBJECTS])?.split(',') ?? [];
  const names = [...(isJsonObject(configured) ? Object.keys(configured) : []), ...listed.map((name) => name.trim())];
  return names.slice(0, MOST_RESOURCES);
}

/**
 * Asserts that the interval is allowed. Only services that are reachable from their own machine alone may have fractions of a minute.
 * @throws AppError REQUEST_INVALID
 */
export function assertInterval(given: Config, shortestMs: number): void {
  const minutes = Number(given[INTERVAL] ?? Number.NaN);
  if (!(minutes > 0 && minutes * 60_000 < shortestMs)) return;
  const message = `'${INTERVAL}' must be at least ${shortestMs / 60_000} minutes.`;
  throw new AppError('REQUEST_INVALID', message, {
    details: [{ path: pointer('body', 'configuration', INTERVAL), message }],
  });
}

function settingsOf(config: Config, element: Polled, faults: Faults): PollSettings | undefined {
  const zone = zoneOf(config, faults);
  const context = { zone, namesOfTwoWords: namesOfTwoWords(element), faults };
  const configured = resourcesIn(config, context);
  const names =
    textOf(config[OBJECTS])
      ?.split(',')
      .map((name) => name.trim()) ?? [];
  const named = names.filter((name) => name !== '' && !configured.some((resource) => resource.name === name));
  const isNamed = configured.length + named.length > 0;
  const short = named.filter((name) => name.length <= LONGEST_NAME);
  if (short.length < named.length) faults.add([OBJECTS], `must hold names of 1 to ${LONGEST_NAME} characters.`);
  for (const name of short) faults.check?.({ name, query: undefined }, [OBJECTS]);
  const objects = (isNamed ? short : (element.polls ?? [])).map((name) => readResource({}, { ...context, name }));
  const resources = spelledOut([...configured, ...objects], element, faults);
  const isAsked = config[VENDOR_TYPE] === 'polling' || typeof config[INTERVAL] === 'number' || isNamed;
  if (config[VENDOR_TYPE] === 'webhook' || !isAsked) return undefined;
  if (resources.length > MOST_RESOURCES) faults.add([CONFIGURATION], `names more than ${MOST_RESOURCES} resources.`);
  return {
    intervalMs: Math.max(1, Math.round(Number(config[INTERVAL] ?? DEFAULT_INTERVAL_MINUTES) * 60_000)),
    zone,
    backfill: config[BACKFILL] === true,
    resources: resources.slice(0, MOST_RESOURCES),
  };
}

function zoneOf(config: Config, faults: Faults): ZoneId {
  const name = textOf(config[TIME_ZONE]) ?? 'UTC';
  const zone = findZone(name);
  if (zone !== undefined) return zone;
  faults.add([TIME_ZONE], `must be a time zone such as Europe/Berlin: '${name}' is unknown.`);
  return zoneOf({}, faults);
}

/** Replaces a resource that stands for several objects by these objects, except those that have a resource of their own. */
function spelledOut(resources: readonly PolledResource[], element: Polled, faults: Faults): readonly PolledResource[] {
  const read = resources.map((resource) => ({ resource, objects: standsFor(element, resource) }));
  const names = new Set(read.flatMap(({ resource, objects }) => (objects === undefined ? [resource.name] : [])));
  return read.flatMap(({ resource, objects }) => {
    if (objects === undefined) return [resource];
    const { name: given, query, pageSize = query?.pageSize } = resource;
    if (query !== undefined) attempt(() => assertEverything(query), [CONFIGURATION, given, 'url'], faults);
    return objects.flatMap((name) => {
      if (names.has(name)) return [];
      names.add(name);
      return [{ ...resource, name, query: undefined, pageSize }];
    });
  });
}

function resourcesIn(config: Config, context: ResourceContext): readonly PolledResource[] {
  const { faults } = context;
  const given = config[CONFIGURATION];
  if (!isJsonObject(given)) return [];
  return Object.entries(given).flatMap(([name, members]) => {
    if (name === '' || name.length > LONGEST_NAME) {
      faults.add([CONFIGURATION, name], `must have a name of 1 to ${LONGEST_NAME} characters.`);
      return [];
    }
    if (isJsonObject(members)) {
      const resource = readResource(members, { ...context, name });
      const hasUrl = (members.url ?? '') !== '';
      // A fault of the URL itself is reported already.
      if (hasUrl === (resource.query !== undefined))
        faults.check?.(resource, [CONFIGURATION, name, ...(hasUrl ? ['url'] : [])]);
      return [resource];
    }
    faults.add([CONFIGURATION, name], 'must be an object.');
    return [];
  });
}

const RESOURCE_MEMBERS = [
  'url',
  'idField',
  'datesConfiguration',
  'filterByUpdatedDate',
  'createdCheckTolerance',
  'pageSize',
  'pollDelay',
];
const DATE_MEMBERS = ['updatedDateField', 'updatedDateFormat', 'createdDateField', 'createdDateFormat'];

interface ResourceContext {
  readonly zone: ZoneId;
  readonly namesOfTwoWords: readonly string[];
  readonly faults: Faults;
}

function readResource(
  members: SettingMembers,
  { name, zone, namesOfTwoWords: joined, faults }: ResourceContext & { readonly name: string },
): PolledResource {
  const path = [CONFIGURATION, name];
  assertKnown(members, RESOURCE_MEMBERS, path, faults);
  const read = memberReader(members, path, faults);
  const dates = read.members('datesConfiguration');
  const datesPath = [...path, 'datesConfiguration'];
  assertKnown(dates, DATE_MEMBERS, datesPath, faults);
  const dateField = (kind: 'updated' | 'created'): DateField | undefined => {
    const readDate = memberReader(dates, datesPath, faults);
    const [field, format] = [readDate.text(`${kind}DateField`), readDate.text(`${kind}DateFormat`)];
    const at = [...datesPath, `${kind}DateFormat`];
    const readTime = attempt(() => timestampReader(format, zone), at, faults);
    return field === undefined || readTime === undefined ? undefined : { field, read: readTime };
  };
  const url = read.text('url');
  const delay = read.number('pollDelay', { least: 0, most: 30 * 24 * 3600 });
  return {
    name,
    query:
      url === undefined ? undefined : attempt(() => parsePollUrl(url, zone.id(), joined), [...path, 'url'], faults),
    idField: read.text('idField'),
    updated: dateField('updated'),
    created: dateField('created'),
    filterByUpdated: read.boolean('filterByUpdatedDate') ?? false,
    createdToleranceMs:
      1000 * (read.number('createdCheckTolerance', { least: 0, most: 24 * 3600 }) ?? DEFAULT_TOLERANCE_SECONDS),
    pageSize: read.number('pageSize', { least: 1, most: MOST_ROWS, isWhole: true }),
    overlapMs: delay === undefined ? undefined : delay * 1000,
  };
}

function assertKnown(members: SettingMembers, known: readonly string[], path: readonly string[], faults: Faults): void {
  for (const name of Object.keys(members)) {
    if (!known.includes(name)) faults.add([...path, name], `is unknown.${suggest(name, known).hint}`);
  }
}

function attempt<Result>(read: () => Result, path: readonly string[], faults: Faults): Result | undefined {
  try {
    return read();
  } catch (error) {
    return faults.add(path, `cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Values may be texts, because configurations are often kept as such. */
function memberReader(members: SettingMembers, path: readonly string[], faults: Faults) {
  const given = (name: string) => (members[name] === null || members[name] === '' ? undefined : members[name]);
  return {
    text: (name: string): string | undefined => {
      const value = given(name);
      if (value === undefined || typeof value === 'string') return value;
      return faults.add([...path, name], 'must be a text.');
    },
    number: (
      name: string,
      { least, most, isWhole = false }: { readonly least: number; readonly most: number; readonly isWhole?: boolean },
    ): number | undefined => {
      const value = given(name);
      if (value === undefined) return undefined;
      const number = toJsonNumber(value);
      const isNumber = typeof number === 'number' && (!isWhole || Number.isInteger(number));
      if (isNumber && number >= least && number <= most) return number;
      return faults.add([...path, name], `must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}.`);
    },
    boolean: (name: string): boolean | undefined => {
      const value = given(name);
      if (value === undefined) return undefined;
      if (value === true || value === 'true') return true;
      if (value === false || value === 'false') return false;
      return faults.add([...path, name], 'must be true or false.');
    },
    members: (name: string): SettingMembers => {
      const value = given(name);
      if (isJsonObject(value)) return value;
      if (value !== undefined) faults.add([...path, name], 'must be an object.');
      return {};
    },
  };
}

import { createHash } from 'node:crypto';
import type { Changes, ObjectSpec } from '../connector/contract.ts';
import { canonicalJson } from '../db/bound-values.ts';
import type { DateField, PolledResource, PollSettings } from '../instances/polling/poll-settings.ts';
import { timestampReader } from '../instances/polling/timestamps.ts';
import type { ListRequest } from '../resources/index.ts';
import { isMappedObject } from '../resources/mapped.ts';
import { type FieldSpec, quoteText, type Row, reader } from '../where/index.ts';

export type PollPlan = ReturnType<typeof planPoll>;

const DEFAULT_OVERLAP_SECONDS = 60;
const DEFAULT_PAGE_SIZE = 200;
const DAY_MS = 86_400_000;
const EPOCH_MS = 0;

/**
 * Returns how a resource of an instance is polled: its queries, and the fields that show when records changed. Times are milliseconds since
 * 1970, by the provider's clock. Settings override the object's declaration, which overrides guesses from field names.
 */
export function planPoll(resource: PolledResource, settings: PollSettings, object: ObjectSpec) {
  const { query } = resource;
  const objectName = query?.objectName ?? resource.name;
  const changes: Changes = object.changes ?? {};
  const updated = resource.updated ?? fieldOf(changes.updated ?? guess(object, UPDATED_NAMES), settings);
  const created = resource.created ?? fieldOf(changes.created ?? guess(object, CREATED_NAMES), settings);
  const spec = updated && object.fields[updated.field];
  const isAskable = query === undefined && spec !== undefined && isComparable(spec);
  const idField = resource.idField ?? object.idField ?? 'id';
  const readId = reader(idField);
  const readVendorId = reader((isMappedObject(object) ? object.vendor.idField : undefined) ?? 'id');
  const updatedOf = readerOf(updated);
  const createdOf = readerOf(created);
  const granularityMs = query?.granularityMs ?? granularityOf(spec);
  const isWindow = query === undefined ? isAskable : query.granularityMs !== undefined || resource.filterByUpdated;
  const named = [idField, updated?.field, created?.field].filter((field) => field !== undefined);
  const needed = query?.child === undefined ? named.filter((field) => Object.hasOwn(object.fields, field)) : [];
  const hasFeed = changes.feed !== undefined && query === undefined;
  // A feed beside a field that the mapping leaves out has only some of the changes, such as deletions.
  const hasWholeFeed = hasFeed && (isMappedObject(object) ? object.vendor : object).changes?.updated === undefined;
  /** `window`: reads changes since a time. `snapshot`: reads all records and compares them with the stored state. `feed`: reads the changes that the provider reports. */
  const kind: 'window' | 'snapshot' | 'feed' = hasWholeFeed ? 'feed' : isWindow ? 'window' : 'snapshot';
  const overlapMs = resource.overlapMs ?? (changes.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS) * 1000;
  return {
    name: resource.name,
    objectName,
    child: query?.child,
    kind,
    hasFeed,
    /** Returns the query for changes since a time; for all records if the provider cannot filter by time. */
    since: (ms: number): Pick<ListRequest, 'where' | 'orderBy' | 'fields'> => {
      if (query !== undefined) {
        return isWindow ? withFields(query.parametersAt(ms), needed) : query.parametersAt(ms);
      }
      if (updated === undefined || spec === undefined || !isAskable) return {};
      return {
        where: `${updated.field} >= '${literalOf(spec, ms)}'`,
        ...(spec.sortable === true && { orderBy: `${updated.field} asc` }),
      };
    },
    /**
     * Returns the query for the records with these ids, with the same fields as reading each alone. Undefined if a list does not show all of
     * them.
     */
    whereIds: isListedWhole(object)
      ? (ids: readonly string[]) => `${idField} IN (${ids.map(quoteText).join(', ')})`
      : undefined,
    /** Query for the record that changed last; undefined if the provider does not support it. */
    newest: isAskable && spec.sortable === true ? { orderBy: `${updated?.field} desc` } : undefined,
    /** Returns the id of a record. Without a field for it, the id of a mapped record is that of `vendorRow`, the provider's record behind it. */
    idOf: (row: Row, vendorRow: Row | undefined) =>
      textOf(readId(row)) ?? (vendorRow && textOf(readVendorId(vendorRow))),
    ...(isMappedObject(object)
      ? { vendorName: object.inForce.vendorName, mappingVersion: object.mapping.version, mappedObject: objectName }
      : { vendorName: undefined, mappingVersion: null, mappedObject: null }),
    updatedOf,
    /** Returns whether the record was created, according to its dates; undefined if they don't show it. */
    isCreated: (row: Row) => {
      const [createdMs, updatedMs] = [createdOf(row), updatedOf(row)];
      if (createdMs === undefined) return undefined;
      return updatedMs === undefined || Math.abs(updatedMs - createdMs) <= resource.createdToleranceMs;
    },
    hasDates: updated !== undefined,
    /** Whether records are skipped that were updated before the time that polling starts from. */
    filterByUpdated: resource.filterByUpdated && updated !== undefined,
    /** Returns a value that distinguishes two versions of a record for which `updatedOf` may be equal. */
    versionOf: versionReader(updated, spec),
    /** Milliseconds before the watermark at which the next poll begins. Changes that the granularity does not distinguish are requested once more. */
    overlapMs: overlapMs + granularityMs,
    pageSize: resource.pageSize ?? query?.pageSize ?? DEFAULT_PAGE_SIZE,
  };
}

/** Returns the names of the fields that a poll depends on, as far as the object has them: its id, its dates, and those that its query names. */
export function fieldsOfPoll(resource: PolledResource, object: ObjectSpec): readonly string[] {
  const { changes = {}, idField = 'id' } = object;
  const texts = Object.values(resource.query?.parametersAt(EPOCH_MS) ?? {}).join(' ');
  const names = [
    resource.idField ?? idField,
    resource.updated?.field ?? changes.updated ?? guess(object, UPDATED_NAMES),
    resource.created?.field ?? changes.created ?? guess(object, CREATED_NAMES),
    ...(texts.match(/[\w.]+/g) ?? []),
  ];
  return [...new Set(names)].flatMap((name) =>
    name !== undefined && Object.hasOwn(object.fields, name) ? [name] : [],
  );
}

/** Adds the fields that the poll needs to a list of fields. Without them, it cannot find what changed, and up to when. */
function withFields({ fields, ...rest }: Pick<ListRequest, 'where' | 'orderBy' | 'fields'>, needed: readonly string[]) {
  if (fields === undefined) return rest;
  const given = fields.split(',').map((field) => field.trim());
  return { ...rest, fields: [...new Set([...given, ...needed])].join(',') };
}

function readerOf(date: DateField | undefined): (row: Row) => number | undefined {
  if (date === undefined) return () => undefined;
  const read = reader(date.field);
  return (row) => date.read(read(row));
}

function fieldOf(field: string | undefined, { zone }: PollSettings): DateField | undefined {
  return field === undefined ? undefined : { field, read: timestampReader(undefined, zone) };
}

function isComparable(spec: FieldSpec): boolean {
  return (spec.type === 'datetime' || spec.type === 'date') && spec.filter?.['>='] !== undefined;
}

function literalOf({ type }: FieldSpec, ms: number): string {
  const text = new Date(ms).toISOString();
  return type === 'date' ? text.slice(0, 10) : text;
}

function isListedWhole({ list, fields }: ObjectSpec): boolean {
  return list !== undefined && Object.values(fields).every(({ unlisted }) => unlisted !== true);
}

const STEPS_MS = { day: DAY_MS, minute: 60_000, second: 1000, millisecond: 1 };

/** Returns the granularity of the field in milliseconds. */
function granularityOf(spec: FieldSpec | undefined): number {
  if (spec?.type === 'date') return DAY_MS;
  return STEPS_MS[spec?.domain?.step ?? 'second'];
}

/**
 * Returns a function that computes the version of a record. A time in milliseconds distinguishes versions. With a coarser one, a record can
 * change twice, so its content counts too. Providers also write whole seconds in milliseconds, so a time that ends in a whole second may be
 * coarser.
 */
function versionReader(updated: DateField | undefined, spec: FieldSpec | undefined): (row: Row) => Buffer {
  if (updated === undefined || spec?.domain?.step !== 'millisecond') return (row) => hashOf(canonicalJson(row));
  const read = reader(updated.field);
  return (row) => {
    const ms = updated.read(read(row));
    return hashOf(ms === undefined || ms % 1000 === 0 ? canonicalJson(row) : `at ${ms}`);
  };
}

/** Returns the hash of a text as stored. 128 bits are enough to distinguish the records of one poll. */
export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 16);
}

function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Names of fields with the time of the last change, in lower case and reduced to letters. */
const UPDATED_NAMES = [
  'systemmodstamp',
  'systemmodifiedat',
  'updatedat',
  'updatedon',
  'updateddate',
  'updated',
  'modifiedat',
  'modifiedon',
  'modifieddate',
  'modifieddatetime',
  'modifiedtime',
  'modified',
  'lastmodifiedat',
  'lastmodifiedon',
  'lastmodifieddate',
  'lastmodifieddatetime',
  'lastmodifiedtime',
  'lastmodified',
  'lastupdatedat',
  'lastupdatedtime',
  'lastupdated',
  'lastchangedat',
  'lastchangedatetime',
  'lastchangedate',
  'lastchanged',
  'lastchangeddatetime',
  'lastchangedon',
  'entitylastchangedon',
  'changedat',
  'changedon',
  'changeddatetime',
  'datemodified',
  'dateupdated',
  'updateddatetime',
  'updatedatetime',
  'updatedtime',
  'updatetime',
  // Days.
  'changedate',
  'updatedate',
];
const CREATED_NAMES = [
  'systemcreatedat',
  'createdat',
  'createdon',
  'createddate',
  'createddatetime',
  'createdtime',
  'creationdatetime',
  'creationdate',
  'datecreated',
  'created',
  'createtime',
  'createdate',
];

/** Returns the first of the names that is a field and can be filtered. The better names come first. */
function guess({ fields }: ObjectSpec, names: readonly string[]): string | undefined {
  const byName = new Map(
    Object.entries(fields)
      .filter(([, spec]) => isComparable(spec))
      .map(([field]) => [field.toLowerCase().replace(/[^a-z]/g, ''), field]),
  );
  const found = names.find((name) => byName.has(name));
  return found === undefined ? undefined : byName.get(found);
}

import { can, codec, type Domain, defined, type FieldSpec, type Json, json, type Operator } from '#connector';
import { DOCUMENT } from './adf.ts';

/** The facts about the fields of a site that their list does not have. */
export interface Site {
  /** The time zone of the user. */
  readonly zone: string | undefined;
  /** The operators of each field in JQL, by the field's name in JQL. */
  readonly operators: ReadonlyMap<string, ReadonlySet<string>>;
  /** The fields by which JQL orders. */
  readonly orderable: ReadonlySet<string>;
  /** The names of statuses, priorities, resolutions, types, and the keys of projects, by the type of their fields. */
  readonly names: Readonly<Record<string, ReadonlySet<string>>>;
}

/** The operators of JQL that each of ours needs. */
const NEEDED: Readonly<Partial<Record<Operator, string>>> = {
  '=': '=',
  '!=': '!=',
  IN: 'in',
  'NOT IN': 'not in',
  '<': '<=',
  '<=': '<=',
  '>': '>=',
  '>=': '>=',
  LIKE: '~',
  'IS NULL': 'is',
  'IS NOT NULL': 'is not',
};

/** Texts are found by their words, so a search has only words, and Causeway checks the rows again. */
const TEXT: FieldSpec = {
  type: 'string',
  nativeType: 'text',
  likeForms: ['literal', 'prefix', 'suffix', 'contains'],
  filter: { ...can.null, ...can.only('superset', '=', 'IN', 'LIKE') },
};
/** JQL compares instants by the minute. */
const INSTANT: FieldSpec = {
  type: 'datetime',
  nativeType: 'instant',
  domain: { step: 'millisecond' },
  filter: { ...can.null, ...can.order('superset'), '=': 'superset' },
  read: codec.instant(3).read,
  write: writeInstant,
};
const DATE: FieldSpec = { type: 'date', filter: { ...can.null, ...can.compare('exact') } };
const NUMBER: FieldSpec = {
  type: 'number',
  domain: { digits: { significant: 15 } },
  filter: { ...can.null, ...can.only('superset', '=', '<', '<=', '>', '>=') },
};
/** Source: the schema `User`. */
const ACCOUNT: Domain = { text: { nonEmpty: true, longest: 128 } };
/** Jira finds more than the name says, so rows are checked again, and negations are not sent. */
const NAME_FILTER = can.only('superset', '=', 'IN');

/** `2026-01-31T09:30:00.000+0000`: Jira does not accept `Z`. */
export function writeInstant(value: unknown): unknown {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? value : new Date(ms).toISOString().replace('Z', '+0000');
}

/** Returns the conversion of an object to one of its members, and back. */
function member(name: string): Required<Pick<FieldSpec, 'read' | 'write'>> {
  return {
    read: (native) => (json.isObject(native) ? (json.at(native, name) ?? null) : native),
    write: (value) => (value === null ? null : { [name]: value }),
  };
}

/** Returns the conversion of a list of objects to a list of one of their members. Jira has empty lists where there is no value. */
function members(name: string): Required<Pick<FieldSpec, 'read' | 'write'>> {
  const one = member(name);
  return {
    read: (native) => (Array.isArray(native) ? (native.length === 0 ? null : native.map(one.read)) : native),
    write: (value) => (Array.isArray(value) ? value.map(one.write) : []),
  };
}

const LIST: FieldSpec = { type: 'array', filter: can.null };
/** The member that names an item of a list, by the type of the items. */
const ITEMS: Readonly<Record<string, string>> = {
  option: 'value',
  version: 'name',
  component: 'name',
  user: 'accountId',
};
/** The types of fields whose values have a name, and the member that holds it. */
const NAMED: Readonly<Record<string, string>> = {
  status: 'name',
  priority: 'name',
  resolution: 'name',
  issuetype: 'name',
  project: 'key',
};
/** Fields that JQL compares otherwise than by their values, such as by durations. */
const SHOWN: FieldSpec = { type: 'string', onDemand: true, read: printJson };

function printJson(value: unknown): unknown {
  return value == null || typeof value === 'string' ? value : JSON.stringify(value);
}

function kindOf({ type, items, custom, system }: Json, { names }: Site): FieldSpec {
  const isCustom = custom !== undefined;
  const named = NAMED[String(type)];
  const known = names[String(type)];
  if (named !== undefined && !isCustom) {
    // Jira rejects names that it does not have, and ignores their case.
    const domain: Domain = { text: { nonEmpty: true, askable: (text) => known?.has(text) === true } };
    return defined({
      type: 'string',
      collation: 'ci',
      domain,
      filter: { ...can.null, ...can.equal('superset') },
      ...member(named),
      values: known && [...known],
    });
  }
  switch (type) {
    case 'string':
      return isDocument(custom, system) ? { ...TEXT, ...DOCUMENT } : TEXT;
    case 'number':
      return isCustom ? NUMBER : { type: 'number', read: codec.integer.read };
    case 'date':
      return DATE;
    case 'datetime':
      return INSTANT;
    case 'user':
      // Jira also finds users by their names, so rows are checked again, and negations are not sent.
      return {
        type: 'string',
        nativeType: 'user',
        domain: ACCOUNT,
        filter: { ...can.null, ...NAME_FILTER },
        ...member('accountId'),
      };
    case 'option':
      return { type: 'string', filter: can.null, ...member('value') };
    case 'issuelink':
      // Jira also finds an issue by a key that it had in another project.
      return {
        type: 'string',
        nativeType: 'issue',
        domain: KEY_DOMAIN,
        filter: { ...can.null, ...NAME_FILTER },
        ...member('key'),
      };
    case 'array':
      return listOf(String(items));
    default:
      return SHOWN;
  }
}

function listOf(items: string): FieldSpec {
  const name = ITEMS[items];
  if (name !== undefined) return { ...LIST, ...members(name) };
  if (items !== 'string') return { type: 'array', onDemand: true };
  return {
    ...LIST,
    read: (native) => (Array.isArray(native) && native.length === 0 ? null : native),
    write: (value) => value ?? [],
  };
}

/** Texts of several lines are documents. Source: the introduction of the API, version 3. */
function isDocument(custom: unknown, system: unknown): boolean {
  return system === 'description' || system === 'environment' || /:textarea$/.test(String(custom));
}

const KEY_DOMAIN: Domain = { text: { nonEmpty: true, possible: (key) => /^[A-Z][A-Z0-9_]*-\d+$/.test(key) } };

/** Fields of issues that Jira sets itself, or that only a transition sets. */
const UNWRITTEN = new Set(
  'created updated resolutiondate resolution creator status statuscategorychangedate lastViewed votes watches progress aggregateprogress timespent aggregatetimespent aggregatetimeestimate aggregatetimeoriginalestimate timeestimate timeoriginalestimate workratio subtasks issuelinks attachment comment worklog issuerestriction thumbnail'.split(
    ' ',
  ),
);
const ALWAYS = new Set(['summary', 'project', 'issuetype', 'status', 'created', 'updated']);
const REQUIRED = new Set(['summary', 'project', 'issuetype']);

/** The fields that every issue has beside those of the list. */
export const OWN_FIELDS: Readonly<Record<string, FieldSpec>> = {
  id: {
    type: 'string',
    nativeType: 'issue',
    nullable: false,
    domain: { text: { nonEmpty: true, possible: (id) => /^\d{1,18}$/.test(id) } },
    filter: can.equal('exact'),
  },
  key: {
    type: 'string',
    nativeType: 'issue',
    nullable: false,
    label: 'Key',
    domain: KEY_DOMAIN,
    filter: NAME_FILTER,
  },
};

/** The category of the status: `new`, `indeterminate` or `done`. */
export const STATUS_CATEGORY: FieldSpec = {
  type: 'string',
  native: 'status',
  nullable: false,
  label: 'Status category',
  values: ['new', 'indeterminate', 'done', 'undefined'],
  read: (status) => json.at(status, 'statusCategory', 'key') ?? null,
};

/** The schema of the parent: the list of fields has none. */
const PARENT = { type: 'issuelink', system: 'parent' } as const;

/** Returns the field for an entry of the list of fields, or undefined for one without values. Source: the schema `FieldDetails`. */
export function toFieldSpec(details: Json, site: Site): readonly [name: string, FieldSpec] | undefined {
  const name = json.text(details.id, 'the id of a field');
  const schema = details.schema ?? (name === 'parent' ? PARENT : undefined);
  if (!json.isObject(schema) || Object.hasOwn(OWN_FIELDS, name)) return undefined;
  const { filter, ...kind } = kindOf(schema, site);
  const clause = clauseOf(details, site);
  const isCustom = details.custom === true;
  const isWritten = !UNWRITTEN.has(name) && kind.onDemand !== true;
  const canClear = !ALWAYS.has(name);
  return [
    name,
    defined({
      ...kind,
      native: name,
      label: json.findText(details.name),
      custom: isCustom || undefined,
      nullable: canClear ? undefined : false,
      required: REQUIRED.has(name) || undefined,
      createable: isWritten || undefined,
      // The status is changed by a transition, and issues do not change their project here.
      updateable: (isWritten && name !== 'project') || name === 'status' || undefined,
      clearable: canClear ? undefined : false,
      sortable: (!canClear && kind.type === 'datetime' && site.orderable.has(clause)) || undefined,
      filter: filter && allowed(filter, site.operators.get(clause) ?? new Set(), kind.nativeType === 'text', canClear),
    }),
  ];
}

/**
 * Returns the name of a field in JQL: `cf[10010]` for a custom field, whose other names need not be unique, otherwise the one of its names
 * that the site lists.
 */
export function clauseOf({ id, clauseNames }: Json, { operators }: Site): string {
  const names = (Array.isArray(clauseNames) ? clauseNames : []).flatMap((name) => json.findText(name) ?? []);
  return names.find((name) => /^cf\[\d+\]$/.test(name)) ?? names.find((name) => operators.has(name)) ?? String(id);
}

/** Returns the operators that the site has for a field. */
function allowed(
  filter: NonNullable<FieldSpec['filter']>,
  operators: ReadonlySet<string>,
  isText: boolean,
  canBeNull: boolean,
): FieldSpec['filter'] {
  const entries = Object.entries(filter).filter(([operator]) => {
    const isNullTest = operator === 'IS NULL' || operator === 'IS NOT NULL';
    const needed = isText && !isNullTest ? '~' : NEEDED[operator as Operator];
    return needed !== undefined && operators.has(needed) && (canBeNull || !isNullTest);
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

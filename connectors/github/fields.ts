import { can, type FieldSpec, type Fields, json } from '#connector';
import { LOGINS, QUOTED } from './search.ts';

export const MADE = { createable: true } as const;
export const WRITTEN = { createable: true, updateable: true } as const;
/** A text that GitHub keeps when it receives null. */
export const KEPT = { ...WRITTEN, clearable: false } as const;

const RANGED = can.only('exact', '=', '<', '<=', '>', '>=');
/** A time that a search finds. GitHub's times have whole seconds. */
export const TIME: Partial<FieldSpec> = { domain: { step: 'second' }, filter: RANGED };
export const COUNT: Partial<FieldSpec> = { range: ['0', '2147483647'], filter: RANGED };
export const FLAG: Partial<FieldSpec> = { filter: can.only('exact', '=') };
export const STATE: Partial<FieldSpec> = { domain: { closed: true }, filter: can.equal('exact') };
export const UNLISTED = { unlisted: true } as const;

/** The login of a person. Logins are compared without regard to case. */
function loginOf(native: string, filter?: FieldSpec['filter']): FieldSpec {
  return { type: 'string', native, collation: 'ci', domain: LOGINS, ...(filter !== undefined && { filter }) };
}

/** Returns the same additions for several fields, by names separated by blanks. */
export function all(spec: Partial<FieldSpec>, names: string): Readonly<Record<string, Partial<FieldSpec>>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, spec]));
}

/** A list of objects that is shown and written as a list of one of their members. */
function membersOf(member: string): FieldSpec {
  const read = (value: unknown) => (json.isObject(value) ? value[member] : value);
  return { type: 'array', ...WRITTEN, clearable: false, read: (list) => (Array.isArray(list) ? list.map(read) : list) };
}

/** An object that is shown and written as one of its members. */
function memberOf(type: FieldSpec['type'], member: string): FieldSpec {
  return { type, read: (value) => (json.isObject(value) ? (value[member] ?? null) : value) };
}

/** The repository of a record. Where the instance has only one, it need not be named. */
export function repositoryField(isFixed: boolean): FieldSpec {
  return {
    type: 'string',
    nullable: false,
    collation: 'ci',
    domain: { text: { nonEmpty: true, possible: (text) => /^[\w.-]{1,100}$/.test(text) } },
    createable: true,
    required: !isFixed,
  };
}

/** Fields that issues and pull requests share, beside those of their schemas. */
export const WORK: Fields = {
  author: loginOf('user.login', can.only('exact', '=')),
  assignee: loginOf('assignee.login', { ...can.only('superset', '='), 'IS NULL': 'exact' }),
  milestone_title: {
    type: 'string',
    native: 'milestone.title',
    collation: 'ci',
    domain: QUOTED,
    filter: { ...can.only('superset', '='), 'IS NULL': 'exact' },
  },
};
export const LABELS = membersOf('name');
export const LOGIN_LIST = membersOf('login');
export const MILESTONE = memberOf('integer', 'number');
export const ISSUE_TYPE = memberOf('string', 'name');
/** The name of a branch, which only single records have. */
export const BRANCH: FieldSpec = { ...memberOf('string', 'ref'), ...UNLISTED };

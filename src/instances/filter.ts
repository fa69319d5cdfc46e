import { EXACT_IN_SQL, type SqlQueryable } from '../where/index.ts';

const text = { type: 'string', filter: EXACT_IN_SQL } as const;
const integer = { type: 'integer', nullable: false, filter: EXACT_IN_SQL } as const;
const flag = { type: 'boolean', nullable: false, filter: EXACT_IN_SQL } as const;

/** What a listing of instances can be filtered by, under the names of the instance record. */
export const FILTERABLE_INSTANCE: SqlQueryable = {
  fields: {
    id: integer,
    name: { ...text, nullable: false },
    'element.key': { ...text, nullable: false },
    createdDate: { type: 'datetime', nullable: false, filter: EXACT_IN_SQL },
    valid: flag,
    disabled: flag,
    'user.id': integer,
  },
  columns: {
    id: 'id',
    name: 'name',
    'element.key': 'element_key',
    createdDate: 'created_at',
    valid: 'valid',
    disabled: 'disabled',
    'user.id': 'user_id',
  },
};

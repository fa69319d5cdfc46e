import { can, defineObject, type Fields, type Inputs } from '#connector';
import {
  ASKED_FLAG,
  ASKED_REFERENCE,
  ASKED_TEXT,
  ASKED_TIME,
  asked,
  FLAG,
  ID,
  LATEST_TIME,
  LIST,
  oneOf,
  PREFIXED,
  REFERENCE,
  TEXT,
  TIME,
  WRITTEN,
} from './fields.ts';
import { between, equal, filterBy } from './filter.ts';
import { LIMITS, latestFirst, listOf, SINCE } from './lists.ts';
import { recordsOf } from './records.ts';

const TAG_FIELDS = {
  id: ID,
  name: { ...ASKED_TEXT, ...WRITTEN, nullable: false, required: true },
  description: { ...ASKED_TEXT, ...WRITTEN, filter: can.only('superset', '=', 'IS NULL') },
  'category.id': { ...ASKED_REFERENCE, ...WRITTEN, filter: can.only('exact', '=', 'IS NULL') },
  create_time: { ...ASKED_TIME, sortable: true },
  update_time: { ...ASKED_TIME, sortable: true },
} as const satisfies Fields;

export const tags = defineObject<Inputs>({
  label: 'Tags',
  fields: TAG_FIELDS,
  limits: LIMITS,
  translator: filterBy(
    {
      id: equal('tag_ids'),
      name: equal('name'),
      description: equal('description'),
      'category.id': equal('category_id'),
      create_time: between('since_create_time', 'until_create_time'),
      update_time: between('since_update_time', 'until_update_time'),
    },
    { description: [{ 'description==': 'NONE' }], 'category.id': [{ 'category_id==': 'NONE' }] },
  ),
  list: listOf({ path: 'tags', rows: ['tags'] }),
  changes: { updated: 'update_time', created: 'create_time' },
  ...recordsOf('tags'),
});

const TASK_FIELDS = {
  id: ID,
  title: { ...PREFIXED, ...WRITTEN },
  description: { ...TEXT, ...WRITTEN },
  type: { ...TEXT, ...WRITTEN, format: 'task-type' },
  priority: { ...asked(oneOf('CRITICAL ESSENTIAL NONESSENTIAL')), ...WRITTEN },
  completed: { ...ASKED_FLAG, ...WRITTEN },
  accepted: { ...FLAG, ...WRITTEN },
  due_time: { ...TIME, ...WRITTEN, filter: can.null },
  completion_time: { ...TIME, ...WRITTEN },
  remind_time_mins: {
    type: 'integer',
    ...WRITTEN,
    label: 'Minutes before it is due: 5, 10, 15, 30, 60, 120, 240, 480, 1440, 2880',
  },
  assigned_to_user_id: {
    ...ASKED_REFERENCE,
    ...WRITTEN,
    required: true,
    filter: can.only('exact', '=', 'IS NULL'),
    aliases: { user_id: '=' },
  },
  contact_id: { ...ASKED_REFERENCE, ...WRITTEN },
  opportunity_id: { ...ASKED_REFERENCE, ...WRITTEN },
  custom_fields: { ...LIST, ...WRITTEN },
  create_time: { ...TIME, nullable: false, sortable: true },
  created_by_user_id: REFERENCE,
  modification_time: LATEST_TIME,
  last_updated_by_user_id: REFERENCE,
} as const satisfies Fields;

export const tasks = defineObject<Inputs>({
  label: 'Tasks',
  fields: TASK_FIELDS,
  limits: LIMITS,
  translator: filterBy(
    {
      id: equal('task_ids'),
      title: equal('title'),
      priority: equal('priority'),
      completed: equal('is_completed'),
      assigned_to_user_id: equal('user_id'),
      contact_id: equal('contact_id'),
      opportunity_id: equal('opportunity_id'),
      modification_time: { from: SINCE },
    },
    {
      due_time: [{ 'has_due_date==': 'false' }, { 'has_due_date==': 'true' }],
      assigned_to_user_id: [{ 'user_id==': 'UNASSIGNED' }],
    },
  ),
  list: latestFirst(
    listOf({ path: 'tasks', rows: ['tasks'], fields: ['custom_fields'] }),
    'modification_time',
    'update_time',
  ),
  changes: { updated: 'modification_time', created: 'create_time' },
  ...recordsOf('tasks', { fields: ['custom_fields'] }),
});

import { textOf } from '../arguments.ts';
import {
  inputSchema,
  OBJECTS,
  outputSchema,
  parameterSchema,
  propertySchema,
  propertySchemas,
  TEXT,
  TEXTS,
  WHOLE,
} from '../schemas.ts';
import { pageOf } from './pages.ts';
import { type AgentTool, defined, entriesOf, INSTANCE, memberOf, NAMES_NOTICE, OBJECT_NAME, pathOf } from './tool.ts';
import { exampleFilters } from './where-examples.ts';

const NEXT_PAGE = parameterSchema('NextPage', 'From the last result');
const TEXT_LIMIT = 300;
/** Maximum number of allowed values of a field that a description shows. */
const MOST_VALUES = 30;

const listInstances: AgentTool = {
  name: 'list_instances',
  description: 'Lists the connected accounts (instances) of this key.',
  operation: 'getOwnAccessKey',
  kind: 'read',
  input: inputSchema({}),
  output: outputSchema(
    {
      instances: {
        type: 'array',
        items: { type: 'object', properties: propertySchemas('KeyInstance', ['id', 'name', 'elementKey', 'tags']) },
      },
    },
    ['instances'],
  ),
  run: async ({ api }) => {
    const { body } = await api.json({ path: '/keys/me' });
    const { access, objects } = { access: memberOf(body, 'access'), objects: memberOf(body, 'objects') };
    const entries = entriesOf(memberOf(body, 'instances'));
    const whenCut = (count: number) => ({ more: entries.length - count });
    return { data: defined({ access, objects }), list: { name: 'instances', entries, textLimit: TEXT_LIMIT, whenCut } };
  },
};

const listObjects: AgentTool = {
  name: 'list_objects',
  description: 'Lists the objects of an instance, such as contacts. Mapped objects come first; prefer them.',
  operation: 'listObjects',
  kind: 'read',
  input: inputSchema({ ...INSTANCE, search: { ...TEXT, description: 'Part of a name' }, nextPage: NEXT_PAGE }),
  output: outputSchema(
    {
      objects: {
        type: 'array',
        items: { type: 'object', properties: propertySchemas('ObjectSummary', ['name', 'label']) },
      },
      total: WHOLE,
      nextPage: TEXT,
    },
    ['objects'],
  ),
  run: async ({ api, args, instance }) => {
    const { body } = await api.json({ path: '/objects', query: { details: true }, instance });
    const search = textOf(args, 'search');
    const found = entriesOf(body)
      .filter((object) => matches(search, [memberOf(object, 'name'), memberOf(object, 'label')]))
      .map(toListedObject)
      .toSorted((a, b) => Number(b.mapped ?? false) - Number(a.mapped ?? false));
    const { entries, goOn } = pageOf(found, textOf(args, 'nextPage'));
    const data = { notice: NAMES_NOTICE, total: found.length };
    return { data, list: { name: 'objects', entries, textLimit: TEXT_LIMIT, whenCut: goOn } };
  },
};

const ALL_OPERATIONS = 'list,get,create,update,delete';

function toListedObject(object: unknown) {
  const name = String(memberOf(object, 'name'));
  const label = String(memberOf(object, 'label') ?? name);
  const operations = entriesOf(memberOf(object, 'operations')).join(',');
  return {
    name,
    ...(isSameName(name, label) ? {} : { label }),
    ...(memberOf(object, 'type') === 'vdr' && { mapped: true }),
    // Most objects support all; what differs is worth its bytes.
    ...(operations === ALL_OPERATIONS ? {} : { operations }),
  };
}

const describeObject: AgentTool = {
  name: 'describe_object',
  description:
    'Returns the fields of an object, their types and allowed values, and examples of where with these fields. Call it before you filter or write.',
  operation: 'getObjectMetadata',
  kind: 'read',
  input: inputSchema(
    { ...INSTANCE, object: OBJECT_NAME, search: { ...TEXT, description: 'Part of a field name' }, nextPage: NEXT_PAGE },
    ['object'],
  ),
  output: outputSchema(
    {
      object: TEXT,
      identifier: propertySchema('ObjectMetadata', 'identifier'),
      fields: OBJECTS,
      children: TEXTS,
      whereExamples: TEXTS,
      nextPage: TEXT,
    },
    ['object', 'fields'],
  ),
  run: async ({ api, args, instance }) => {
    const object = textOf(args, 'object') ?? '';
    const { body } = await api.json({ path: `/objects${pathOf(object)}/metadata`, instance });
    const search = textOf(args, 'search');
    const all = entriesOf(memberOf(body, 'fields'));
    const found = all
      .filter((field) => matches(search, [memberOf(field, 'name'), memberOf(field, 'label')]))
      .map(toDescribedField);
    const { entries, goOn } = pageOf(found, textOf(args, 'nextPage'));
    const limits = memberOf(body, 'limits');
    const data = defined({
      notice: NAMES_NOTICE,
      object,
      description: memberOf(body, 'description'),
      identifier: memberOf(body, 'identifier'),
      totalFields: found.length,
      children: some(memberOf(body, 'children')),
      parameters: some(memberOf(body, 'parameters')),
      requiredFilters: memberOf(limits, 'requiredFilters'),
      whereExamples: exampleFilters(all),
    });
    return { data, list: { name: 'fields', entries, textLimit: TEXT_LIMIT, whenCut: goOn } };
  },
};

function toDescribedField(field: unknown): Record<string, unknown> {
  const name = String(memberOf(field, 'name'));
  const label = String(memberOf(field, 'label') ?? name);
  const values = entriesOf(memberOf(field, 'values'));
  const filter = Object.keys(Object(memberOf(field, 'filter'))).join(' ');
  return defined({
    name,
    type: memberOf(field, 'type'),
    format: memberOf(field, 'format'),
    label: isSameName(name, label) ? undefined : label,
    values: values.length === 0 ? undefined : values.slice(0, MOST_VALUES),
    moreValues: values.length > MOST_VALUES ? values.length - MOST_VALUES : undefined,
    // Operators that the provider evaluates. Others work, and cost more calls.
    filter: filter === '' ? undefined : filter,
    readOnly: memberOf(field, 'readOnly') === true ? true : undefined,
    required: memberOf(field, 'required') === true ? true : undefined,
  });
}

export const DISCOVERY_TOOLS: readonly AgentTool[] = [listInstances, listObjects, describeObject];

function matches(search: string | undefined, texts: readonly unknown[]): boolean {
  if (search === undefined) return true;
  return texts.some((text) => typeof text === 'string' && text.toLowerCase().includes(search.toLowerCase()));
}

function isSameName(name: string, label: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return plain(name) === plain(label);
}

function some(value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

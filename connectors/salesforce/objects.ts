import { type Config, type ConnectorContext, defineObject, type ObjectSpec, type Objects, path } from '#connector';
import { findText, getArray, getObject, isObject, type Json } from './answer.ts';
import { toFieldSpec, toParentName } from './fields.ts';
import { FILES } from './files.ts';
import { ID, INCLUDE_DELETED, listOperation } from './query.ts';
import { recordOperations } from './records.ts';
import { translator } from './where.ts';

/** Every object the user sees, without its fields: one call, for an account has a thousand objects and more. */
export async function discoverObjects({ send }: ConnectorContext): Promise<Objects> {
  const { body } = await send({ path: '/sobjects' });
  const described = getArray(getObject(body, 'the list of objects').sobjects, 'the list of objects').filter(isObject);
  const offered = described.filter((object) => object.deprecatedAndHidden !== true && isName(object.name));
  return Object.fromEntries(offered.map((object) => [String(object.name), outlineOf(object)]));
}

/** Names stand unquoted in statements. */
function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z]\w*$/.test(value);
}

function outlineOf(object: Json): ObjectSpec {
  const describe = ({ config, send }: ConnectorContext) => describeObject({ config, send }, object);
  return defineObject({ ...abilitiesOf(object), fields: {}, describe });
}

type Describer = Pick<ConnectorContext, 'config' | 'send'>;

async function describeObject({ config, send }: Describer, object: Json): Promise<ObjectSpec> {
  const { body } = await send({ path: path`/sobjects/${String(object.name)}/describe` });
  const described = getArray(getObject(body, 'the description of the object').fields, 'the fields of the object');
  return defineObject({ ...abilitiesOf(object), ...fieldsOf(described.filter(isObject), config), ...FILTERING });
}

function fieldsOf(described: readonly Json[], config: Config): Pick<ObjectSpec, 'fields'> {
  const options = { textIsExact: config['text.exact'] === true };
  const offered = described.filter((field) => field.deprecatedAndHidden !== true && isName(field.name));
  const own = offered.map((field) => [String(field.name), toFieldSpec(field, options)] as const);
  const parents = offered.map((field) => toParentName(field, options)).filter((entry) => entry !== undefined);
  return { fields: Object.fromEntries([...own, ...parents]) };
}

/**
 * A statement has at most 100,000 characters, of which the field names take their part; an order has at most 32 fields, one of
 * them ours. Source: SOQL and SOSL Limits for Search Queries.
 */
const FILTERING: Pick<ObjectSpec<string>, 'shape' | 'limits' | 'translator' | 'parameters'> = {
  shape: { kind: 'any' },
  limits: { maxLength: 40_000, maxSortFields: 31 },
  translator,
  parameters: {
    [INCLUDE_DELETED]: {
      type: 'boolean',
      description: 'TRUE finds records in the recycle bin as well; their IsDeleted is true.',
    },
  },
};

/** All that is known without the fields. */
function abilitiesOf(object: Json): Omit<ObjectSpec<string>, 'fields'> {
  const name = String(object.name);
  const label = findText(object.label);
  const media = FILES[name];
  return {
    ...(label !== undefined && { label }),
    custom: object.custom === true,
    idField: ID,
    ...(object.queryable === true && { list: listOperation(name) }),
    ...recordOperations(name, {
      retrieveable: object.retrieveable === true,
      createable: object.createable === true,
      updateable: object.updateable === true,
      deletable: object.deletable === true,
    }),
    ...(media !== undefined && { media }),
  };
}

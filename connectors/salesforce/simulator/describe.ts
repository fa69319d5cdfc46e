import { type FieldSchema, isCustom, OBJECTS, type ObjectSchema, relationshipOf } from './schema.ts';

type Json = Readonly<Record<string, unknown>>;

export function describeGlobal(prefix: string): Json {
  return {
    encoding: 'UTF-8',
    maxBatchSize: 200,
    sobjects: Object.entries(OBJECTS).map(([name, object]) => summarize(name, object, prefix)),
  };
}

export function describeObject(name: string, object: ObjectSchema, prefix: string): Json {
  const fields = Object.entries(object.fields).map(([field, schema]) => describeField(field, schema));
  return { ...summarize(name, object, prefix), fields, childRelationships: childrenOf(name), recordTypeInfos: [] };
}

/** Every field that refers to the object. Source: REST API Developer Guide, "sObject Describe", `childRelationships`. */
function childrenOf(name: string): readonly Json[] {
  return Object.entries(OBJECTS).flatMap(([childSObject, { fields }]) =>
    Object.entries(fields)
      .filter(([, { referenceTo = [] }]) => referenceTo.includes(name))
      .map(([field, { childrenName = null, required = false }]) => ({
        cascadeDelete: false,
        childSObject,
        deprecatedAndHidden: false,
        field,
        junctionIdListNames: [],
        junctionReferenceTo: [],
        relationshipName: childrenName,
        restrictedDelete: required,
      })),
  );
}

function summarize(name: string, { label, keyPrefix, fields, abilities = {} }: ObjectSchema, prefix: string): Json {
  const { queryable = true, createable = true, updateable = true, deletable = true } = abilities;
  const url = `${prefix}/sobjects/${name}`;
  return {
    name,
    label,
    labelPlural: `${label}s`,
    keyPrefix: keyPrefix === '' ? null : keyPrefix,
    custom: isCustom(name),
    deprecatedAndHidden: false,
    queryable,
    retrieveable: queryable,
    createable,
    updateable,
    deletable,
    replicateable: Object.hasOwn(fields, 'SystemModstamp') && queryable,
    urls: { sobject: url, describe: `${url}/describe`, rowTemplate: `${url}/{ID}` },
  };
}

const NUMERIC = new Set(['int', 'double', 'currency', 'percent']);
const UNSORTABLE = new Set(['multipicklist', 'base64', 'encryptedstring', 'address', 'location']);

function describeField(name: string, field: FieldSchema): Json {
  const { type, readOnly = false, required = false, unfilterable = false, values = [] } = field;
  return {
    name,
    label: field.label ?? name,
    type,
    length: field.length ?? 0,
    precision: NUMERIC.has(type) ? 18 : 0,
    scale: field.scale ?? 0,
    calculated: field.derive !== undefined && NUMERIC.has(type),
    caseSensitive: field.caseSensitive ?? type === 'id',
    custom: isCustom(name),
    nillable: !required,
    defaultedOnCreate: field.defaulted !== undefined || readOnly,
    createable: !readOnly,
    updateable: !readOnly && field.insertOnly !== true,
    filterable: !unfilterable,
    sortable: !unfilterable && !UNSORTABLE.has(type),
    restrictedPicklist: field.restricted ?? false,
    picklistValues: values.map((value) => ({ value, label: value, active: true, defaultValue: false })),
    externalId: field.externalId ?? false,
    idLookup: type === 'id' || field.externalId === true,
    referenceTo: field.referenceTo ?? [],
    relationshipName: field.referenceTo === undefined ? null : relationshipOf(name),
    deprecatedAndHidden: false,
  };
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { forEachDemo } from '../../scripts/demos.ts';
import {
  CATALOGUE,
  type CatalogueMappings,
  entryOf,
  findRoot,
  hasItems,
  pathsOf,
  type Root,
  readMappings,
} from '../../scripts/generate/catalogue.ts';
import type { FieldSpec, Objects } from '../../src/connector/index.ts';
import {
  type DefinitionField,
  MAPPED_TYPES,
  type MappedType,
  type TransformationField,
} from '../../src/mappings/model.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Our values of the fields that mean the same at every provider, where they are texts. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'tasks.priority': ['high', 'low', 'normal'],
  'incidents.status': ['closed', 'open', 'pending'],
  'incidents.priority': ['critical', 'high', 'low', 'normal'],
  'incidents.impact': ['high', 'low', 'medium'],
  'time-entries.status': ['approved', 'open', 'processed', 'rejected', 'submitted'],
  'employees.status': ['active', 'inactive'],
  'time-off.status': ['approved', 'canceled', 'denied', 'requested', 'superseded'],
  'items.type': ['bundle', 'category', 'nonStock', 'service', 'stock'],
  'payments.status': ['authorized', 'failed', 'pending', 'succeeded', 'voided'],
  'orders.paymentStatus': ['open', 'paid', 'partiallyPaid', 'partiallyRefunded', 'refunded'],
  'messages.direction': ['inbound', 'outbound'],
  'messages.status': ['canceled', 'delivered', 'failed', 'queued', 'read', 'received', 'scheduled', 'sent'],
  'reports.status': ['approved', 'open', 'returned', 'submitted'],
  'reports.paymentStatus': ['notPaid', 'onHold', 'paid', 'processing'],
};

const words = (text: string) => text.split(/\s+/);

const SERVICENOW = {
  core_company: words('fax_phone street state zip'),
  sys_user: words('mobile_phone preferred_language time_zone'),
};

/**
 * Standard objects and fields that the demo accounts lack, by object. Sources: Object Reference of Salesforce, base tables of ServiceNow,
 * "Field Names" of BambooHR.
 */
const ABSENT: Readonly<Record<string, Readonly<Record<string, readonly string[] | 'object'>>>> = {
  bamboohr: { employees: ['state', 'zipcode'] },
  salesforce: {
    Account: words('AccountNumber Fax ParentId Parent.Name BillingState BillingPostalCode'),
    Contact: words(
      'MobilePhone Title Department OwnerId LeadSource MailingStreet MailingState MailingPostalCode MailingCountry',
    ),
    ContentVersion: words('Description VersionNumber OwnerId CreatedById'),
    Lead: 'object',
    Opportunity: words('Type LeadSource NextStep ContactId OwnerId Owner.Name'),
    Task: words('Type IsClosed CompletedDateTime Priority OwnerId CreatedById'),
    User: words(
      `FirstName LastName Phone MobilePhone Title CompanyName ManagerId LanguageLocaleKey TimeZoneSidKey LastLoginDate
      CreatedDate LastModifiedDate`,
    ),
  },
  servicenow: SERVICENOW,
  servicenowoauth: SERVICENOW,
};

/** The types of a provider's field that convert to ours. Value maps convert further ones. */
const CONVERTIBLE: Readonly<Record<MappedType, readonly FieldSpec['type'][]>> = {
  string: ['string', 'integer', 'number'],
  number: ['number', 'integer', 'string'],
  boolean: ['boolean'],
  date: ['date', 'datetime'],
  array: ['array'],
  object: ['object'],
};

interface Mapped {
  /** Names the field in messages, such as `keap contacts.email`. */
  readonly place: string;
  /** The unified field, such as `contacts.email`. */
  readonly unified: string;
  readonly definition: DefinitionField;
  readonly field: TransformationField;
  /** The fields that the provider's paths begin with. A demo account may lack them. */
  readonly roots: readonly (Root | undefined)[];
}

describe('the catalogue of mappings', () => {
  const objectsOf = new Map<string, Objects>();
  const mappingsOf = new Map<string, CatalogueMappings>();
  let mapped: readonly Mapped[] = [];

  before(async () => {
    await forEachDemo(async ({ connector: { key }, connection: { objects } }) => {
      objectsOf.set(key, objects);
      mappingsOf.set(key, await readMappings(key));
    });
    mapped = transformations().flatMap(({ key, name, transformation }) =>
      transformation.fields.map((field) => ({
        place: `${key} ${name}.${field.path}`,
        unified: `${name}.${field.path}`,
        definition: CATALOGUE[name]?.fields.find(({ path }) => path === field.path) ?? {
          path: field.path,
          type: 'string',
        },
        field,
        roots: pathsOf(field).map((path) => rootOf(key, transformation.vendorName, path)),
      })),
    );
  });

  function transformations() {
    return [...mappingsOf].flatMap(([key, mappings]) =>
      Object.entries(mappings).map(([name, transformation]) => ({ key, name, transformation })),
    );
  }

  function rootOf(key: string, vendorName: string, path: string): Root | undefined {
    return findRoot(objectsOf.get(key) ?? {}, vendorName, path);
  }

  it('has definitions with fields of known types, each path once', () => {
    for (const [name, { fields }] of Object.entries(CATALOGUE)) {
      expect(fields.length, name).to.be.within(7, 30);
      for (const { path, type, displayName = '' } of fields) {
        expect(MAPPED_TYPES, `${name}.${path}`).to.include(type);
        expect(path).to.match(/^[a-z][A-Za-z]*(?:\[\*\])?(?:\.[a-z][A-Za-z]*)?$/);
        expect(displayName, `${name}.${path}`).to.match(/^[A-Z]/);
      }
      expect(new Set(fields.map(({ path }) => path)).size, name).to.equal(fields.length);
      expect(fields[0], name).to.include({ path: 'id', type: 'string' });
    }
  });

  it('maps each definition on some element, and each of its fields', () => {
    const known = new Set(mapped.map(({ unified }) => unified));
    for (const [name, { fields }] of Object.entries(CATALOGUE)) {
      const paths = fields.map(({ path }) => path);
      const mappable = paths.filter((path) => !hasItems(path, fields));
      expect(
        mappable.filter((path) => !known.has(`${name}.${path}`)),
        name,
      ).to.deep.equal([]);
    }
  });

  it('is there for every connector, with 137 transformations', () => {
    expect([...mappingsOf.keys()]).to.have.members(readdirSync(join(ROOT, 'connectors')));
    expect(
      [...mappingsOf].filter(([, mappings]) => Object.keys(mappings).length === 0).map(([key]) => key),
    ).to.deep.equal(['odata']);
    expect(transformations()).to.have.length(137);
  });

  it('maps fields of the definition only, each once, in its order, with the identifier first', () => {
    for (const { key, name, transformation } of transformations()) {
      const place = `${key} ${name}`;
      const paths = CATALOGUE[name]?.fields.map(({ path }) => path) ?? [];
      const own = transformation.fields.map(({ path }) => path);
      expect(own, place).to.deep.equal(paths.filter((path) => own.includes(path)));
      const object = objectsOf.get(key)?.[transformation.vendorName];
      if (object !== undefined) expect(transformation.fields[0]?.vendorPath, place).to.equal(object.idField ?? 'id');
    }
  });

  it('maps objects that have a list', () => {
    for (const { key, transformation } of transformations()) {
      const { vendorName } = transformation;
      const object = objectsOf.get(key)?.[vendorName];
      if (ABSENT[key]?.[vendorName] === 'object') expect(object, `${key} ${vendorName}`).to.equal(undefined);
      else expect(object?.list, `${key} ${vendorName}`).not.to.equal(undefined);
    }
  });

  it('names fields that the demo accounts have, apart from standard ones', () => {
    const absent = new Set<string>();
    for (const { key, transformation } of transformations()) {
      const { vendorName, fields } = transformation;
      if (ABSENT[key]?.[vendorName] === 'object') continue;
      for (const path of fields.flatMap(pathsOf)) {
        if (rootOf(key, vendorName, path) === undefined) absent.add(`${key} ${vendorName} ${path}`);
      }
    }
    const listed = Object.entries(ABSENT).flatMap(([key, objects]) =>
      Object.entries(objects).flatMap(([object, fields]) =>
        fields === 'object' ? [] : fields.map((field) => `${key} ${object} ${field}`),
      ),
    );
    expect([...absent].sort()).to.deep.equal(listed.sort());
  });

  it('goes deeper only into objects and lists', () => {
    for (const { place, roots } of mapped) {
      for (const root of roots) {
        if (root === undefined || root.rest === '') continue;
        expect(root.spec.type, place).to.equal(root.rest.startsWith('[') ? 'array' : 'object');
      }
    }
  });

  it('has types that convert', () => {
    for (const { place, definition, field, roots } of mapped) {
      if (valuesOf(field) !== undefined) continue;
      for (const root of roots) {
        if (root !== undefined && root.rest === '')
          expect(CONVERTIBLE[definition.type], place).to.include(root.spec.type);
      }
      if (entryOf(field, 'number') !== undefined) {
        expect(definition.type, place).to.equal('number');
        for (const root of roots) expect(root?.spec.type, place).to.be.oneOf(['integer', 'number', 'object']);
      }
    }
  });

  it('maps every documented value, to values of the type of the field', () => {
    for (const { place, definition, field, roots } of mapped) {
      const values = valuesOf(field);
      if (values === undefined) continue;
      for (const root of roots) {
        const spec = root?.spec;
        const documented = spec?.type === 'boolean' ? ['true', 'false'] : (spec?.values ?? []);
        expect(Object.keys(values), place).to.include.members([...documented]);
      }
      for (const value of Object.values(values)) {
        if (value !== null) expect(typeof value, place).to.equal(definition.type);
      }
    }
  });

  it('has the same values for a field at all providers', () => {
    const texts = mapped.filter(
      ({ definition, field }) => definition.type === 'string' && valuesOf(field) !== undefined,
    );
    const found = new Map<string, Set<unknown>>();
    for (const { unified, field } of texts) {
      const values = found.get(unified) ?? new Set();
      found.set(unified, values);
      for (const value of Object.values(valuesOf(field) ?? {})) values.add(value);
    }
    expect(Object.fromEntries([...found].map(([unified, values]) => [unified, [...values].sort()]))).to.deep.equal(
      VALUES,
    );
    const unmapped = mapped.filter(({ unified, field }) => found.has(unified) && valuesOf(field) === undefined);
    expect(unmapped.map(({ place }) => place)).to.deep.equal([]);
  });

  it('writes no field of the provider from two of ours', () => {
    for (const { key, name, transformation } of transformations()) {
      const written = transformation.fields.flatMap((field) => {
        const { vendorPath } = field;
        const root = vendorPath === undefined ? undefined : rootOf(key, transformation.vendorName, vendorPath);
        const canWrite = root?.spec.createable === true || root?.spec.updateable === true;
        const isRemoved = entryOf(field, 'remove')?.properties.toVendor === true;
        return vendorPath !== undefined && canWrite && !isRemoved ? [vendorPath] : [];
      });
      expect(new Set(written).size, `${key} ${name}: ${written.join(' ')}`).to.equal(written.length);
    }
  });

  it('leaves out what is not mapped, in both directions, and has no scripts', () => {
    for (const { key, name, transformation } of transformations()) {
      expect(transformation.configuration, `${key} ${name}`).to.deep.equal([
        { type: 'passThrough', properties: { fromVendor: false, toVendor: false } },
      ]);
      expect(transformation, `${key} ${name}`).to.have.all.keys('vendorName', 'fields', 'configuration');
    }
  });

  it('is described, with the values of each unified field', () => {
    const page = readFileSync(join(ROOT, 'docs/reference/catalogue.md'), 'utf8');
    for (const name of Object.keys(CATALOGUE)) expect(page).to.include(`| [\`${name}\`](#${name}) |`);
    for (const [unified, values] of Object.entries(VALUES)) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${unified}\` |`)) ?? '';
      expect([...row.matchAll(/`(\w+)`/g)].map(([, value]) => value).sort(), unified).to.deep.equal(values);
    }
  });

  for (const [one, other] of [
    ['fortnox', 'fortnoxoauth'],
    ['servicenow', 'servicenowoauth'],
  ] as const) {
    it(`is the same for ${one} and ${other}`, () => {
      expect(mappingsOf.get(other)).to.deep.equal(mappingsOf.get(one));
    });
  }
});

function valuesOf(field: TransformationField) {
  return entryOf(field, 'valueMap')?.properties.values;
}

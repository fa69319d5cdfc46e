import { expect } from 'chai';
import type { FieldSpec, ObjectSpec } from '#connector';
import { connect, discoverAll, startProvider } from '#connector/testing';
import { findObjectProblems } from '../../src/connector/validate-objects.ts';
import { startCapServer } from '../../test/support/cap-server.ts';
import odata from './index.ts';
import readModel from './model.ts';
import { discoverObjects } from './objects.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

function document(schema: string, version = '4.0'): string {
  return `<?xml version="1.0"?><edmx:Edmx Version="${version}" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
    <edmx:Reference Uri="cap.xml"><edmx:Include Alias="Cap" Namespace="Org.OData.Capabilities.V1"/></edmx:Reference>
    <edmx:Reference Uri="core.xml"><edmx:Include Alias="Core" Namespace="Org.OData.Core.V1"/></edmx:Reference>
    <edmx:DataServices><Schema Namespace="Shop" Alias="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">${schema}</Schema></edmx:DataServices>
    </edmx:Edmx>`;
}

const ITEM = `<EntityType Name="Item"><Key><PropertyRef Name="id"/></Key>
  <Property Name="id" Type="Edm.Int32" Nullable="false"/><Property Name="name" Type="Edm.String"/>
  <Property Name="price" Type="Edm.Decimal" Precision="9" Scale="2"/></EntityType>`;

async function discover(xml: string): Promise<Record<string, ObjectSpec>> {
  const objects = await discoverAll(discoverObjects, {
    config: { 'base.url': 'https://demo.example.com' },
    signal: new AbortController().signal,
    send: async () => ({ status: 200, headers: {}, body: xml }),
  });
  expect(findObjectProblems(objects)).to.deep.equal([]);
  return { ...objects };
}

/** Discovers the object of the only entity set, with the annotations. */
async function discoverItems(annotations: string, type = ITEM): Promise<ObjectSpec> {
  const container = `<EntityContainer Name="C"><EntitySet Name="Items" EntityType="S.Item">${annotations}</EntitySet></EntityContainer>`;
  const { Items } = await discover(document(type + container));
  if (Items === undefined) throw new Error('There are no items.');
  return Items;
}

function paths(...names: readonly string[]): string {
  return `<Collection>${names.map((name) => `<PropertyPath>${name}</PropertyPath>`).join('')}</Collection>`;
}

function restrictions(kind: string, values: string): string {
  return `<Annotation Term="Cap.${kind}Restrictions"><Record>${values}</Record></Annotation>`;
}

function value(property: string, content: string): string {
  return `<PropertyValue Property="${property}">${content}</PropertyValue>`;
}

describe('OData discovery', () => {
  it('gives properties the types, formats and abilities of their Edm types', async () => {
    const types: readonly (readonly [string, Partial<FieldSpec>])[] = [
      ['Edm.String', { type: 'string' }],
      ['Edm.Boolean', { type: 'boolean' }],
      ['Edm.Int64', { type: 'integer' }],
      ['Edm.Decimal', { type: 'number' }],
      ['Edm.Double', { type: 'number' }],
      ['Edm.Date', { type: 'date' }],
      ['Edm.DateTimeOffset', { type: 'datetime' }],
      ['Edm.Guid', { type: 'string', format: 'uuid' }],
      ['Edm.TimeOfDay', { type: 'string', format: 'time' }],
      ['Edm.Duration', { type: 'string', format: 'duration' }],
      ['Edm.Binary', { type: 'string', format: 'base64url' }],
      ['Edm.GeographyPoint', { type: 'object' }],
      ['Collection(Edm.String)', { type: 'array' }],
    ];
    const properties = types.map(([name], index) => `<Property Name="p${index}" Type="${name}"/>`);
    const item = await discoverItems(
      '',
      ITEM.replace('<Property Name="name" Type="Edm.String"/>', properties.join('')),
    );
    for (const [index, [name, expected]] of types.entries()) {
      expect(item.fields[`p${index}`], name).to.deep.include({ ...expected, nativeType: name, nullable: true });
    }
    expect(item.fields.p12).to.not.have.any.keys('filter', 'sortable');
    expect(item.fields.p9?.filter).to.deep.equal({ 'IS NULL': 'exact', 'IS NOT NULL': 'exact' });
  });

  it('inherits keys, properties and navigation from base types, and resolves aliases', async () => {
    const { Books } = await discover(
      document(`<EntityType Name="Medium" Abstract="true"><Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.Guid" Nullable="false"/>
        <NavigationProperty Name="_parts" Type="Collection(S.Part)" ContainsTarget="true"/></EntityType>
        <EntityType Name="Part"><Key><PropertyRef Name="n"/></Key><Property Name="n" Type="Edm.Int32"/></EntityType>
        <EntityType Name="Book" BaseType="S.Medium"><Property Name="title" Type="S.Title"/></EntityType>
        <TypeDefinition Name="Title" UnderlyingType="Edm.String"/>
        <EntityContainer Name="C"><EntitySet Name="Books" EntityType="Shop.Book"/></EntityContainer>`),
    );
    expect(Books?.idField).to.equal('id');
    expect(Object.keys(Books?.fields ?? {})).to.deep.equal(['id', 'title']);
    expect(Books?.fields.title?.nativeType).to.equal('Edm.String');
    expect(Books?.children?.parts?.native).to.equal('_parts');
    expect(Object.keys(Books?.children?.parts?.fields ?? {})).to.deep.equal(['n']);
  });

  it('gives complex types nested fields, three levels deep even when a type contains itself', async () => {
    const item = await discoverItems(
      '',
      `${ITEM.replace('Type="Edm.String"', 'Type="S.Name" Nullable="false"')}<ComplexType Name="Name"><Property Name="text" Type="Edm.String" Nullable="false"/><Property Name="next" Type="S.Name"/></ComplexType>`,
    );
    const names = ['name', 'name.text', 'name.next', 'name.next.text', 'name.next.next'];
    expect(Object.keys(item.fields)).to.deep.equal(['id', ...names, 'price']);
    expect(item.fields.name?.type).to.equal('object');
    expect(names.map((name) => item.fields[name]?.nullable)).to.deep.equal([false, false, true, true, true]);
  });

  it('reads what may be written from annotations inside an element and outside', async () => {
    const type = `${ITEM.replace(
      '<Property Name="name" Type="Edm.String"/>',
      '<Property Name="name" Type="Edm.String" Nullable="false"/><Property Name="made" Type="Edm.String"><Annotation Term="Core.Computed"/></Property><Property Name="code" Type="Edm.String"/><Property Name="state" Type="Edm.String" DefaultValue="new" Nullable="false"/>',
    )}<Annotations Target="S.Item/code"><Annotation Term="Core.Immutable" Bool="true"/></Annotations>`;
    const { fields } = await discoverItems('', type);
    const abilities = (name: string) => [fields[name]?.required, fields[name]?.createable, fields[name]?.updateable];
    expect(abilities('id')).to.deep.equal([false, true, false]);
    expect(abilities('name')).to.deep.equal([true, true, true]);
    expect(abilities('made')).to.deep.equal([false, false, false]);
    expect(abilities('code')).to.deep.equal([false, true, false]);
    expect(abilities('state')).to.deep.equal([false, true, true]);
  });

  it('has no operation that the set forbids', async () => {
    const item = await discoverItems(
      ['Insert', 'Update', 'Delete']
        .map((kind) =>
          restrictions(
            kind,
            `<PropertyValue Property="${kind === 'Insert' ? 'Insertable' : kind === 'Update' ? 'Updatable' : 'Deletable'}" Bool="false"/>`,
          ),
        )
        .join('') + restrictions('Read', '<PropertyValue Property="Readable" Bool="false"/>'),
    );
    expect(item).to.not.have.any.keys('list', 'get', 'create', 'update', 'replace', 'remove');
    expect(item.fields.name).to.include({ createable: false, updateable: false });
  });

  it('does not offer to create media entities, which are made by sending a file, and not those of derived types', async () => {
    const base = ITEM.replace('Name="Item"', 'Name="Base" HasStream="true"');
    const derived = '<EntityType Name="Item" BaseType="S.Base"/>';
    const photos = await discoverItems('', `${base}${derived}`);
    expect(photos).to.include.keys('list', 'get', 'update', 'remove');
    expect(photos).to.not.have.property('create');
    expect(photos.fields.name).to.include({ createable: false, updateable: true });
    expect(await discoverItems('')).to.have.property('create');
  });

  it('offers to create media entities in no listing of objects either', async () => {
    const media = ITEM.replace('Name="Item"', 'Name="Item" HasStream="true"');
    const container = '<EntityContainer Name="C"><EntitySet Name="Items" EntityType="S.Item"/></EntityContainer>';
    expect(readModel(document(media + container)))
      .to.have.nested.property('model.sets[0].operations')
      .that.deep.equals(['list', 'get', 'update', 'replace', 'remove']);
  });

  it('neither filters nor sorts by what the set excludes', async () => {
    const { fields, requiredFilters } = await discoverItems(
      restrictions(
        'Filter',
        value('NonFilterableProperties', paths('name')) + value('RequiredProperties', paths('id')),
      ) +
        restrictions(
          'Sort',
          value('NonSortableProperties', paths('name')) + value('AscendingOnlyProperties', paths('price')),
        ),
    );
    expect(fields.name).to.not.have.any.keys('filter', 'sortable', 'likeForms');
    expect(fields.price).to.not.have.property('sortable');
    expect(fields.id).to.have.property('sortable', true);
    expect(requiredFilters).to.deep.equal(['id']);
  });

  it('keeps to the expressions and functions that the set names', async () => {
    const single =
      '<Record><PropertyValue Property="Property" PropertyPath="price"/><PropertyValue Property="AllowedExpressions" String="SingleValue"/></Record>';
    const { fields } = await discoverItems(
      restrictions('Filter', value('FilterExpressionRestrictions', `<Collection>${single}</Collection>`)) +
        '<Annotation Term="Cap.FilterFunctions"><Collection><String>startswith</String></Collection></Annotation>',
    );
    expect(fields.price?.filter).to.deep.equal({ '=': 'exact' });
    expect(fields.name?.likeForms).to.deep.equal(['literal', 'prefix']);
  });

  it('trusts a decimal to the service only when a double holds all its digits', async () => {
    const { fields } = await discoverItems('');
    expect(fields.price?.filter?.['=']).to.equal('exact');
    const wide = await discoverItems('', ITEM.replace('Precision="9"', 'Precision="28"'));
    expect(wide.fields.price?.filter?.['=']).to.equal('superset');
  });

  it('does not filter enumerations whose names do not tell values apart', async () => {
    const type = (attributes: string, members: string) =>
      `${ITEM.replace('Type="Edm.String"', 'Type="S.Hue"')}<EnumType Name="Hue"${attributes}>${members}</EnumType>`;
    const distinct = await discoverItems('', type('', '<Member Name="Red"/><Member Name="Blue"/>'));
    expect(distinct.fields.name?.values).to.deep.equal(['Red', 'Blue']);
    expect(distinct.fields.name?.filter?.['!=']).to.equal('exact');
    for (const [attributes, members] of [
      [' IsFlags="true"', '<Member Name="Red"/><Member Name="Blue"/>'],
      ['', '<Member Name="Red" Value="1"/><Member Name="Rouge" Value="1"/>'],
    ] as const) {
      const { fields } = await discoverItems('', type(attributes, members));
      expect(Object.keys(fields.name?.filter ?? {})).to.deep.equal(['IS NULL', 'IS NOT NULL']);
    }
  });

  it('lists a set without a key, but reads and changes none of its records', async () => {
    const item = await discoverItems('', ITEM.replace(/<Key>.*<\/Key>/, ''));
    expect(item).to.have.property('list');
    expect(item).to.not.have.any.keys('get', 'update', 'replace', 'remove', 'idField');
  });

  for (const [what, xml, message] of [
    ['an older OData version', document('', '1.0'), 'The service speaks OData 1.0, not OData 4.'],
    ['something else than metadata', '<html><body>Sign in</body></html>', 'The service has no $metadata in XML.'],
    [
      'a document type',
      `<!DOCTYPE x [<!ENTITY a "b">]>${document('')}`,
      'The $metadata of the service declares a document type.',
    ],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const error = await discover(xml).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).to.have.property('message', message);
    });
  }
});

describe('OData discovery of whole services', function () {
  this.timeout(60_000);

  it('finds everything that SAP CAP offers', async () => {
    const server = await startCapServer();
    const { objects } = await connect(odata, { config: { 'base.url': server.url } }).discover();
    await server.stop();
    expect(findObjectProblems(objects)).to.deep.equal([]);
    expect(Object.keys(objects)).to.have.members([...Object.keys(server.rows), 'Countries']);
    expect(objects.Products).to.include({ label: 'Product', idField: 'ID', native: 'Products' });
    expect(objects.Products?.fields.title).to.deep.include({ label: 'Title', required: true, createable: true });
    expect(objects.Products?.fields.category?.values).to.deep.equal(['book', 'music', 'tool']);
    expect(Object.keys(objects.Products?.children ?? {})).to.deep.equal(['reviews']);
    expect(objects.OrderLines?.idField).to.equal('id');
    expect(objects.Contracts?.fields.changedAt).to.include({ createable: false, updateable: false });
    expect(objects.Countries).to.not.have.any.keys('create', 'update', 'replace', 'remove');
  });

  it('finds everything that the simulator offers', async () => {
    const simulator = await startProvider(odata, createSimulator, DEMO_CONFIGURATION);
    const { objects } = await simulator.connect().discover();
    await simulator.stop();
    expect(findObjectProblems(objects)).to.deep.equal([]);
    expect(objects.Customers?.idField).to.equal('Id');
    expect(objects.Customers?.fields.Number).to.include({ type: 'integer', createable: false });
    expect(Object.keys(objects.Products?.fields ?? {})).to.include.members(['Package', 'Package.Store.City']);
    expect(objects.Countries?.fields.Name).to.not.have.property('sortable');
    expect(objects.Orders?.children).to.have.property('Lines');
  });
});

/** Returns a complete `$metadata` document of a service. */
export function edmx(schema: string, before = ''): string {
  return `<?xml version="1.0"?>${before}
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
<Schema Namespace="T" xmlns="http://docs.oasis-open.org/odata/ns/edm">${schema}</Schema></edmx:DataServices></edmx:Edmx>`;
}

const KEY = '<Key><PropertyRef Name="id"/></Key><Property Name="id" Type="Edm.Int32" Nullable="false"/>';

function container(sets: string): string {
  return `<EntityContainer Name="C">${sets}</EntityContainer>`;
}

const ITEMS = container('<EntitySet Name="items" EntityType="T.Item"/>');

function item(properties: string): string {
  return `<EntityType Name="Item">${KEY}${properties}</EntityType>${ITEMS}`;
}

const PROPERTIES = [
  '<Property Name="name" Type="Edm.String"/>',
  '<Property Name="price" Type="Edm.Decimal"/>',
  '<Property Name="stock" Type="Edm.Int64"/>',
  '<Property Name="at" Type="Edm.DateTimeOffset"/>',
].join('');

/** Metadata with one entity set, `items`. */
export const METADATA = edmx(item(PROPERTIES));

function restriction(term: string, property: string): string {
  return `<Annotations Target="T.C/items"><Annotation Term="Org.OData.Capabilities.V1.${term}"><Record>
    <PropertyValue Property="${property}" Bool="false"/></Record></Annotation></Annotations>`;
}

/** Metadata of a service that neither sorts nor filters, so that Causeway does both. */
export const HELPLESS = edmx(
  item(PROPERTIES) + restriction('SortRestrictions', 'Sortable') + restriction('FilterRestrictions', 'Filterable'),
);

const ANYTHING = '<Property Name="data" Type="Edm.Untyped"/>';

/** Metadata with a property that accepts any value. */
export const UNTYPED = edmx(item(PROPERTIES + ANYTHING));

/** Metadata with such a property and without filters. A record is read by its URL, because it cannot be found by its key. */
export const UNTYPED_HELPLESS = edmx(item(PROPERTIES + ANYTHING) + restriction('FilterRestrictions', 'Filterable'));

/** Returns the text that is written for each number from 0. */
function each(count: number, write: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => write(n)).join('');
}

/** Returns metadata in which each level holds the next one several times, so that a few lines declare members^levels fields. */
export function exponential(levels: number, members: number): string {
  const types = each(levels, (level) => {
    const type = level + 1 < levels ? `T.X${level + 1}` : 'Edm.String';
    return `<ComplexType Name="X${level}">${each(members, (n) => `<Property Name="p${n}" Type="${type}"/>`)}</ComplexType>`;
  });
  return edmx(types + item('<Property Name="x" Type="T.X0"/>'));
}

export function wide(fields: number): string {
  return edmx(item(each(fields, (n) => `<Property Name="field${n}" Type="Edm.String"/>`)));
}

export function manySets(sets: number, fields: number): string {
  const properties = each(
    fields,
    (n) => `<Property Name="f${n}" Type="Edm.String"/><NavigationProperty Name="n${n}" Type="Collection(T.Item)"/>`,
  );
  const type = `<EntityType Name="Item">${KEY}${properties}</EntityType>`;
  return edmx(type + container(each(sets, (n) => `<EntitySet Name="items${n === 0 ? '' : n}" EntityType="T.Item"/>`)));
}

export function deepBaseType(levels: number): string {
  const types = each(levels, (level) => {
    const base = level === 0 ? '' : ` BaseType="T.B${level - 1}"`;
    return `<EntityType Name="B${level}"${base}>${level === 0 ? KEY : `<Property Name="p${level}" Type="Edm.String"/>`}</EntityType>`;
  });
  return edmx(types + container(`<EntitySet Name="items" EntityType="T.B${levels - 1}"/>`));
}

export function circle(types: number): string {
  const all = each(
    types,
    (n) => `<EntityType Name="B${n}" BaseType="T.B${(n + 1) % types}">${n === 0 ? KEY : ''}</EntityType>`,
  );
  return edmx(all + container('<EntitySet Name="items" EntityType="T.B0"/>'));
}

export function deepCollection(depth: number): string {
  return edmx(item(`<Property Name="x" Type="${'Collection('.repeat(depth)}Edm.String${')'.repeat(depth)}"/>`));
}

/** Returns XML with ten entities, each of which expands to ten times the one before. */
export function laughs(): string {
  const entities = each(10, (n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`);
  return edmx(
    item('<Property Name="x" Type="Edm.String" DefaultValue="&e10;"/>'),
    `<!DOCTYPE x [<!ENTITY e0 "ha">${entities}]>`,
  );
}

export function deepElements(depth: number): string {
  return edmx(item('<Property Name="name" Type="Edm.String">') + '<a>'.repeat(depth) + '</a>'.repeat(depth));
}

export function manyAttributes(count: number): string {
  return edmx(item(`<Property Name="name" Type="Edm.String"${each(count, (n) => ` a${n}="x"`)}/>`));
}

export function manyAnnotations(count: number): string {
  const annotation = (n: number) =>
    `<Annotations Target="T.Item/name"><Annotation Term="X.y${n}" String="${n}"/></Annotations>`;
  return edmx(item(PROPERTIES) + each(count, annotation));
}

/** Returns a comment, a CDATA section or a text with a number of characters. */
export function stuffed(open: string, close: string, characters: number): string {
  return edmx(item(PROPERTIES) + open + 'x'.repeat(characters) + close);
}

export function longNames(names: number, length: number): string {
  return edmx(item(each(names, (n) => `<Property Name="${'n'.repeat(length)}${n}" Type="Edm.String"/>`)));
}

/** Returns metadata with an enumeration that has as many members as given. */
export function manyMembers(members: number): string {
  const all = each(members, (n) => `<Member Name="m${n}" Value="${n}"/>`);
  return edmx(`<EnumType Name="E">${all}</EnumType>${item('<Property Name="e" Type="T.E"/>')}`);
}

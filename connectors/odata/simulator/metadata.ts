import { CATEGORIES, COMPLEX_TYPES, type EntitySchema, PARTY, type PropertySchema, SETS } from './schema.ts';

/** `$metadata` of the simulated service, with aliases, a base type and annotations in both of their places. */
export function printMetadata(): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
  <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.xml">
    <edmx:Include Alias="Cap" Namespace="Org.OData.Capabilities.V1"/>
  </edmx:Reference>
  <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml">
    <edmx:Include Namespace="Org.OData.Core.V1"/>
  </edmx:Reference>
  <edmx:DataServices>
    <Schema Namespace="Demo" Alias="Self" xmlns="http://docs.oasis-open.org/odata/ns/edm">
      <EnumType Name="Category">${CATEGORIES.map((name) => `<Member Name="${name}"/>`).join('')}</EnumType>
      ${Object.entries(COMPLEX_TYPES).map(printComplexType).join('\n      ')}
      <EntityType Name="Party" Abstract="true"><Key><PropertyRef Name="Id"/></Key>${printProperties(PARTY)}</EntityType>
      ${Object.values(SETS).map(printEntityType).join('\n      ')}
      <EntityContainer Name="Container">
        ${Object.entries(SETS).map(printSet).join('\n        ')}
      </EntityContainer>
      <Annotations Target="Self.Container/Countries">
        ${['Insert', 'Update', 'Delete'].map(printForbidden).join('\n        ')}
        <Annotation Term="Cap.SortRestrictions"><Record><PropertyValue Property="NonSortableProperties"><Collection><PropertyPath>Name</PropertyPath></Collection></PropertyValue></Record></Annotation>
      </Annotations>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
`;
}

function printComplexType([name, properties]: [string, Readonly<Record<string, PropertySchema>>]): string {
  return `<ComplexType Name="${name}">${printProperties(properties)}</ComplexType>`;
}

function printEntityType(entity: EntitySchema): string {
  const inherited = entity.baseType === undefined ? [] : Object.keys(PARTY);
  const own = Object.entries(entity.properties).filter(([name]) => !inherited.includes(name));
  const key =
    entity.baseType === undefined
      ? `<Key>${entity.key.map((name) => `<PropertyRef Name="${name}"/>`).join('')}</Key>`
      : '';
  const base = entity.baseType === undefined ? '' : ` BaseType="Self.${entity.baseType}"`;
  const navigation = Object.entries(entity.collections ?? {}).map(
    ([name, { set }]) => `<NavigationProperty Name="${name}" Type="Collection(Self.${SETS[set]?.typeName})"/>`,
  );
  return `<EntityType Name="${entity.typeName}"${base}>${key}${printProperties(Object.fromEntries(own))}${navigation.join('')}</EntityType>`;
}

function printProperties(properties: Readonly<Record<string, PropertySchema>>): string {
  return Object.entries(properties)
    .map(([name, { type, required, computed, facets }]) => {
      const nullable = required === true ? ' Nullable="false"' : '';
      const annotation = computed === true ? '<Annotation Term="Org.OData.Core.V1.Computed"/>' : '';
      const start = `<Property Name="${name}" Type="${type.replace('Demo.', 'Self.')}"${nullable}`;
      return `${start}${facets === undefined ? '' : ` ${facets}`}>${annotation}</Property>`;
    })
    .join('');
}

function printSet([name, entity]: [string, EntitySchema]): string {
  const bindings = Object.entries(entity.collections ?? {}).map(
    ([path, { set }]) => `<NavigationPropertyBinding Path="${path}" Target="${set}"/>`,
  );
  return `<EntitySet Name="${name}" EntityType="Self.${entity.typeName}">${bindings.join('')}</EntitySet>`;
}

const ABILITIES: Readonly<Record<string, string>> = { Insert: 'Insertable', Update: 'Updatable', Delete: 'Deletable' };

function printForbidden(operation: string): string {
  return `<Annotation Term="Cap.${operation}Restrictions"><Record><PropertyValue Property="${ABILITIES[operation]}" Bool="false"/></Record></Annotation>`;
}

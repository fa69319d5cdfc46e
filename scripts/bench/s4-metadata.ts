/** `$metadata` of about 8 MB in the shape of an SAP S/4HANA service: views of up to 400 fields with labels, associations, and restrictions of each set. */
export function printLargeMetadata({ sets = 600, types = 1200, average = 26 } = {}): string {
  const names = Array.from({ length: types }, (_, index) => `I_View${index}Type`);
  const schema = [
    ...names.map((name, index) => printType(name, index, { names, properties: sizeOf(index, average) })),
    `<EntityContainer Name="Container">${names.slice(0, sets).map(printSet).join('')}</EntityContainer>`,
    ...names.map((name, index) => printLabels(name, sizeOf(index, average))),
    ...Array.from({ length: sets }, (_, index) => printRestrictions(index)),
  ].join('\n');
  return `<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" xmlns="http://docs.oasis-open.org/odata/ns/edm">
<edmx:Reference Uri="capabilities"><edmx:Include Namespace="Org.OData.Capabilities.V1" Alias="Capabilities"/></edmx:Reference>
<edmx:Reference Uri="common"><edmx:Include Namespace="com.sap.vocabularies.Common.v1" Alias="SAP__common"/></edmx:Reference>
<edmx:DataServices><Schema Namespace="com.sap.gateway.srvd.large.v0001" Alias="SAP__self">
${schema}
</Schema></edmx:DataServices></edmx:Edmx>`;
}

/** One type in ten has twice the average, one in fifty 400 properties, the others less. */
function sizeOf(index: number, average: number): number {
  if (index % 50 === 0) return 400;
  return Math.max(2, Math.round(index % 10 === 0 ? average * 2 : average * 0.6));
}

const TYPES = [
  'Type="Edm.String" MaxLength="40"',
  'Type="Edm.Decimal" Precision="15" Scale="2"',
  'Type="Edm.Date"',
  'Type="Edm.Boolean" Nullable="false"',
  'Type="Edm.DateTimeOffset" Precision="7"',
];

function printType(
  name: string,
  index: number,
  { names, properties }: { readonly names: readonly string[]; readonly properties: number },
): string {
  const fields = Array.from(
    { length: properties },
    (_, field) => `<Property Name="SalesOrderField${field}" ${TYPES[field % TYPES.length]}/>`,
  );
  const navigation = Array.from({ length: 6 }, (_, step) => {
    const target = names[(index * 7 + step + 1) % names.length];
    return `<NavigationProperty Name="_Association${step}" Type="Collection(SAP__self.${target})" Partner="_Partner"/>`;
  });
  return `<EntityType Name="${name}"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Guid" Nullable="false"/>${fields.join('')}${navigation.join('')}</EntityType>`;
}

function printSet(type: string, index: number): string {
  const bindings = Array.from(
    { length: 3 },
    (_, step) => `<NavigationPropertyBinding Path="_Association${step}" Target="I_View${(index + step + 1) % 600}"/>`,
  );
  return `<EntitySet Name="I_View${index}" EntityType="SAP__self.${type}">${bindings.join('')}</EntitySet>`;
}

function printLabels(type: string, properties: number): string {
  const labels = Array.from(
    { length: properties },
    (_, field) =>
      `<Annotations Target="SAP__self.${type}/SalesOrderField${field}"><Annotation Term="SAP__common.Label" String="Sales order field ${field}"/></Annotations>`,
  );
  return labels.join('');
}

function printRestrictions(index: number): string {
  const paths = [1, 2, 3].map((field) => `<PropertyPath>SalesOrderField${field}</PropertyPath>`).join('');
  return `<Annotations Target="SAP__self.Container/I_View${index}"><Annotation Term="Capabilities.FilterRestrictions"><Record><PropertyValue Property="NonFilterableProperties"><Collection>${paths}</Collection></PropertyValue></Record></Annotation><Annotation Term="Capabilities.InsertRestrictions"><Record><PropertyValue Property="Insertable" Bool="false"/></Record></Annotation></Annotations>`;
}

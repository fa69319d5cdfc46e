/** `$metadata` of a service with one entity set: items with an id and a name. */
export const METADATA = `<?xml version="1.0"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
  <Schema Namespace="Test" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Item"><Key><PropertyRef Name="id"/></Key>
      <Property Name="id" Type="Edm.Int32" Nullable="false"/><Property Name="name" Type="Edm.String"/></EntityType>
    <EntityContainer Name="Container"><EntitySet Name="items" EntityType="Test.Item"/></EntityContainer>
  </Schema></edmx:DataServices></edmx:Edmx>`;

import { expect } from 'chai';
import { enumPropertiesIn } from './enum-properties.ts';

const found = (metadata: string) =>
  [...enumPropertiesIn(metadata)].map(([name, types]) => [name, [...types].sort().join()]);

describe('enumerations in the metadata of OData', () => {
  it('are found by the names of properties, with the qualified names of their types', () => {
    const metadata = `<edmx:Edmx xmlns:edmx="x"><edmx:DataServices>
      <Schema Namespace="Shop.Types" Alias="T"><EnumType Name="Color"><Member Name="Red"/></EnumType>
        <EnumType IsFlags="true" Name="Days"/></Schema>
      <Schema Namespace='Shop'><EnumType Name='Size'/>
        <EntityType Name="Shirt"><Property Name="Color" Type="T.Color" Nullable="false"/>
          <Property Type="Shop.Size" Name="Size"/><Property Name="Title" Type="Edm.String"/>
          <Property Name="Worn" Type="T.Days"/><Property Name="Others" Type="Collection(T.Color)"/></EntityType>
        <EntityType Name="Hat"><Property Name="Size" Type="Shop.Types.Color"></Property></EntityType></Schema>
    </edmx:DataServices></edmx:Edmx>`;
    expect(found(metadata)).to.deep.equal([
      ['Color', 'Shop.Types.Color'],
      ['Size', 'Shop.Size,Shop.Types.Color'],
    ]);
  });

  it('are not looked for in what is no metadata, or too long', () => {
    const metadata = '<Schema Namespace="N"><EnumType Name="E"/><Property Name="P" Type="N.E"/></Schema>';
    expect(found(metadata)).to.deep.equal([['P', 'N.E']]);
    for (const text of ['', '{}', '<EnumType ', `${metadata}${' '.repeat(2_000_000)}`]) {
      expect(found(text)).to.deep.equal([]);
    }
  });

  it('are found in the time that reading takes', () => {
    const hostile = [
      `<Schema Namespace="N"/><EnumType Name="E"/>${'<Property Name="P" Type="N.E" '.repeat(60_000)}`,
      `<EnumType Name="E"/>${'<Property '.repeat(190_000)}`,
      `<EnumType Name="E"/>${`<Property ${'Name= '.repeat(300)}>`.repeat(1_000)}`,
      '<'.repeat(1_900_000),
    ];
    for (const metadata of hostile) {
      const start = process.cpuUsage();
      enumPropertiesIn(metadata);
      const { user } = process.cpuUsage(start);
      expect(user / 1000, metadata.slice(0, 60)).to.be.below(3_000);
    }
  });
});

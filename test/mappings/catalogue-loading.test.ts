import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import keap from '../../connectors/keap/index.ts';
import { loadConnectorMappings } from '../../src/connector/registry.ts';
import { ConnectorError } from '../../src/connector/validate.ts';
import { createCatalogue } from '../../src/mappings/catalogue/catalogue.ts';
import { createTemporaryFolder } from '../support/database.ts';

const DEFINITIONS = { contacts: { fields: [{ path: 'id', type: 'string' }] } };
const MAPPING = { vendorName: 'contacts', fields: [{ path: 'id', vendorPath: 'id' }] };

describe('the catalogue of mappings', () => {
  const create = (ofKeap: unknown, definitions: unknown = DEFINITIONS) =>
    createCatalogue({ connectors: [keap], mappings: new Map([['keap', ofKeap]]), definitions });

  /** The problems of a catalogue that is not accepted. */
  function problemsOf(ofKeap: unknown, definitions?: unknown): readonly string[] {
    try {
      create(ofKeap, definitions);
    } catch (error) {
      if (error instanceof ConnectorError) return error.problems;
      throw error;
    }
    return [];
  }

  it('has the transformations of connectors by the names of its definitions', () => {
    const { definitions, transformationsOf } = create({ contacts: MAPPING });
    expect([...definitions.keys()]).to.deep.equal(['contacts']);
    expect([...transformationsOf('contacts')]).to.deep.equal([
      ['keap', { objectName: 'contacts', ...MAPPING, configuration: [] }],
    ]);
    expect(transformationsOf('others').size).to.equal(0);
  });

  it('says of every file what is wrong with it', () => {
    expect(
      problemsOf({ contact: MAPPING, contacts: { vendorName: 'contact', fields: [{ path: 'a.' }] } }),
    ).to.deep.equal([
      "keap: mappings.json: 'contact': There is no definition in the catalogue 'contact'. Did you mean 'contacts'?",
      "keap: mappings.json: 'contacts': vendorName 'contact' is no object of the element 'keap'. Did you mean 'contacts'?",
      "keap: mappings.json: 'contacts': fields.0.path must be a path such as address.city, users[*].name or lines[0].price.",
      "keap: mappings.json: 'contacts': fields.0.vendorPath is missing. Name the field of the provider, or make the value with a script or one of constant, join, first.",
    ]);
    expect(problemsOf([], { contacts: {} })).to.deep.equal([
      "the definition 'contacts' of the catalogue: fields must be a list of fields. It may be empty.",
      'keap: mappings.json: it must be an object by the names of the definitions',
    ]);
  });

  it('is read from the folders of connectors, also of others', async () => {
    const folder = await createTemporaryFolder();
    try {
      for (const [key, text] of Object.entries({ acme: JSON.stringify({ contacts: MAPPING }), none: '' })) {
        await mkdir(join(folder, key));
        if (text !== '') await writeFile(join(folder, key, 'mappings.json'), text);
      }
      expect([...(await loadConnectorMappings({ folders: [folder] }))]).to.deep.equal([
        ['acme', { contacts: MAPPING }],
      ]);
      await writeFile(join(folder, 'none', 'mappings.json'), '{');
      let failure: unknown;
      await loadConnectorMappings({ folders: [folder] }).catch((error: unknown) => {
        failure = error;
      });
      expect(failure).to.be.instanceOf(ConnectorError);
      expect(String(failure)).to.match(/none: mappings\.json is no JSON/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

import { join } from 'node:path';
import { expect } from 'chai';
import { METHODS } from '../../scripts/generate/api-document.ts';
import { readSpec } from '../../scripts/generate/document.ts';
import { clientDocument } from '../../scripts/sdk/client-document.ts';

const SPEC = join(import.meta.dirname, '../../spec/openapi.yaml');

interface ClientOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly { readonly $ref?: string }[];
}

describe('the document that clients are made of', () => {
  let document: ReturnType<typeof JSON.parse>;
  let operations: readonly ClientOperation[];

  before(async () => {
    document = JSON.parse(JSON.stringify(clientDocument((await readSpec(SPEC)).document)));
    operations = Object.values<Record<string, ClientOperation>>(document.paths).flatMap((item) =>
      METHODS.flatMap((method) => item[method] ?? []),
    );
  });

  it('has what programs call, each once', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids).to.include.members([
      ...['createInstance', 'listRecords', 'explainQuery', 'createBulkQuery', 'listDeliveries'],
    ]);
    for (const id of [
      ...['listHubRecords', 'searchTasks', 'enableThisInstance', 'getElementInstance', 'listOrganizationAccounts'],
      ...['passGet', 'createConsoleSession', 'getDocs', 'receiveProviderEvents'],
    ])
      expect(ids, id).not.to.include(id);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('authorizes what is under one tag in one way, and the platform without the token of an instance', () => {
    const schemes = new Map<string, Set<string>>();
    for (const { tags, security, operationId } of operations) {
      expect(security, operationId).to.have.length(1);
      for (const tag of tags) {
        const known = schemes.get(tag) ?? new Set();
        schemes.set(tag, known.add(Object.keys(security[0] ?? {}).join()));
      }
    }
    expect([...schemes].filter(([, names]) => names.size !== 1)).to.deep.equal([]);
    expect([...(schemes.get('instances') ?? [])]).to.deep.equal(['UserOrganization']);
    expect([...(schemes.get('this-instance') ?? [])]).to.deep.equal(['UserElement']);
  });

  it('leaves out what a client sends with each call', () => {
    const references = operations.flatMap(({ parameters }) =>
      parameters.map(({ $ref = '' }) => $ref.split('/').at(-1)),
    );
    expect(references).not.to.include.members(['ActingAccount']);
    expect(references).not.to.include.members(['ElementsVersion']);
  });

  it('has every component that it refers to, and no other', () => {
    const text = JSON.stringify(document);
    const used = new Set([...text.matchAll(/"#\/components\/([^"]+)"/g)].map(([, reference]) => reference));
    const { securitySchemes: _, ...sections } = document.components;
    const there = Object.entries<object>(sections).flatMap(([section, members]) =>
      Object.keys(members).map((name) => `${section}/${name}`),
    );
    expect(there.toSorted()).to.deep.equal([...used].toSorted());
  });

  it('names every schema that would become a type', () => {
    const inline: string[] = [];
    const visit = (node: unknown, place: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const { enum: values, properties, type } = Object(node);
      // The members of a schema are no schema, although some have a member `properties`.
      const isNamed = /^\/components\/schemas\/[^/]+(\/allOf\/\d+|\/properties)?$/.test(place);
      if (!isNamed && type !== undefined && ((values !== undefined && type === 'string') || properties !== undefined))
        inline.push(place);
      for (const [name, member] of Object.entries(node))
        if (name !== 'example' && name !== 'examples') visit(member, `${place}/${name}`);
    };
    visit(
      {
        paths: document.paths,
        components: { schemas: document.components.schemas, parameters: document.components.parameters },
      },
      '',
    );
    expect(inline).to.deep.equal([]);
  });
});

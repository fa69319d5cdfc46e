import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import ts from 'typescript';
import { type TypedObject, typesOf } from '../../src/typescript-types.js';

const CONTACTS: TypedObject = {
  name: 'contacts',
  fields: [
    { path: 'id', kind: 'string' },
    { path: 'firstName', kind: 'string', displayName: 'First name' },
    { path: 'score', kind: 'number' },
    { path: 'address.city', kind: 'string', displayName: 'City' },
    { path: 'address.geo', kind: 'object' },
    { path: 'users', kind: 'array', displayName: 'Users' },
    { path: 'users[*].name', kind: 'string' },
    { path: 'users[0].roles[*]', kind: 'string' },
    { path: 'tags', kind: 'array' },
  ],
};

/** Names and labels that must be escaped, and types that differ between instances. */
const HOSTILE: readonly TypedObject[] = [
  { name: 'time-entries', fields: [] },
  { name: 'timeEntries', fields: [{ path: 'a', kind: 'boolean' }] },
  {
    name: 'record',
    fields: [
      { path: 'class', kind: 'string', displayName: '*/ export const broken = 1; /*' },
      { path: 'two words', kind: 'string', displayName: 'a\nb\u2028c\u202e' },
      { path: 'it\'s "quoted" \\ and \u202e', kind: 'number' },
      { path: 'constructor', kind: 'object' },
      { path: '1st.toString', kind: 'boolean' },
      { path: 'either', kind: 'string' },
      { path: 'either', kind: 'number' },
      { path: 'either.deep', kind: 'number' },
      { path: 'cells[*][*]', kind: 'number' },
    ],
  },
];

/** A program that uses the types with the client. The lines below an expectation must not compile. */
const USE = `
import { Causeway } from '@causeway/client';
import type { Contacts, Record, TimeEntries, TimeEntries2 } from './types.js';

export async function use(account: Causeway): Promise<void> {
  const contacts = account.records<Contacts>('contacts');
  for await (const { firstName, address, users, tags, score } of contacts.all({ fields: ['firstName'] })) {
    const city: string = address?.city ?? 'nowhere';
    const names: (string | null | undefined)[] = users?.map(({ name }) => name) ?? [];
    const role: string | null | undefined = users?.[0]?.roles?.[0];
    console.log(firstName?.toUpperCase(), city, names, role, tags?.length, score?.toFixed(2), address?.geo?.x);
    // @ts-expect-error
    firstName.length;
    // @ts-expect-error
    score?.length;
  }
  await contacts.create({ firstName: 'Ada', address: { city: null } });
  // @ts-expect-error
  await contacts.create({ firstName: 1 });
  // @ts-expect-error
  await contacts.update('1', { fristName: 'Ada' });
}

export const empty: TimeEntries = {};
export const entry: TimeEntries2 = { a: true };
export const mixed: Record['either'][] = ['text', 1, { deep: 1 }, null, undefined];
export const cells: Record['cells'] = [[1, null], null];
`;

describe('TypeScript types', () => {
  let folder = '';
  // The file is below the package, where its imports find the client.
  before(async () => {
    folder = await mkdtemp(join(import.meta.dirname, 'types-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('nest what paths nest, and let every member be missing or null', () => {
    assert.equal(
      typesOf([CONTACTS]),
      `// Made by \`causeway types\`. Run it again after a change of the definitions.

/** The object \`contacts\`. */
export interface Contacts {
  id?: string | null;
  /** First name */
  firstName?: string | null;
  score?: number | null;
  address?: {
    /** City */
    city?: string | null;
    geo?: { [name: string]: unknown } | null;
  } | null;
  /** Users */
  users?: {
    name?: string | null;
    roles?: (string | null)[] | null;
  }[] | null;
  tags?: unknown[] | null;
}
`,
    );
  });

  it('stand in the order of their names, each with a name of its own', () => {
    const text = typesOf([CONTACTS, ...HOSTILE]);
    const names = [...text.matchAll(/^export interface (\w+) /gm)].map(([, name]) => name);
    assert.deepEqual(names, ['Contacts', 'Record', 'TimeEntries', 'TimeEntries2']);
    assert.equal(typesOf([...HOSTILE, CONTACTS].reverse()), text);
    assert.doesNotMatch(text, /[\u2028\u202e]/);
  });

  it('compile, and type the records of the client', async () => {
    const problems = await compile({ 'types.ts': typesOf([CONTACTS, ...HOSTILE]), 'use.ts': USE });
    assert.deepEqual(problems, []);
  });

  it('are a module even if there are none', async () => {
    const use = "import type {} from './types.js';\n";
    assert.deepEqual(await compile({ 'types.ts': typesOf([]), 'use.ts': use }), []);
  });

  async function compile(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const program = ts.createProgram([join(folder, 'use.ts')], {
      ...{ strict: true, noEmit: true, skipLibCheck: true, noUncheckedIndexedAccess: true },
      ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, types: ['node'] },
    });
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  }
});

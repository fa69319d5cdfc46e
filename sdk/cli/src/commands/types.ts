import { readFile, writeFile } from 'node:fs/promises';
import type { AssociatedField, CommonResource, MappedFieldType, ObjectField, ObjectFieldType } from '@causeway/client';
import type { AddCommands } from '../command.js';
import { UsageError } from '../failures.js';
import type { Session } from '../session.js';
import { counted } from '../texts.js';
import { FIRST_LINE, type TypedField, type TypedKind, type TypedObject, typesOf } from '../typescript-types.js';

interface TypesOptions {
  readonly out?: string;
  readonly force?: true;
}

export const addTypes: AddCommands = (program, run) => {
  program
    .command('types')
    .description('write TypeScript types of the definitions; with --instance, those of its mapped objects')
    .option('-O, --out <file>', 'the file (default: the standard output)')
    .option('--force', 'overwrite a file that this command did not write')
    .action(run(types));
};

async function types(session: Session, { out, force }: TypesOptions): Promise<void> {
  const { output } = session;
  if (out !== undefined && !force) await assertReplaceable(out);
  const objects = session.namesInstance ? await mappedObjects(session) : await definitions(session);
  if (objects.length === 0)
    output.note(session.namesInstance ? 'The instance has no mapped objects.' : 'There are no definitions.');
  const text = typesOf(objects);
  if (out === undefined) {
    await output.one({ types: text }, () => text.trimEnd());
    return;
  }
  await writeFile(out, text);
  await output.one({ file: out, types: objects.length }, () => `${counted(objects.length, 'type')} written to ${out}.`);
}

/** Checks that the command may replace the file. @throws UsageError for a file that it did not write */
async function assertReplaceable(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined || text === '' || text.startsWith(FIRST_LINE)) return;
  throw new UsageError(`This command did not write ${file}. Choose another --out, or add --force.`);
}

/** Returns the definitions that the account sees, with the fields of all levels. */
async function definitions(session: Session): Promise<readonly TypedObject[]> {
  const platform = await session.platform();
  const { signal } = session;
  const found: TypedObject[] = [];
  for await (const resource of platform.all((page) => platform.mappings.listCommonResourcesRaw(page, { signal })))
    found.push({ name: resource.name, fields: fieldsOf(resource) });
  return found;
}

/**
 * Returns the fields of all levels. The account overrides the organization on every instance. An instance overrides both on itself only, so
 * that a field can have the types of several levels.
 */
function fieldsOf({ fields }: CommonResource): readonly TypedField[] {
  const isOfInstance = ({ associatedLevel }: AssociatedField) => associatedLevel === 'instance';
  const shared = new Map<string, AssociatedField>();
  for (const level of ['organization', 'account'])
    for (const field of fields) if (field.associatedLevel === level) shared.set(field.path, field);
  return [...shared.values(), ...fields.filter(isOfInstance)].map(({ path, type, displayName }) => ({
    path,
    kind: DEFINED[type],
    displayName,
  }));
}

const DEFINED: Readonly<Record<MappedFieldType, TypedKind>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'string',
  array: 'array',
  object: 'object',
};

/** Returns the mapped objects of the instance, with the fields that their records have there. */
async function mappedObjects(session: Session): Promise<readonly TypedObject[]> {
  const account = await session.account();
  const { signal } = session;
  const found: TypedObject[] = [];
  for (const { name, type } of await account.objects.listObjects({ signal })) {
    if (type !== 'vdr') continue;
    const { fields } = await account.objects.getObjectMetadata({ objectName: name }, { signal });
    found.push({ name, fields: fields.map(typedField) });
  }
  return found;
}

/** A field without a display name has its own name as the label. */
function typedField({ name, label, type, format }: ObjectField): TypedField {
  return {
    path: name,
    kind: format === 'decimal-text' && type !== 'array' ? 'string' : DESCRIBED[type],
    displayName: label,
  };
}

const DESCRIBED: Readonly<Record<ObjectFieldType, TypedKind>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  date: 'string',
  datetime: 'string',
  array: 'array',
  object: 'object',
};

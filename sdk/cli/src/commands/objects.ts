import type { ObjectField, ObjectMetadata } from '@causeway/client';
import type { AddCommands } from '../command.js';
import type { Session } from '../session.js';
import { type Columns, tableText } from '../table.js';
import { printable } from '../texts.js';

export const addObjects: AddCommands = (program, run) => {
  program.command('objects').description('list the objects of the instance').action(run(objects));
  program
    .command('describe <object>')
    .description('show the fields of an object, and which filters its provider supports')
    .action(run(describe));
};

async function objects(session: Session): Promise<void> {
  const account = await session.account();
  await session.output.list(await account.objects.listObjects({ signal: session.signal }), {
    object: ({ name }) => name,
    label: ({ label }) => label,
    can: ({ operations }) => operations.join(' '),
    below: ({ children = [] }) => children.join(' '),
    'events by polling': ({ events }) => events.join(' '),
  });
}

async function describe(session: Session, objectName: string): Promise<void> {
  const account = await session.account();
  const metadata = await account.objects.getObjectMetadata({ objectName }, { signal: session.signal });
  const { output } = session;
  if (output.format === 'table') await output.print(`${headOf(metadata)}\n`);
  if (output.format === 'table' || output.format === 'csv') await output.list(metadata.fields, FIELD_COLUMNS);
  else await output.one(metadata, () => '');
  if (output.format === 'table') await output.print(`\n${footOf(metadata, session)}`);
}

const FIELD_COLUMNS: Columns<ObjectField> = {
  field: ({ name }) => name,
  type: typeOf,
  is: traitsOf,
  'filtered by the provider': filterOf,
  values: ({ values = [] }) => values.join(' | '),
};

function headOf({ name, description }: ObjectMetadata): string {
  return description === undefined ? printable(name) : `${printable(name)}: ${printable(description)}`;
}

function footOf({ children, parameters, limits }: ObjectMetadata, { output }: Session): string {
  const lines = [
    '~ The provider may return more rows than match, and the service checks them again. The service evaluates all other filters.',
  ];
  if (parameters.length > 0) {
    const columns = { parameter: 'name', type: 'type', description: 'description' } as const;
    const table = tableText(
      parameters,
      Object.fromEntries(Object.entries(columns).map(([heading, member]) => [heading, (row) => row[member]])),
      output.colors,
    );
    lines.unshift(`${table.text}\n`);
  }
  if (children.length > 0) lines.push(`Below a record: ${children.join(', ')}.`);
  const bounds = Object.entries(limits).map(
    ([bound, value]) => `${bound} ${Array.isArray(value) ? value.join(', ') : value}`,
  );
  return [...lines, ...(bounds.length > 0 ? [`Limits of one query: ${bounds.join(', ')}.`] : [])].join('\n');
}

function typeOf({ type, format }: ObjectField): string {
  return format === undefined ? type : `${type} (${format})`;
}

function traitsOf(field: ObjectField): string {
  const traits = {
    identifier: field.identifier === true,
    required: field.required,
    'read-only': field.readOnly,
    custom: field.custom,
    sortable: field.sortable,
    'only in single records': field.unlisted === true,
  };
  return Object.entries(traits)
    .flatMap(([trait, isTrue]) => (isTrue ? [trait] : []))
    .join(', ');
}

/** Returns the operators of a field as text: `= < LIKE~`. */
function filterOf({ filter }: ObjectField): string {
  return Object.entries(filter)
    .map(([operator, exactness]) => (exactness === 'exact' ? operator : `${operator}~`))
    .join('  ');
}

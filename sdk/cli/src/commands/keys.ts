import type { AccessKey, AccessKeyCreate, KeyPermission } from '@causeway/client';
import { Option } from 'commander';
import { askYesOrNo } from '../ask.js';
import { type AddCommands, names, wholeNumber } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { UsageError } from '../failures.js';
import { instanceIdOf, type Session } from '../session.js';
import type { Columns } from '../table.js';
import { printable } from '../texts.js';

interface CreateOptions {
  readonly write?: true;
  readonly instances?: readonly string[];
  readonly elements?: readonly string[];
  readonly tags?: readonly string[];
  readonly objects?: readonly string[];
  readonly allow?: readonly string[];
  readonly days?: number;
}

const PERMISSIONS: readonly KeyPermission[] = ['passthrough', 'bulk', 'federated'];
const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

export const addKeys: AddCommands = (program, run) => {
  const keys = program
    .command('keys')
    .description('list the access keys, which let a program do less than you')
    .option('--where <filter>', "such as: access = 'write' or lastFour = 'a1B2'")
    .action(run(list));
  keys
    .command('create')
    .argument('<name>', 'what the key is for')
    .option('--write', 'allow changes of records, too')
    .option('--instances <ids>', 'the instances, separated by commas', names)
    .option('--elements <keys>', 'the elements of the instances', names)
    .option('--tags <tags>', 'tags that an instance must have, all of them', names)
    .option('--objects <names>', 'the objects', names)
    .option('--allow <kinds>', `what else it allows: ${PERMISSIONS.join(', ')}`, names)
    .option('--days <number>', 'the number of days until it expires', wholeNumber)
    .description('create a key and print it, once')
    .action(run(create));
  keys
    .command('rotate')
    .argument('<id>', 'of the key', wholeNumber)
    .addOption(new Option('--overlap-hours <number>', 'how long the earlier secret stays valid').default(24))
    .description('replace the secret of a key and print the new one, once')
    .action(run(rotate));
  keys
    .command('delete')
    .argument('<id>', 'of the key', wholeNumber)
    .option('-y, --yes', 'do not ask')
    .description('delete a key; it is rejected at once')
    .action(run(remove));
};

async function list(session: Session, { where }: { readonly where?: string }): Promise<void> {
  const platform = await session.platform();
  const { signal } = session;
  const query = where === undefined ? {} : { where };
  const columns: Columns<AccessKey> = {
    id: ({ id }) => id,
    name: ({ name }) => name,
    key: ({ key }) => key,
    access: ({ access, allow }) => [access, ...allow].join(', '),
    reach: reachOf,
    expires: ({ expiresDate }) => expiresDate,
    used: ({ lastUsedDate }) => lastUsedDate,
  };
  await session.output.list(
    platform.all((page) => platform.keys.listAccessKeysRaw({ ...query, ...page }, { signal })),
    columns,
    where === undefined ? `There are no keys yet. Create one: ${CAUSEWAY} keys create <name>` : 'None.',
  );
}

async function create(session: Session, name: string, options: CreateOptions): Promise<void> {
  const { write, instances, elements, tags, objects, allow = [], days } = options;
  const accessKeyCreate: AccessKeyCreate = {
    name,
    access: write === true ? 'write' : 'read',
    allow: allow.map(permissionOf),
    ...(instances !== undefined && { instances: instances.map(instanceIdOf) }),
    ...(elements !== undefined && { elementKeys: [...elements] }),
    ...(tags !== undefined && { tags: [...tags] }),
    ...(objects !== undefined && { objects: [...objects] }),
    ...(days !== undefined && { expiresIn: days * DAY_SECONDS }),
  };
  const platform = await session.platform();
  const created = await platform.keys.createAccessKey({ accessKeyCreate }, { signal: session.signal });
  await session.output.one(created, () => created.key);
  session.output.note('Store the key now: it is not shown again.');
}

async function rotate(session: Session, id: number, { overlapHours }: { readonly overlapHours: string | number }) {
  const hours = Number(overlapHours);
  if (!(hours >= 0)) throw new UsageError(`--overlap-hours must be a number of hours, not '${overlapHours}'.`);
  const platform = await session.platform();
  const secretRotation = { overlapSeconds: Math.round(hours * HOUR_SECONDS) };
  const rotated = await platform.keys.rotateAccessKey({ id, secretRotation }, { signal: session.signal });
  await session.output.one(rotated, () => rotated.key);
  session.output.note('Store the key now: it is not shown again.');
}

async function remove(session: Session, id: number, { yes }: { readonly yes?: true }): Promise<void> {
  const platform = await session.platform();
  const { name } = await platform.keys.getAccessKey({ id }, { signal: session.signal });
  const message = `Delete the key ${printable(name)} (${id})? Programs that use it are rejected at once.`;
  if (yes !== true && !(await askYesOrNo(session.asker, { message, instead: '--yes' }))) {
    session.output.note('Nothing is deleted.');
    return;
  }
  await platform.keys.deleteAccessKey({ id }, { signal: session.signal });
  await session.output.one({ id, deleted: true }, () => `Deleted ${printable(name)}.`);
}

function permissionOf(text: string): KeyPermission {
  const found = PERMISSIONS.find((each) => each === text);
  if (found !== undefined) return found;
  throw new UsageError(`--allow takes ${PERMISSIONS.join(', ')}, not '${text}'.`);
}

function reachOf({ instances, elementKeys, tags, objects }: AccessKey): string {
  const parts = [
    ...(instances === undefined ? [] : [`instances ${instances.join(', ')}`]),
    ...(elementKeys === undefined ? [] : [`elements ${elementKeys.join(', ')}`]),
    ...(tags === undefined ? [] : [`tags ${tags.join(', ')}`]),
    ...(objects === undefined ? [] : [`objects ${objects.join(', ')}`]),
  ];
  return parts.length === 0 ? 'all instances' : parts.join('; ');
}

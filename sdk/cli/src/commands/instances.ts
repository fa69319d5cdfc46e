import type { Instance, KeyInstance } from '@causeway/client';
import { askYesOrNo } from '../ask.js';
import { type AddCommands, wholeNumber } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { readProfiles } from '../profiles.js';
import type { Session } from '../session.js';
import type { Columns } from '../table.js';
import { printable } from '../texts.js';

interface ListOptions {
  readonly where?: string;
  readonly showTokens?: true;
}

export const addInstances: AddCommands = (program, run) => {
  const instances = program
    .command('instances')
    .description('list the connected accounts; the chosen one has a *')
    .option('--where <filter>', "such as: element.key = 'salesforce' AND valid = FALSE")
    .option('--show-tokens', 'print their tokens in place of ********')
    .action(run(list));
  instances
    .command('use')
    .argument('<id>', 'of the instance', wholeNumber)
    .description('choose the instance that commands use')
    .action(run(use));
  instances
    .command('delete')
    .argument('<id>', 'of the instance', wholeNumber)
    .option('-y, --yes', 'do not ask')
    .description('delete an instance and its credentials')
    .action(run(remove));
};

async function list(session: Session, { where, showTokens }: ListOptions): Promise<void> {
  const ofKey = await session.instancesOfKey();
  if (ofKey !== undefined) return listOfKey(session, ofKey);
  const platform = await session.platform();
  const { signal } = session;
  const { instance: current } = await session.login();
  const query = where === undefined ? {} : { where };
  const instances = platform.all((page) => platform.instances.listInstancesRaw({ ...query, ...page }, { signal }));
  const columns: Columns<Instance> = {
    '': ({ id }) => (id === current?.id ? '*' : ''),
    id: ({ id }) => id,
    element: ({ element }) => element.key,
    name: ({ name }) => name,
    state: stateOf,
    created: ({ createdDate }) => createdDate,
    ...(showTokens && { token: ({ token }: Instance) => token }),
  };
  const shown = showTokens ? instances : masked(instances);
  await session.output.list(
    shown,
    columns,
    where === undefined ? `There are no instances yet. Create one: ${CAUSEWAY} connect <element>` : 'None.',
  );
}

async function listOfKey(session: Session, instances: readonly KeyInstance[]): Promise<void> {
  const columns: Columns<KeyInstance> = {
    id: ({ id }) => id,
    element: ({ elementKey }) => elementKey,
    name: ({ name }) => name,
    tags: ({ tags }) => tags.join(', '),
  };
  await session.output.list(instances, columns, 'The access key reaches no instance yet.');
}

async function use(session: Session, id: number): Promise<void> {
  const platform = await session.platform();
  const { name, element, token } = await platform.instances.getInstance({ id }, { signal: session.signal });
  await session.choose({ id, name, elementKey: element.key, token });
  await session.output.one(
    { id, name, element: element.key },
    () => `Commands now use ${printable(name)} (${element.key}).`,
  );
}

async function remove(session: Session, id: number, { yes }: { readonly yes?: true }): Promise<void> {
  const platform = await session.platform();
  const { name, element } = await platform.instances.getInstance({ id }, { signal: session.signal });
  const message = `Delete ${printable(name)} (${element.key}, ${id}) and its credentials?`;
  if (yes !== true && !(await askYesOrNo(session.asker, { message, instead: '--yes' }))) {
    session.output.note('Nothing is deleted.');
    return;
  }
  await platform.instances.deleteInstance({ id }, { signal: session.signal });
  const stored = await readProfiles();
  if (session.keepsChoices && stored.profiles[session.profileName(stored)]?.instance?.id === id)
    await session.choose(undefined);
  await session.output.one({ id, deleted: true }, () => `Deleted ${printable(name)}.`);
}

/** Masks the token and the URL for events of an instance, because both are secrets. */
export function withoutSecrets(instance: Instance): Instance {
  return { ...instance, token: '********', ...(instance.eventUrl !== undefined && { eventUrl: '********' }) };
}

async function* masked(instances: AsyncIterable<Instance>): AsyncGenerator<Instance, void> {
  for await (const instance of instances) yield withoutSecrets(instance);
}

function stateOf({ valid, disabled, invalidReason }: Instance): string {
  if (disabled) return 'disabled';
  return valid ? 'valid' : `invalid: ${invalidReason ?? 'the reason is unknown'}`;
}

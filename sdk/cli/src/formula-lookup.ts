import { type Causeway, type Formula, where } from '@causeway/client';
import { CAUSEWAY } from './command-name.js';
import { NamedNothingError, UsageError } from './failures.js';

const ID = /^\d{1,15}$/;

/** Returns the id of a formula that is named by id or name. @throws NamedNothingError, UsageError */
export async function formulaIdOf(platform: Causeway, named: string, signal: AbortSignal): Promise<number> {
  if (ID.test(named)) return Number(named);
  return onlyOne(
    'formula',
    named,
    (await formulasNamed(platform, named, signal)).map(({ id }) => id),
    'formulas list',
  );
}

/**
 * Returns the formula of this name in the own account. Formulas of other accounts are visible, but cannot be changed. @throws UsageError
 */
export async function findOwnFormula(
  platform: Causeway,
  { name, accountId }: { readonly name: string; readonly accountId: number },
  signal: AbortSignal,
): Promise<number | undefined> {
  const found = (await formulasNamed(platform, name, signal)).filter((formula) => formula.accountId === accountId);
  return found.length === 0
    ? undefined
    : onlyOne(
        'formula',
        name,
        found.map(({ id }) => id),
        'formulas list',
      );
}

async function formulasNamed(platform: Causeway, name: string, signal: AbortSignal): Promise<readonly Formula[]> {
  const query = { abridged: true, where: where`name = ${name}`.toString() };
  const found: Formula[] = [];
  for await (const formula of platform.all((page) =>
    platform.formulas.listFormulasRaw({ ...query, ...page }, { signal }),
  )) {
    if (formula.name === name) found.push(formula);
  }
  return found;
}

/** Returns the id of a formula instance that is named by id or name. @throws NamedNothingError, UsageError */
export async function formulaInstanceIdOf(platform: Causeway, named: string, signal: AbortSignal): Promise<number> {
  if (ID.test(named)) return Number(named);
  const ids: number[] = [];
  const query = { searchText: named, includeInactive: true };
  for await (const { id, name } of platform.all((page) =>
    platform.formulas.listFormulaInstancesRaw({ ...query, ...page }, { signal }),
  )) {
    if (name === named) ids.push(id);
  }
  return onlyOne('formula instance', named, ids, 'formulas instances');
}

function onlyOne(kind: string, name: string, ids: readonly number[], see: string): number {
  const [id, ...others] = ids;
  if (id === undefined) throw new NamedNothingError(`There is no ${kind} '${name}'. See: ${CAUSEWAY} ${see}`);
  if (others.length === 0) return id;
  throw new UsageError(`There are ${ids.length} ${kind}s '${name}'. Use an id: ${ids.join(', ')}.`);
}

import { readFile, rename, writeFile } from 'node:fs/promises';
import {
  ApiError,
  type Causeway,
  type Formula,
  type FormulaBody,
  type FormulaFinding,
  type ListedFormulaInstance,
} from '@causeway/client';
import type { AddCommands } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { DifferentError, UsageError } from '../failures.js';
import { changeLine, changesBetween, type FormulaChange, readFormulaFile } from '../formula-files.js';
import { findOwnFormula, formulaIdOf } from '../formula-lookup.js';
import type { Session } from '../session.js';
import type { Columns } from '../table.js';
import { counted, printable } from '../texts.js';
import { addExecutions } from './executions.js';

interface ListOptions {
  readonly where?: string;
}

interface GetOptions {
  readonly out?: string;
  readonly force?: true;
}

interface ApplyOptions {
  readonly check?: true;
}

interface FormulaInFile {
  readonly file: string;
  readonly body: FormulaBody;
}

/** The outcome of one file. With --check, the outcome that it would have. */
interface Applied {
  readonly action: 'created' | 'changed' | 'unchanged';
  readonly file: string;
  readonly name: string;
  /** Id of the formula. It is absent until the formula is created. */
  readonly id?: number;
  readonly changes: readonly FormulaChange[];
  readonly findings: readonly FormulaFinding[];
}

export const addFormulas: AddCommands = (program, run) => {
  const formulas = program
    .command('formulas')
    .description('keep formulas in files, run them, and follow their executions');
  formulas
    .command('list')
    .description('list the formulas, the oldest first')
    .option('--where <filter>', "such as: active = TRUE AND name LIKE 'Contacts%'")
    .action(run(list));
  formulas
    .command('get <formula>')
    .description('print a formula, by its id or name, as a file that apply accepts')
    .option('-O, --out <file>', 'write it to this file')
    .option('--force', 'overwrite an existing file')
    .action(run(get));
  formulas
    .command('apply <files...>')
    .description(
      'create the formulas of JSON files, or replace those with the same names, and show the changes; - is the standard input',
    )
    .option('--check', 'change nothing; the exit code is 1 if a formula differs from its file')
    .action(run(apply));
  formulas
    .command('instances [formula]')
    .description('list the formula instances, or those of a formula by its id or name')
    .action(run(instances));
  addExecutions(formulas, run);
};

async function list(session: Session, { where }: ListOptions): Promise<void> {
  const platform = await session.platform();
  const query = { abridged: true, ...(where !== undefined && { where }) };
  const formulas = platform.all((page) =>
    platform.formulas.listFormulasRaw({ ...query, ...page }, { signal: session.signal }),
  );
  await session.output.list(
    formulas,
    COLUMNS,
    where === undefined ? `There are no formulas yet. Create one: ${CAUSEWAY} formulas apply <file>` : 'None.',
  );
}

const COLUMNS: Columns<Formula> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  active: ({ active }) => active,
  trigger: ({ triggers: [trigger] }) => trigger?.type,
  variables: ({ configuration }) => configuration.map(({ key }) => key).join(' '),
  account: ({ accountId }) => accountId,
  updated: ({ updatedDate }) => updatedDate,
};

async function get(session: Session, named: string, { out, force }: GetOptions): Promise<void> {
  const platform = await session.platform();
  const { signal, output } = session;
  const id = await formulaIdOf(platform, named, signal);
  const formula = await platform.formulas.exportFormula({ id }, { signal });
  const content = `${JSON.stringify(formula, null, 2)}\n`;
  if (out === undefined) {
    await output.print(content.trimEnd());
    return;
  }
  const old = await contentOf(out);
  if (old !== undefined && old !== content && !force)
    throw new UsageError(`${out} already exists and differs. Choose another --out, or add --force.`);
  const isChanged = old !== content;
  if (isChanged) await replaceFile(out, content);
  await output.one({ id, name: formula.name, file: out, changed: isChanged }, () =>
    isChanged ? `${printable(formula.name)} is in ${out}.` : `${out} already has ${printable(formula.name)}.`,
  );
}

async function contentOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** Writes a file under a temporary name, and renames it when it is complete. */
async function replaceFile(file: string, content: string): Promise<void> {
  const part = `${file}.${process.pid}.part`;
  await writeFile(part, content);
  await rename(part, file);
}

async function apply(session: Session, files: readonly string[], { check }: ApplyOptions): Promise<void> {
  // All files are read before the first change, so that a wrong one changes nothing.
  const formulas = await readFiles(files);
  const platform = await session.platform();
  const { output, signal } = session;
  const { accountId } = await platform.users.getOwnUser({ signal });
  const counts = { created: 0, changed: 0, unchanged: 0 };
  async function* applied(): AsyncGenerator<Applied, void> {
    for (const formula of formulas) {
      const outcome = await applyOne(platform, formula, { accountId, check, signal }).catch((error) => {
        if (!signal.aborted) output.note(`${formula.file} is not applied${placesOf(error)}.`);
        throw error;
      });
      counts[outcome.action]++;
      yield outcome;
    }
  }
  if (output.format !== 'table') await output.list(applied(), APPLIED_COLUMNS);
  else for await (const outcome of applied()) await output.print(appliedText(outcome, check, session));
  const differing = counts.created + counts.changed;
  if (check && differing > 0)
    throw new DifferentError(
      `${differing} of ${counted(formulas.length, 'formula')} ${differing === 1 ? 'differs' : 'differ'} from the files.`,
    );
}

/** Returns the parts of the file that the service rejects, as text. */
function placesOf(error: unknown): string {
  const paths =
    error instanceof ApiError ? error.details.flatMap(({ path = '' }) => path.replace(/^\/body\/?/, '')) : [];
  const named = [...new Set(paths)].filter((path) => path !== '');
  return named.length === 0 ? '' : `, because of ${named.map(printable).join(', ')}`;
}

async function readFiles(files: readonly string[]): Promise<readonly FormulaInFile[]> {
  const formulas: FormulaInFile[] = [];
  for (const file of files) {
    const body = await readFormulaFile(file);
    const same = formulas.find((other) => other.body.name === body.name);
    if (same !== undefined) throw new UsageError(`${same.file} and ${file} have the same name, '${body.name}'.`);
    formulas.push({ file, body });
  }
  return formulas;
}

async function applyOne(
  platform: Causeway,
  { file, body }: FormulaInFile,
  {
    accountId,
    check,
    signal,
  }: { readonly accountId: number; readonly check: true | undefined; readonly signal: AbortSignal },
): Promise<Applied> {
  const { formulas } = platform;
  const { name } = body;
  const about = { file, name };
  const id = await findOwnFormula(platform, { name, accountId }, signal);
  if (id === undefined) {
    if (check) return { action: 'created', ...about, changes: [], findings: [] };
    const created = await formulas.createFormula({ formulaBody: body }, { signal });
    return { action: 'created', ...about, id: created.id, changes: [], findings: await findingsOf(created.id) };
  }
  const before = await formulas.exportFormula({ id }, { signal });
  const changes = changesBetween(before, body);
  if (changes.length === 0) return { action: 'unchanged', ...about, id, changes, findings: [] };
  if (check) return { action: 'changed', ...about, id, changes, findings: [] };
  await formulas.replaceFormula({ id, formulaBody: body }, { signal });
  // The formula that the service made of the file is compared, not the file.
  const made = changesBetween(before, await formulas.exportFormula({ id }, { signal }));
  const findings = await findingsOf(id);
  return { action: made.length === 0 ? 'unchanged' : 'changed', ...about, id, changes: made, findings };

  async function findingsOf(formulaId: number): Promise<readonly FormulaFinding[]> {
    return (await formulas.validateFormula({ id: formulaId }, { signal })).findings;
  }
}

const APPLIED_COLUMNS: Columns<Applied> = {
  action: ({ action }) => action,
  id: ({ id }) => id,
  name: ({ name }) => name,
  file: ({ file }) => file,
  changes: ({ changes }) => changes.map(changeLine).join('; '),
};

function appliedText(
  { action, file, name, id, changes, findings }: Applied,
  check: true | undefined,
  { output }: Session,
): string {
  const { colors } = output;
  const paint = { created: colors.green, changed: colors.yellow, unchanged: colors.dim }[action];
  const word = check && action !== 'unchanged' ? `to be ${action}` : action;
  const head = `${paint(word.padEnd(9))}  ${printable(name)}${id === undefined ? '' : ` (${id})`}, ${file}`;
  return [
    head,
    ...changes.map((change) => `  ${changeLine(change)}`),
    ...findings.map(
      ({ severity, path, message }) => `  ${colors.yellow(severity)} ${printable(path)}: ${printable(message)}`,
    ),
  ].join('\n');
}

async function instances(session: Session, named: string | undefined): Promise<void> {
  const platform = await session.platform();
  const { signal, output } = session;
  const formulaId = named === undefined ? undefined : await formulaIdOf(platform, named, signal);
  const all = platform.all((page) =>
    platform.formulas.listFormulaInstancesRaw({ includeInactive: true, ...page }, { signal }),
  );
  await output.list(formulaId === undefined ? all : ofFormula(all, formulaId), INSTANCE_COLUMNS);
}

async function* ofFormula(
  all: AsyncIterable<ListedFormulaInstance>,
  formulaId: number,
): AsyncGenerator<ListedFormulaInstance, void> {
  for await (const instance of all) if (instance.formula.id === formulaId) yield instance;
}

const INSTANCE_COLUMNS: Columns<ListedFormulaInstance> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  formula: ({ formula }) => `${formula.name} (${formula.id})`,
  active: ({ active, formula }) => (active && !formula.active ? 'no, its formula is inactive' : active),
  created: ({ createdDate }) => createdDate,
  warnings: ({ warnings = [] }) => warnings.join(' '),
};

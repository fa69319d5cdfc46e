import { cutText, type ErrorDetail, pointer } from '../errors.ts';
import { createFaults } from '../mappings/faults.ts';
import { findMissingReferences } from './check-references.ts';
import { checkScripts } from './check-scripts.ts';
import type { Formula, FormulaContent, Node, StepType, TriggerType } from './model.ts';
import { nextRun } from './schedule.ts';
import type { Templates } from './templates.ts';
import type { FormulaView } from './templates-store.ts';

/** Something to look at in a formula. Executions fail at an error. */
interface Finding {
  readonly path: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** Properties without which a step or a trigger cannot work. */
const REQUIRED: Readonly<Record<StepType | TriggerType, readonly string[]>> = {
  elementRequest: ['elementInstanceId', 'method', 'api'],
  request: ['method', 'api'],
  httpRequest: ['method', 'url'],
  filter: ['body'],
  script: ['body'],
  loop: ['list'],
  formula: ['formulaId'],
  retryFormulaExecution: [],
  elementRequestStream: [
    'downloadElementInstanceId',
    'downloadMethod',
    'downloadApi',
    'uploadElementInstanceId',
    'uploadMethod',
    'uploadApi',
  ],
  amqpRequest: ['url', 'queue', 'body'],
  event: ['elementInstanceId'],
  scheduled: ['cron'],
  manual: [],
};
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const METHOD_PROPERTIES = ['method', 'downloadMethod', 'uploadMethod'];
/** Properties that may contain the old short form of references. */
const SHORT_FORMS = ['elementInstanceId', 'list', 'cron'];
/** More findings are left out. */
const MOST_FINDINGS = 500;
/** Levels of objects and arrays in properties that are looked at. */
const MOST_DEPTH = 20;

/** Creates the validation of formulas. */
export function createValidation({ get, findVisible }: Templates, { now }: { readonly now: () => Date }) {
  return {
    /**
     * Returns everything that executions of a formula would fail on, and what is probably not intended.
     * @throws AppError NOT_FOUND
     */
    validate: async (view: FormulaView, id: number): Promise<readonly Finding[]> => {
      const formula = await get(view, id);
      const called = calledIds(formula);
      const visible = called.length === 0 ? new Set<number>() : await findVisible(view, called);
      const scripts = createFaults();
      await checkScripts(formula.steps, formula.engine, (index) => ['steps', String(index)], scripts);
      return [
        ...scripts.list.map(asError),
        ...findTriggerFindings(formula, now()),
        ...formula.triggers.flatMap((trigger, index) =>
          findNodeFindings(formula, trigger, ['triggers', String(index)]),
        ),
        ...formula.steps.flatMap((step, index) => findNodeFindings(formula, step, ['steps', String(index)])),
        ...findCalledFindings(formula, visible),
        ...findUnused(formula),
      ].slice(0, MOST_FINDINGS);
    },
  };
}

function asError({ path = '', message }: ErrorDetail): Finding {
  return { path, severity: 'error', message };
}

function finding(severity: Finding['severity'], segments: readonly string[], message: string): Finding {
  return { path: pointer(...segments), severity, message };
}

function findTriggerFindings({ triggers: [trigger], steps }: Formula, now: Date): readonly Finding[] {
  if (trigger === undefined)
    return [
      finding('warning', ['triggers'], 'The formula has no trigger, so it can only be called by other formulas.'),
    ];
  const at = ['triggers', '0'];
  if (trigger.onSuccess.length === 0 && steps.length > 0)
    return [
      finding('error', [...at, 'onSuccess'], 'The trigger leads to no step, so the formula cannot have instances.'),
    ];
  const { cron } = trigger.properties;
  const isOver = trigger.type === 'scheduled' && typeof cron === 'string' && !cron.includes('${');
  if (isOver && cron !== '' && nextRun(cron, now) === undefined)
    return [finding('warning', [...at, 'properties', 'cron'], 'The schedule never fires again.')];
  return [];
}

function findNodeFindings(
  formula: FormulaContent,
  node: Node & { readonly type: StepType | TriggerType },
  segments: readonly string[],
): readonly Finding[] {
  const { name, type, properties } = node;
  const at = [...segments, 'properties'];
  const missing = (REQUIRED[type] ?? [])
    .filter((property) => isEmpty(properties[property]))
    .map((property) => finding('error', [...at, property], `'${cutText(name)}' needs the property ${property}.`));
  return [
    ...missing,
    ...findMethodFindings(properties, at),
    ...findNextFindings(formula, node, segments),
    ...Object.entries(properties).flatMap(([property, value]) =>
      isScript(type) && property === 'body'
        ? []
        : findReferenceFindings(formula, value, [...at, property], SHORT_FORMS.includes(property)),
    ),
  ];
}

function isScript(type: StepType | TriggerType): boolean {
  return type === 'script' || type === 'filter';
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function findMethodFindings(properties: Node['properties'], at: readonly string[]): readonly Finding[] {
  return METHOD_PROPERTIES.filter((property) => {
    const value = properties[property];
    return typeof value === 'string' && value !== '' && !value.includes('${') && !METHODS.includes(value.toUpperCase());
  }).map((property) => finding('error', [...at, property], `The method must be one of ${METHODS.join(', ')}.`));
}

function findNextFindings({ steps }: FormulaContent, node: Node, segments: readonly string[]): readonly Finding[] {
  const names = new Set(steps.map(({ name }) => name));
  return (['onSuccess', 'onFailure'] as const).flatMap((member) =>
    node[member].flatMap((name, index) =>
      names.has(name)
        ? []
        : [finding('error', [...segments, member, String(index)], `'${cutText(name)}' is no step of the formula.`)],
    ),
  );
}

function findReferenceFindings(
  formula: FormulaContent,
  value: unknown,
  segments: readonly string[],
  takesShortForms: boolean,
  depth = 0,
): readonly Finding[] {
  if (typeof value === 'string')
    return findMissingReferences(value, formula, { takesShortForms }).map(({ message }) =>
      finding('error', segments, message),
    );
  if (typeof value !== 'object' || value === null || depth === MOST_DEPTH) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    findReferenceFindings(formula, one, [...segments, name], takesShortForms, depth + 1),
  );
}

function calledIds({ steps }: Formula): readonly number[] {
  return steps
    .filter(({ type }) => type === 'formula')
    .map(({ properties }) => Number(properties.formulaId))
    .filter((id) => Number.isSafeInteger(id) && id > 0);
}

function findCalledFindings({ steps }: Formula, visible: ReadonlySet<number>): readonly Finding[] {
  return steps.flatMap(({ type, properties: { formulaId } }, index) => {
    const isWritten = type === 'formula' && !isEmpty(formulaId) && !String(formulaId).includes('${');
    if (!isWritten || visible.has(Number(formulaId))) return [];
    const segments = ['steps', String(index), 'properties', 'formulaId'];
    return [finding('error', segments, `There is no formula ${cutText(String(formulaId))}.`)];
  });
}

/** Returns warnings for steps that nothing leads to. */
function findUnused({ triggers, steps }: Formula): readonly Finding[] {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const reached = new Set<string>();
  const waiting = triggers.flatMap(({ onSuccess, onFailure }) => [...onSuccess, ...onFailure]);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const step = byName.get(name);
    if (step === undefined || reached.has(name)) continue;
    reached.add(name);
    waiting.push(...step.onSuccess, ...step.onFailure);
  }
  if (triggers.length === 0) return [];
  return steps.flatMap(({ name }, index) =>
    reached.has(name)
      ? []
      : [finding('warning', ['steps', String(index)], `Nothing leads to the step '${cutText(name)}'.`)],
  );
}

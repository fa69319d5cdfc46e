import type { GivenFormula, GivenStep } from './bench.ts';

/*
 * What formulas do by the contract (`formulas.md`, 6 and 8 to 10), in memory. It shares nothing with the engine, and scripts are a few known
 * ones, so that it need not run them.
 */

interface ModelNode {
  readonly name: string;
  readonly onSuccess: readonly string[];
  readonly onFailure: readonly string[];
}

/** A list of the input, or the entry of a loop that is running. */
export type ListSource = { readonly input: InputName } | { readonly loop: string };

export type ModelStep = ModelNode &
  (
    | {
        readonly kind: 'give';
        readonly shape: 'object' | 'plain' | 'nothing';
        readonly n: number;
        /** A step whose `n` it shows. */
        readonly sees: string;
        /** A running loop whose turn it shows. */
        readonly loop: string | undefined;
        readonly logs: boolean;
      }
    | { readonly kind: 'throw'; readonly logs: boolean }
    | { readonly kind: 'filter'; readonly passes: boolean; readonly loop: string | undefined }
    | {
        readonly kind: 'request';
        /** The statuses of its calls, one after the other; the last one stays. */
        readonly statuses: readonly number[];
        readonly retries: number;
        readonly accepts404: boolean;
        readonly sees: string;
        /** What its path refers to without being there. */
        readonly missing: 'variable' | 'step' | undefined;
      }
    | { readonly kind: 'loop'; readonly list: ListSource }
    | { readonly kind: 'formula'; readonly sub: ModelFormula }
    | { readonly kind: 'again'; readonly attempts: number }
  );

export interface ModelFormula {
  readonly first: readonly string[];
  readonly steps: readonly ModelStep[];
}

/** The input of every execution. */
export const INPUT = { none: [], one: [7], two: ['a', 'b'], deep: [[1, 2], [], [3]], text: 'no list' } as const;
export type InputName = keyof typeof INPUT;

export interface ModelRow {
  readonly name: string;
  readonly status: 'success' | 'failed';
  readonly isFault: boolean;
  /** The values by key. An undefined one has a text that the contract leaves open. */
  readonly values: Readonly<Record<string, string | undefined>>;
}

export interface ModelRun {
  readonly status: 'success' | 'failed' | 'retry';
  readonly rows: readonly ModelRow[];
}

/** What is outside of executions, and stays from one to the next. */
export interface World {
  /** Calls by path. */
  readonly calls: Map<string, number>;
  /** The bodies of the calls, in their order. */
  readonly bodies: unknown[];
}

export const createWorld = (): World => ({ calls: new Map(), bodies: [] });

export const pathOf = (name: string) => `/model/${name}`;

/** The status with which the API responds to the next call of a request step. */
export function nextStatus(world: World, path: string, statuses: readonly number[], body: unknown): number {
  const count = world.calls.get(path) ?? 0;
  world.calls.set(path, count + 1);
  world.bodies.push(body);
  return statuses[Math.min(count, statuses.length - 1)] ?? 200;
}

/** @param attempt how many times the same input was run before */
export function runModel(formula: ModelFormula, world: World, attempt = 0): ModelRun {
  const { hasFailed, isRetry, rows } = runFrame(formula, world, attempt);
  return { status: isRetry ? 'retry' : hasFailed ? 'failed' : 'success', rows };
}

interface Outcome {
  readonly status: 'success' | 'failed';
  readonly isFault?: boolean;
  /** What references and scripts see of the step. */
  readonly value: unknown;
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly endsAll?: true;
}

function runFrame(formula: ModelFormula, world: World, attempt: number) {
  const steps = new Map(formula.steps.map((step) => [step.name, step]));
  const seen = new Map<string, unknown>();
  const turns = new Map<string, number>();
  const toCome = formula.first.toReversed();
  const rows: ModelRow[] = [];
  for (;;) {
    const name = toCome.pop();
    const step = name === undefined ? undefined : steps.get(name);
    if (step === undefined) break;
    const { value, values, status, isFault = status === 'failed', endsAll } = perform(step);
    rows.push({ name: step.name, status, isFault, values });
    seen.set(step.name, value);
    if (endsAll) return { hasFailed: false, isRetry: true, rows, value };
    toCome.push(...(status === 'success' ? step.onSuccess : step.onFailure).toReversed());
  }
  const value = seen.get(rows.at(-1)?.name ?? '');
  return { hasFailed: rows.some(({ isFault }) => isFault), isRetry: false, rows, value };

  function perform(step: ModelStep): Outcome {
    switch (step.kind) {
      case 'give': {
        const logged = step.logs ? { [`${step.name}.console`]: '["print"]' } : {};
        if (step.shape === 'nothing') return { status: 'success', value: undefined, values: logged };
        if (step.shape === 'plain')
          return { status: 'success', value: step.n, values: { ...logged, [step.name]: String(step.n) } };
        const value = { n: step.n, seen: nOf(step.sees), ...(step.loop !== undefined && { turn: turnOf(step.loop) }) };
        return { status: 'success', value, values: { ...logged, ...members(step.name, value) } };
      }
      case 'throw': {
        const logged = step.logs ? { [`${step.name}.console`]: '["print"]' } : {};
        return {
          status: 'failed',
          value: undefined,
          values: { ...logged, [`${step.name}.error`]: `why ${step.name}` },
        };
      }
      case 'filter': {
        const passes = step.loop === undefined ? step.passes : turnOf(step.loop).index % 2 === 0;
        return {
          status: passes ? 'success' : 'failed',
          isFault: false,
          value: { continue: passes },
          values: { [`${step.name}.continue`]: String(passes) },
        };
      }
      case 'request':
        return request(step);
      case 'loop':
        return loop(step);
      case 'formula': {
        const sub = runFrame(step.sub, world, 0);
        const last = sub.rows.at(-1);
        const renamed = Object.entries(last?.values ?? {}).map(
          ([key, value]) => [step.name + key.slice(last?.name.length), value] as const,
        );
        if (!sub.hasFailed) return { status: 'success', value: sub.value, values: Object.fromEntries(renamed) };
        const why = renamed.filter(([key]) => /[.](?:error|response)\b/.test(key));
        const values = why.length > 0 ? why : [[`${step.name}.error`, undefined] as const];
        return { status: 'failed', value: undefined, values: Object.fromEntries(values) };
      }
      case 'again':
        if (attempt < step.attempts)
          return {
            status: 'success',
            value: undefined,
            values: { [`${step.name}.attempt`]: String(attempt + 1) },
            endsAll: true,
          };
        return { status: 'failed', value: undefined, values: { [`${step.name}.error`]: undefined } };
    }
  }

  function request(step: Extract<ModelStep, { kind: 'request' }>): Outcome {
    if (step.missing !== undefined)
      return { status: 'failed', value: undefined, values: { [`${step.name}.error`]: undefined } };
    const n = nOf(step.sees);
    const known = n === 'none' ? undefined : n;
    const body = { ...(known !== undefined && { n: known }), text: `a-${known ?? ''}-b`, all: INPUT.deep };
    let retries = 0;
    for (;;) {
      const code = nextStatus(world, pathOf(step.name), step.statuses, body);
      const isSuccess = step.accepts404 ? code === 404 : code >= 200 && code < 300;
      if (isSuccess || retries === step.retries || code < 500)
        return {
          status: isSuccess ? 'success' : 'failed',
          value: undefined,
          values: {
            [`${step.name}.request.method`]: 'POST',
            [`${step.name}.request.uri`]: `/elements/api-v2${pathOf(step.name)}`,
            [`${step.name}.request.body`]: JSON.stringify(body),
            [`${step.name}.response.code`]: String(code),
            [`${step.name}.response.body`]: JSON.stringify({ code }),
            ...(retries > 0 && { [`${step.name}.request.retry-attempt`]: String(retries) }),
          },
        };
      retries += 1;
    }
  }

  function loop(step: Extract<ModelStep, { kind: 'loop' }>): Outcome {
    const list: unknown = 'input' in step.list ? INPUT[step.list.input] : turnOf(step.list.loop).entry;
    if (!Array.isArray(list))
      return { status: 'failed', value: undefined, values: { [`${step.name}.error`]: undefined } };
    const index = turns.get(step.name) ?? 0;
    if (index < list.length) {
      turns.set(step.name, index + 1);
      const value = { index, entry: list[index] };
      return { status: 'success', value, values: members(step.name, value) };
    }
    turns.delete(step.name);
    return { status: 'failed', isFault: false, value: undefined, values: {} };
  }

  function turnOf(name: string): { readonly index: number; readonly entry: unknown } {
    const { index, entry } = Object(seen.get(name));
    return { index, entry };
  }

  function nOf(name: string): unknown {
    return Object(seen.get(name)).n ?? 'none';
  }
}

function members(name: string, value: object): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      `${name}.${key}`,
      typeof one === 'string' ? one : JSON.stringify(one ?? null),
    ]),
  );
}

/** The same formula as the API takes it. */
export function toGiven(formula: ModelFormula, subIds: ReadonlyMap<ModelFormula, number>): GivenFormula {
  return {
    trigger: { onSuccess: formula.first },
    steps: formula.steps.map(({ name, onSuccess, onFailure, ...step }): GivenStep => {
      const node = { name, onSuccess, onFailure };
      switch (step.kind) {
        case 'give': {
          const n = `n: ${step.n}, seen: steps.${step.sees} && steps.${step.sees}.n !== undefined ? steps.${step.sees}.n : 'none'`;
          const turn = `, turn: { index: steps.${step.loop}.index, entry: steps.${step.loop}.entry }`;
          const given = {
            object: `done({ ${n}${step.loop === undefined ? '' : turn} });`,
            plain: `done(${step.n});`,
            nothing: 'done();',
          }[step.shape];
          return { ...node, type: 'script', properties: { body: logged(step.logs) + given } };
        }
        case 'throw':
          return { ...node, type: 'script', properties: { body: `${logged(step.logs)}throw('why ${name}'); done();` } };
        case 'filter': {
          const passes = step.loop === undefined ? step.passes : `steps.${step.loop}.index % 2 === 0`;
          return { ...node, type: 'filter', properties: { body: `done(${passes});` } };
        }
        case 'request':
          return {
            ...node,
            type: 'request',
            properties: {
              method: 'POST',
              api: { variable: '/model/${config.nobody}', step: '/model/${steps.nobody.n}', none: pathOf(name) }[
                step.missing ?? 'none'
              ],
              body: {
                n: `\${steps.${step.sees}.n}`,
                text: `a-\${steps.${step.sees}.n}-b`,
                all: '${trigger.args.deep}',
              },
              ...(step.accepts404 && { acceptableStatusCodes: '404' }),
              ...(step.retries > 0 && { retry: 'true', retryAttempts: String(step.retries), retryDelay: '1' }),
            },
          };
        case 'loop': {
          const list =
            'input' in step.list ? `\${trigger.args.${step.list.input}}` : `\${steps.${step.list.loop}.entry}`;
          return { ...node, type: 'loop', properties: { list } };
        }
        case 'formula': {
          const properties = { formulaId: subIds.get(step.sub), args: '${trigger.args}' };
          return { ...node, type: 'formula', properties };
        }
        case 'again':
          return {
            ...node,
            type: 'retryFormulaExecution',
            properties: { retryAttempts: String(step.attempts) },
          };
        default:
          throw new Error('There is no other kind of step.');
      }
    }),
  };
}

const logged = (logs: boolean) => (logs ? "console.log('print'); " : '');

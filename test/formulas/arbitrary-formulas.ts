import fc from 'fast-check';
import { INPUT, type InputName, type ListSource, type ModelFormula, type ModelStep } from './model.ts';

/** What a step does, without its name and its successors. */
type Deed =
  | {
      readonly kind: 'give';
      readonly shape: 'object' | 'plain' | 'nothing';
      readonly n: number;
      readonly logs: boolean;
    }
  | { readonly kind: 'throw'; readonly logs: boolean }
  | { readonly kind: 'filter'; readonly passes: boolean; readonly asksLoop: boolean }
  | {
      readonly kind: 'request';
      readonly statuses: readonly number[];
      readonly retries: number;
      readonly accepts404: boolean;
      readonly missing: 'variable' | 'step' | undefined;
    }
  | { readonly kind: 'loop'; readonly over: InputName; readonly ofOuter: boolean; readonly body: readonly Statement[] }
  | { readonly kind: 'formula'; readonly sub: readonly Statement[] };

/** A step with the steps that hang on it. */
interface Statement {
  readonly deed: Deed;
  /** Steps that are a successor of their own, before the one that goes on. */
  readonly aside: readonly Statement[];
  readonly failure: readonly Statement[];
  /** Whether the way of failure leads back to the way of success. */
  readonly joins: boolean;
  readonly sees: number;
}

const DEPTH = 3;

function statements(depth: number, maxLength: number): fc.Arbitrary<readonly Statement[]> {
  return fc.array(statement(depth), { minLength: 1, maxLength });
}

function statement(depth: number): fc.Arbitrary<Statement> {
  const few =
    depth > 0 ? fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, statements(depth - 1, 2)) : fc.constant([]);
  return fc.record({ deed: deed(depth), aside: few, failure: few, joins: fc.boolean(), sees: fc.nat(20) });
}

function deed(depth: number): fc.Arbitrary<Deed> {
  const simple: fc.WeightedArbitrary<Deed>[] = [
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('give' as const),
        shape: fc.constantFrom('object', 'object', 'plain', 'nothing'),
        n: fc.nat(9),
        logs: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('throw' as const), logs: fc.boolean() }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('filter' as const), passes: fc.boolean(), asksLoop: fc.boolean() }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('request' as const),
        statuses: fc.array(fc.constantFrom(200, 200, 404, 500, 503), { minLength: 1, maxLength: 4 }),
        retries: fc.nat(3),
        accepts404: fc.boolean(),
        missing: fc.constantFrom(undefined, undefined, undefined, undefined, 'variable' as const, 'step' as const),
      }),
    },
  ];
  if (depth === 0) return fc.oneof(...simple);
  return fc.oneof(
    ...simple,
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('loop' as const),
        over: fc.constantFrom(...(Object.keys(INPUT) as InputName[])),
        ofOuter: fc.boolean(),
        body: statements(depth - 1, 3),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('formula' as const), sub: statements(depth - 1, 3) }) },
  );
}

/** Formulas that end, with at most one planned retry at their end. */
export const arbitraryFormula: fc.Arbitrary<ModelFormula> = fc
  .tuple(statements(DEPTH, 4), fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined, freq: 3 }))
  .map(([all, attempts]) => compile(all, { prefix: 's', attempts }));

interface Place {
  readonly loops: readonly { readonly name: string; readonly over: InputName | undefined }[];
  /** Where the way of success leads at the end. */
  readonly exit: readonly string[];
}

/** Gives names, and makes the statements a graph. */
function compile(
  all: readonly Statement[],
  { prefix, attempts }: { readonly prefix: string; readonly attempts?: number | undefined },
): ModelFormula {
  const steps: ModelStep[] = [];
  let count = 0;
  const total = countSteps(all);
  const exit = attempts === undefined ? [] : ['again'];
  const first = compileAll(all, { loops: [], exit });
  if (attempts !== undefined) steps.push({ kind: 'again', name: 'again', onSuccess: [], onFailure: [], attempts });
  return { first, steps };

  /** @returns the names with which they begin */
  function compileAll(list: readonly Statement[], place: Place): readonly string[] {
    return list.reduceRight<readonly string[]>((next, each) => compileOne(each, { ...place, exit: next }), place.exit);
  }

  function compileOne({ deed: done, aside, failure, joins, sees }: Statement, place: Place): readonly string[] {
    const name = `${prefix}${++count}`;
    const loop = place.loops.at(-1);
    // A turn that fails goes on with the next one, or ends here.
    const afterFailure = compileAll(failure, { ...place, exit: joins ? place.exit : [] });
    // Steps beside the way must not lead into it.
    const beside = compileAll(aside, { ...place, exit: [] });
    const onSuccess = [...beside, ...place.exit];
    const node = { name, onSuccess, onFailure: afterFailure };
    switch (done.kind) {
      case 'give':
        steps.push({ ...node, ...done, sees: `${prefix}${1 + (sees % total)}`, loop: loop?.name });
        break;
      case 'throw':
        steps.push({ ...node, ...done });
        break;
      case 'filter':
        steps.push({ ...node, kind: 'filter', passes: done.passes, loop: done.asksLoop ? loop?.name : undefined });
        break;
      case 'request':
        steps.push({ ...node, ...done, sees: `${prefix}${1 + (sees % total)}` });
        break;
      case 'loop': {
        const isOfOuter = done.ofOuter && loop?.over === 'deep';
        const list: ListSource = isOfOuter ? { loop: loop.name } : { input: done.over };
        const loops = [...place.loops, { name, over: isOfOuter ? undefined : done.over }];
        const body = compileAll(done.body, { loops, exit: [name] });
        steps.push({ name, kind: 'loop', list, onSuccess: body, onFailure: onSuccess });
        break;
      }
      case 'formula':
        steps.push({ ...node, kind: 'formula', sub: compile(done.sub, { prefix: `${name}x` }) });
        break;
    }
    return [name];
  }
}

function countSteps(all: readonly Statement[]): number {
  return all.reduce((sum, { deed: done, aside, failure }) => {
    const inner = done.kind === 'loop' ? countSteps(done.body) : 0;
    return sum + 1 + inner + countSteps(aside) + countSteps(failure);
  }, 0);
}

/** The sub-formulas of a formula, the innermost first. */
export function subsOf({ steps }: ModelFormula): readonly ModelFormula[] {
  return steps.flatMap((step) => (step.kind === 'formula' ? [...subsOf(step.sub), step.sub] : []));
}

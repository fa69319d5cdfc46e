import type { ComparisonOperator, PushedField, Translator, Value } from '#connector';

/** The query of a time off listing: each predicate sets one of BambooHR's inputs. */
export interface TimeOffFilter {
  /** Requests that end on this day or later. */
  readonly start?: string;
  /** Requests that begin on this day or earlier. */
  readonly end?: string;
  readonly id?: string;
  readonly employeeId?: string;
  /** Ids, separated by commas. */
  readonly type?: string;
  /** Words, separated by commas. */
  readonly status?: string;
}

/** Everything is pushed as a superset: one call answers all rows, so checking them again costs nothing. */
export const timeOffTranslator: Translator<TimeOffFilter> = {
  and: (operands) => operands.reduce(narrow, {}),
  compare: (field, operator, value) =>
    INPUTS.has(field.name) ? setInput(field, [value]) : setWindow(operator, toText(value)),
  in: (field, values) => setInput(field, values),
};

/** Our field → BambooHR's input. */
const INPUTS: ReadonlyMap<string, keyof TimeOffFilter> = new Map([
  ['id', 'id'],
  ['employeeId', 'employeeId'],
  ['typeId', 'type'],
  ['status', 'status'],
]);

function setInput(field: PushedField, values: readonly Value[]): TimeOffFilter {
  const input = INPUTS.get(field.name);
  if (input === undefined) throw new Error(`Time off cannot be filtered by ${field.name}.`);
  return { [input]: values.map(toText).join(',') };
}

/** A request does not end before it begins, so a bound of either date bounds the other: both dates take the same bounds. */
const WINDOWS: Readonly<Record<ComparisonOperator, (day: string) => TimeOffFilter>> = {
  '=': (day) => ({ start: day, end: day }),
  '<': (day) => ({ end: day }),
  '<=': (day) => ({ end: day }),
  '>': (day) => ({ start: day }),
  '>=': (day) => ({ start: day }),
  '!=': () => ({}),
};

function setWindow(operator: ComparisonOperator, day: string): TimeOffFilter {
  return WINDOWS[operator](day);
}

/** The narrower window; of two wants for one other input the first, the recheck sees to the second. */
function narrow(left: TimeOffFilter, right: TimeOffFilter): TimeOffFilter {
  const start = [left.start, right.start]
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);
  const end = [left.end, right.end].filter((day) => day !== undefined).sort()[0];
  return { ...right, ...left, ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
}

function toText(value: Value): string {
  return value.kind === 'string' || value.kind === 'boolean' ? String(value.value) : value.text;
}

import { type CreateInput, type ProviderResponse, path, rejected, type UpdateInput } from '#connector';
import { findText, isObject, type Json } from './answer.ts';
import { type EmployeePorts, getEmployee, nameOf } from './employee-records.ts';

/** @throws what `send` throws; rejected when BambooHR created the employee and left something out */
export async function createEmployee(ports: EmployeePorts, input: CreateInput): Promise<Json> {
  const json = toEndpoint(ports, input.values);
  const id = readCreatedId(await ports.send({ method: 'POST', path: '/api/v1/employees', json }));
  const record = await readBack(ports, id, input);
  assertStored(ports, `created the employee ${id}`, { written: input.values, before: {}, after: record });
  return record;
}

/** The id in the body, or the last number of the Location: "the URL to view the employee. The ID will be included". */
export function readCreatedId({ headers, body }: ProviderResponse): string {
  const named = isObject(body) ? body.id : undefined;
  const id = typeof named === 'number' ? String(named) : findText(named);
  const found = id ?? /(\d+)\D*$/.exec(headers.location ?? '')?.[1];
  if (found === undefined) throw new Error('BambooHR answered without the id of the new employee.');
  return found;
}

/**
 * BambooHR answers 200 whether it knows and takes a field or not. What the employee was before shows which of the fields it left
 * alone, as opposed to those that it stores in another spelling.
 * @throws what `send` throws; rejected when a field kept its value
 */
export async function updateEmployee(ports: EmployeePorts, input: UpdateInput): Promise<Json> {
  const { id, values } = input;
  const before = await getEmployee(ports, id, Object.keys(values));
  const json = toEndpoint(ports, values);
  await ports.send({ method: 'POST', path: path`/api/v1/employees/${id}`, json });
  const record = await readBack(ports, id, input);
  assertStored(ports, `answered that it changed the employee ${id}`, { written: values, before, after: record });
  return record;
}

function toEndpoint(ports: EmployeePorts, values: Json): Json {
  return Object.fromEntries(Object.entries(values).map(([native, value]) => [nameOf(ports, native) ?? native, value]));
}

function readBack(ports: EmployeePorts, id: string, { fields, values }: CreateInput): Promise<Json> {
  return getEmployee(ports, id, [...fields.map(({ native }) => native), ...Object.keys(values)]);
}

interface Change {
  readonly written: Json;
  readonly before: Json;
  readonly after: Json;
}

function assertStored({ columns }: EmployeePorts, done: string, change: Change): void {
  const ignored = findIgnored(change).map((native) => `'${columns.get(native)?.name ?? native}'`);
  if (ignored.length === 0) return;
  throw rejected(
    `BambooHR ${done}, but did not store ${ignored.join(', ')}: it answers success also for fields that the owner of the key may not change, and for changes that wait for an approval. Everything else of the request is stored.`,
  );
}

/** Native names of what was written and is not there: not shown, or as it was. A value in another spelling is there. */
export function findIgnored({ written, before, after }: Change): readonly string[] {
  return Object.keys(written).filter((native) => {
    const stored = toComparable(after[native]);
    if (stored === toComparable(written[native])) return false;
    return !Object.hasOwn(after, native) || stored === toComparable(before[native]);
  });
}

const NOTHING: ReadonlySet<string> = new Set(['', '0000-00-00', 'no', 'false', '0']);
const AMOUNT = /^(-?\d+(?:\.\d+)?)(?: [a-z]{3})?$/;

/** The same for all spellings of a value: nothing and an empty box, `12.50` and `12.5 USD`, cases and blanks. */
function toComparable(value: unknown): string {
  const plain = isObject(value) ? value.value : value;
  const text = String(plain ?? '')
    .trim()
    .replaceAll(/\s+/g, ' ')
    .toLowerCase();
  if (NOTHING.has(text)) return '';
  const amount = AMOUNT.exec(text)?.[1];
  return amount === undefined ? text : amount.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

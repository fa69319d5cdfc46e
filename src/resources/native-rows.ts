import { type Found, json, type NativePages, type ProviderResponse } from '../connector/index.ts';
import type { PushedField } from '../where/index.ts';
import { csvRows } from './csv-rows.ts';
import { setPath } from './record.ts';

/** What an answer with rows of a job says. */
export interface NativeAnswer {
  /** Native records, as the list has them. */
  readonly records: Iterable<unknown>;
  /** How many there are, where the answer says so. */
  readonly rowCount?: number;
  /** Where to go on; absent at the end. */
  readonly next?: string;
}

/** @throws Error where the answer is not what the connector says of it */
export function readNativeAnswer(
  { format, rows = [], next, end = [], rowCount }: NativePages,
  response: ProviderResponse,
  fields: readonly PushedField[],
): NativeAnswer {
  const onward = json.findText(toText(find(response, next)));
  const count = rowCount === undefined ? undefined : json.count(find(response, rowCount), 'the number of its rows');
  return {
    records:
      format === 'json'
        ? json.array(json.at(response.body, ...rows), 'the rows of the job')
        : csvRecords(response.body, fields),
    ...(count !== undefined && { rowCount: count }),
    ...(onward !== undefined && !end.includes(onward) && { next: onward }),
  };
}

function find({ headers, body }: ProviderResponse, found: Found): unknown {
  return 'header' in found ? headers[found.header] : json.at(body, ...found.member);
}

function toText(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}

function* csvRecords(body: unknown, fields: readonly PushedField[]): Generator<unknown, void> {
  if (body === undefined) return;
  if (typeof body !== 'string') throw new Error('The rows of the job are not CSV.');
  let make: ((cells: readonly string[]) => unknown) | undefined;
  for (const cells of csvRows(body)) {
    if (make === undefined) make = recordMaker(cells, fields);
    else yield make(cells);
  }
}

type Convert = (text: string) => unknown;

/** Texts become what JSON has in their place; numbers are read from texts by the fields themselves. */
function recordMaker(names: readonly string[], fields: readonly PushedField[]): (cells: readonly string[]) => unknown {
  const places = new Map(names.map((name, at) => [name, at]));
  const columns = fields.map(({ native, type }) => {
    const at = places.get(native);
    if (at === undefined) throw new Error(`The rows of the job lack the column ${native}.`);
    const convert: Convert = type === 'boolean' ? toBoolean : (text) => text;
    return { at, path: native.split('.'), convert };
  });
  return (cells) => {
    if (cells.length !== names.length)
      throw new Error(`A row of the job has ${cells.length} values in ${names.length} columns.`);
    const record: Record<string, unknown> = {};
    for (const { at, path, convert } of columns) {
      const text = cells[at] ?? '';
      setPath(record, path, text === '' ? null : convert(text));
    }
    return record;
  };
}

function toBoolean(text: string): unknown {
  return text === 'true' ? true : text === 'false' ? false : text;
}

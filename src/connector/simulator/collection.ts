import type { SimulatorMemory } from '../contract.ts';
import type { Changeable } from './changes.ts';
import type { MovableClock } from './clock.ts';
import type { Fault } from './fault.ts';
import { type Complaint, type InputForm, readInput } from './input.ts';
import type { Members } from './members.ts';
import type { SimulatedResponse } from './response.ts';
import { empty } from './response.ts';
import type { Call, RouteHandler, Routes } from './route.ts';
import { type Column, columnsFor, makeRow, makeRows, type RowForm, times, writeSeconds } from './rows.ts';
import { createKeptTable, type TableChange, type TableOptions, type TableRow } from './table.ts';

/** A kind of record of a provider, as data. The kit makes rows, ids, times, checks of input and changes on request from it. */
export interface CollectionSpec extends Pick<TableOptions, 'deleted' | 'retired' | 'touch' | 'shape'> {
  readonly members: Members;
  /** Number of rows at the start. */
  readonly rows: number;
  /** Columns that replace those of the members, by path. A column for an object replaces everything inside it. */
  readonly vary?: Readonly<Record<string, Column>>;
  /** The member that is the id. Default `id`. */
  readonly key?: string;
  /** Returns the id of the row at an index. Default: numbers from 1. */
  readonly makeId?: (index: number) => unknown;
  /** Values of a new record for members that its creator left out. Default null. */
  readonly initial?: TableRow | ((given: TableRow) => TableRow);
  /** Members that hold the time of creation (`created`), and of the last change (`changed`). */
  readonly created?: readonly string[];
  readonly changed?: readonly string[];
  /** Returns complaints about a record as it will be stored. */
  readonly check?: (row: TableRow, isNew: boolean) => readonly Complaint[];
  /** Keeps the rows over a restart. */
  readonly memory?: SimulatorMemory;
  /** Values of the records that `POST /simulate/changes` creates. */
  readonly made?: TableRow;
  /** The text that `POST /simulate/changes` changes. Default: the first text that can be set. */
  readonly label?: string;
}

/** Options of all collections of a provider. */
export interface CollectionsOptions<Name extends string, Spec> extends InputForm, Omit<RowForm, 'idsOf'> {
  readonly of: Readonly<Record<Name, Spec>>;
  readonly clock: MovableClock;
  /** Ids that references can have although no collection has their records. */
  readonly entries?: Readonly<Record<string, readonly unknown[]>>;
  /** Returns the provider's error for a body, or undefined to ignore the complaints. */
  readonly refuse: (complaints: readonly Complaint[], collection: Spec) => Fault | undefined;
  /** Returns the provider's error for a record that does not exist. */
  readonly absent: (collection: Spec, id: string) => Fault;
  readonly onChange?: (name: Name, change: TableChange) => void;
}

/** A collection: its specification, its table, and the reading of requests. */
export type Collection<Spec extends CollectionSpec = CollectionSpec, Name extends string = string> = Spec &
  Changeable & {
    readonly name: Name;
    /**
     * Returns a row.
     * @throws Fault where there is none
     */
    readonly get: (id: string) => TableRow;
    /**
     * Returns the values that a body has for a new record, or for a change of `old`.
     * @throws Fault for a body that is rejected
     */
    readonly read: (body: TableRow, old?: TableRow) => TableRow;
  };

/** Creates the collections of a provider, with their tables. */
export function createCollections<Name extends string, Spec extends CollectionSpec>(
  options: CollectionsOptions<Name, Spec>,
): Readonly<Record<Name, Collection<Spec, Name>>> {
  const { of, entries = {} } = options;
  const specs: ReadonlyMap<string, Spec> = new Map(Object.entries<Spec>(of));
  const idsOf = (name: string): readonly unknown[] => {
    const { rows = 0, makeId = numbered } = specs.get(name) ?? {};
    return entries[name] ?? times(rows, makeId);
  };
  const collections: Partial<Record<Name, Collection<Spec, Name>>> = {};
  for (const name in of) collections[name] = createCollection({ name, spec: of[name], idsOf }, options);
  // Every name of `of` has its collection by now.
  return collections as Readonly<Record<Name, Collection<Spec, Name>>>;
}

const numbered = (index: number): unknown => index + 1;

interface Named<Name, Spec> extends Required<Pick<RowForm, 'idsOf'>> {
  readonly name: Name;
  readonly spec: Spec;
}

function createCollection<Name extends string, Spec extends CollectionSpec>(
  { name, spec, idsOf }: Named<Name, Spec>,
  options: CollectionsOptions<Name, Spec>,
): Collection<Spec, Name> {
  const { members, rows, vary = {}, key = 'id', makeId = numbered, initial = {}, check = () => [] } = spec;
  const { writeTime = writeSeconds, onChange = () => undefined } = options;
  const isReplaced = (path: string) => Object.keys(vary).some((other) => path.startsWith(`${other}.`));
  const stamped = [...(spec.created ?? []), ...(spec.changed ?? [])];
  const always = stamped.flatMap((path) => (members[path] ? [[path, { ...members[path], isNeverNull: true }]] : []));
  const made = columnsFor({ ...members, ...Object.fromEntries(always) }, { ...options, idsOf });
  const own = Object.entries(made).filter(([path]) => !isReplaced(path));
  const columns = { ...Object.fromEntries(own), ...vary, [key]: makeId };
  const initialOf = typeof initial === 'function' ? initial : () => initial;
  const label = spec.label ?? labelOf(members);
  const table = createKeptTable({
    key,
    makeId,
    memory: spec.memory,
    rows: makeRows(rows, columns),
    initial: (given) => ({ ...blankOf(members), ...initialOf(given) }),
    stamps: { clock: options.clock, write: writeTime, created: spec.created ?? [], changed: spec.changed ?? [] },
    onChange: (change) => onChange(name, change),
    deleted: spec.deleted,
    retired: spec.retired,
    touch: spec.touch,
    shape: spec.shape,
  });
  return {
    ...spec,
    name,
    table,
    keyOf: table.keyOf,
    get: (id) => {
      const row = table.find(id);
      if (row === undefined) throw options.absent(spec, id);
      return row;
    },
    read: (body, old) => {
      const isNew = old === undefined;
      const { values, complaints } = readInput(members, body, { ...options, isNew });
      const all = [...complaints, ...check({ ...(old ?? initialOf(values)), ...values }, isNew)];
      const refusal = all.length === 0 ? undefined : options.refuse(all, spec);
      if (refusal !== undefined) throw refusal;
      return values;
    },
    create: (number) => {
      const { [key]: _, ...row } = makeRow(rows + number, columns);
      return { ...row, [label]: `New ${number}`, ...spec.made };
    },
    change: (number) => ({ [label]: `Changed ${number}` }),
  };
}

/** Lists are empty, and all other members are null. */
function blankOf(members: Members): TableRow {
  const entries = Object.entries(members).filter(([path]) => !path.includes('.'));
  return Object.fromEntries(entries.map(([name, { type }]) => [name, type === 'array' ? [] : null]));
}

function labelOf(members: Members): string {
  const isFree = (name: string) => {
    const { type, values, isReadOnly } = members[name] ?? {};
    return type === 'string' && values === undefined && isReadOnly !== true && !name.includes('.');
  };
  return Object.keys(members).find(isFree) ?? '';
}

/** The behavior of the routes of a collection. */
export interface RecordRoutesOptions {
  /** Returns the response with a record. */
  readonly show: (row: TableRow, call: Call, status?: number) => SimulatedResponse;
  readonly list?: RouteHandler;
  /** The operations that have routes. Default: all four. */
  readonly can?: readonly ('get' | 'create' | 'update' | 'remove')[];
  /** The method of updates. Default `PATCH`. */
  readonly update?: 'PATCH' | 'PUT' | 'POST';
  /** The status of a creation. Default 201. */
  readonly createdStatus?: number;
  /** Returns the response to a deletion. Default 204. */
  readonly removed?: () => SimulatedResponse;
  /** Returns the values in a request. Default: its body, a JSON object. */
  readonly body?: (call: Call, old?: TableRow) => TableRow | Promise<TableRow>;
  /** Returns the values to store. Default: those that were read. */
  readonly complete?: (values: TableRow, call: Call, old?: TableRow) => TableRow;
}

/** Returns the routes of a collection: list and create at `path`; get, update and remove at `path/{id}`. */
export function recordRoutes(path: string, { table, get, read }: Collection, options: RecordRoutesOptions): Routes {
  const { show, list, can = ['get', 'create', 'update', 'remove'], update = 'PATCH', removed = empty } = options;
  const { body = ({ body: sent }: Call) => sent.object(), complete = (values: TableRow) => values } = options;
  const idOf = ({ params: { id = '' } }: Call) => id;
  const valuesOf = async (call: Call, old?: TableRow) => complete(read(await body(call, old), old), call, old);
  const routes: Readonly<Record<string, Routes>> = {
    get: { [`GET ${path}/{id}`]: (call) => show(get(idOf(call)), call) },
    create: {
      [`POST ${path}`]: async (call) => show(table.insert(await valuesOf(call)), call, options.createdStatus ?? 201),
    },
    update: {
      [`${update} ${path}/{id}`]: async (call) => {
        const old = get(idOf(call));
        return show(table.update(table.keyOf(old), await valuesOf(call, old)) ?? old, call);
      },
    },
    remove: {
      [`DELETE ${path}/{id}`]: (call) => {
        table.remove(table.keyOf(get(idOf(call))));
        return removed();
      },
    },
  };
  return Object.assign({}, list && { [`GET ${path}`]: list }, ...can.map((each) => routes[each]));
}

import { type MappingFaults, mappingFaultsOf } from '../connector/client/index.ts';
import type {
  Changes,
  ConnectorContext,
  ListInput,
  ListOperation,
  ListPage,
  NativeBulk,
  NativeQuery,
  ObjectSpec,
  Operation,
} from '../connector/contract.ts';
import { defined } from '../connector/kit/kinds.ts';
import { invalidRequest, isAppError, pointer, segmentsOf } from '../errors.ts';
import { type CompiledMapping, compileMapping } from '../mappings/compile.ts';
import type { MappingInForce } from '../mappings/model.ts';
import { outermost, type RowMapping } from '../mappings/row-mapping.ts';
import { type MappedQueryable, type PushedField, type Row, reader, recordFields } from '../where/index.ts';
import { type ChangeFilter, createChangeFilter } from './changed-filter.ts';
import { createRecordMapper, writeRecord } from './record.ts';
import { createScriptedPage, keepPrepare } from './scripted-page.ts';
import { createRowScript, type MappedScript } from './scripted-rows.ts';

/** An object whose records are mapped. To everything that takes an object, it is one. */
export interface MappedObject extends ObjectSpec, MappedQueryable {
  /** The provider's object. */
  readonly vendor: ObjectSpec;
  readonly mapping: CompiledMapping;
  /** The definitions and transformations that the mapping was compiled from. */
  readonly inForce: MappingInForce;
  /** The fields of requests, which may be others than those of responses. */
  readonly body: ObjectSpec;
  /** Returns the fields of the provider's object that queries for these fields request. */
  readonly vendorFieldsOf: (fields: readonly PushedField[]) => readonly PushedField[];
  /** Turns a record of the provider, in the form of the API, into a mapped one. */
  readonly toMapped: (vendorRow: Row, faults: MappingFaults, signal: AbortSignal) => Promise<Row>;
  /**
   * Turns the values of a request into those of the provider.
   * @throws AppError REQUEST_INVALID that names the mapped fields whose values the provider cannot have
   */
  readonly toVendor: (values: Row, write: VendorWrite) => Promise<VendorRecord>;
  /** Lets the script change the values of a filter. It is absent unless the transformation asks for it. */
  readonly changeFilter?: ChangeFilter;
}

/** The values of a request for the provider. */
interface VendorRecord {
  /** The values in the form of the API. */
  readonly row: Row;
  /** The values as they are sent. */
  readonly native: Row;
}

interface VendorWrite {
  readonly action: 'create' | 'update';
  readonly stored?: Row | undefined;
  readonly faults: MappingFaults;
  readonly signal: AbortSignal;
}

/** Returns whether the records of an object are mapped. */
export function isMappedObject(object: ObjectSpec): object is MappedObject {
  return 'mapping' in object;
}

/** Returns the object as requests may write its records. */
export function bodyOf(object: ObjectSpec): ObjectSpec {
  return isMappedObject(object) ? object.body : object;
}

/** Returns the object with mapped fields and records. */
export function mapObject(vendor: ObjectSpec, inForce: MappingInForce, script: MappedScript | undefined): MappedObject {
  const mapping = compileMapping(vendor, inForce, script);
  const { fields, writeOnly, idField = '', rewriting } = mapping;
  const rows = createRows(vendor, mapping, script);
  const { parameters, limits, shape, translator, requiredFilters, children, media, label, custom, list, bulk } = vendor;
  const body: ObjectSpec = { fields: { ...fields, ...writeOnly }, idField };
  const changes = mapChanges(vendor, mapping, rows);
  const inputs = createInputs(rows);
  return {
    fields,
    idField,
    native: inForce.vendorName,
    label: label ?? inForce.objectName,
    ...defined({ custom, parameters, limits, shape, translator, requiredFilters, children, media }),
    ...(list !== undefined && { list: mapList(list, rows, inputs) }),
    ...(bulk !== undefined && { bulk: mapBulk(bulk, rows, inputs) }),
    ...mapRecordOperations(vendor, mapping, rows),
    ...defined({ remove: vendor.remove, changes }),
    rewriting,
    vendor,
    mapping,
    inForce,
    body,
    vendorFieldsOf: (asked) => inputs.planOf({ fields: asked }).vendorFields,
    ...(script !== undefined && changesFilters(inForce) && { changeFilter: createChangeFilter(script, mapping) }),
    toMapped: (row, faults, signal) => rows.one(row, faults, signal),
    toVendor: rows.toVendor,
  };
}

function changesFilters({ configuration }: MappingInForce): boolean {
  return configuration.some(({ type }) => type === 'applyJSOnQueryFieldValue');
}

/** Runs an operation of the provider's object inside one of the mapped object. */
async function perform<Input, Output>(
  operation: Operation<Input, Output>,
  context: ConnectorContext,
  input: Input,
): Promise<Output> {
  if ('run' in operation) return operation.run(context, input);
  return operation.read(await context.send(operation.request(input, context.config)), input);
}

type Rows = ReturnType<typeof createRows>;

/** The fields that a query needs of the provider's records, and the function that makes mapped rows of them. */
interface RowPlan {
  readonly vendorFields: readonly PushedField[];
  readonly toRow: (native: unknown) => Row;
  readonly mapRow: RowMapping['map'];
}

/** A row of a page that is mapped when it is needed. It is undefined where a script leaves it out. */
class PendingRow {
  readonly read: () => Row | undefined;
  constructor(read: () => Row | undefined) {
    this.read = read;
  }
}

/** Creates the ways of records through the mapping. */
function createRows(vendor: ObjectSpec, mapping: CompiledMapping, script: MappedScript | undefined) {
  const whole = recordFields(vendor);
  const toWholeRow = createRecordMapper(whole);
  const listed = recordFields({ ...vendor, fields: withoutUnlisted(vendor.fields) });
  const namesListed = recordFields({ fields: withoutUnlisted(mapping.fields) }).map(({ name }) => name);
  const mappingOf = recordMappings(mapping);
  // Events name a record by the provider's id, even where no mapped field shows it.
  const { idField: vendorId = 'id' } = vendor;
  const runScript = createRowScript(script, vendorId);
  const identifying = mapping.idField === undefined ? listed.filter(({ name }) => name === vendorId) : [];

  /** Returns what a query needs for these mapped fields. A script may read all fields of the provider's record. */
  function planFor(names: readonly string[]): RowPlan {
    const wanted = script === undefined ? names : [...new Set([...namesListed, ...names])];
    const { vendorFields, map } = mapping.rowMapping(wanted);
    const needed = outermost([...(script === undefined ? [] : listed), ...vendorFields, ...identifying]);
    const toRow = createRecordMapper(needed);
    return { vendorFields: needed, toRow, mapRow: map };
  }

  async function one(row: Row, faults: MappingFaults, signal: AbortSignal): Promise<Row> {
    const transformed = mappingOf(row).map(row, faults.values);
    faults.vendorRows?.set(transformed, row);
    const [record] = await runScript([{ original: row, transformed, fromVendor: true }], faults, { signal });
    return record ?? {};
  }

  return {
    planFor,
    hasScript: script !== undefined,
    dropsEmpty: script?.dropsEmpty === true,
    /** Returns the provider's field of a term of an order, which only plain fields can have. */
    vendorFieldOf: (field: PushedField): PushedField => mapping.vendorFieldOf(field.name) ?? field,
    /** Maps the rows of a page and runs the script over them, some at a time, when they are needed. */
    page: (
      natives: readonly unknown[],
      nativeOf: (record: unknown) => unknown,
      { toRow, mapRow }: RowPlan,
      context: ConnectorContext,
    ) => {
      const faults = mappingFaultsOf(context);
      const toRecord = (record: unknown) => {
        const original = toRow(nativeOf(record));
        return { original, transformed: mapRow(original, faults.values), fromVendor: true };
      };
      return createScriptedPage(natives, {
        toRecord,
        signal: context.signal,
        run: (records, time) => runScript(records, faults, { signal: context.signal, time }),
      });
    },
    one,
    /** Maps a single record of the provider. */
    native: (native: unknown, context: ConnectorContext): Promise<Row> =>
      one(toWholeRow(native), mappingFaultsOf(context), context.signal),
    vendorFields: whole,
    toWholeRow,
    toVendor: async (body: Row, { action, stored, faults, signal }: VendorWrite): Promise<VendorRecord> => {
      const { values, faults: found } = mapping.toVendor(body, { action, stored });
      if (found.length > 0) throw invalidRequest(found);
      const record = { original: body, transformed: values, fromVendor: false };
      const [row = values] = await runScript([record], faults, { signal });
      try {
        return { row, native: writeRecord(row, vendor, action, stored) };
      } catch (error) {
        throw inMappedNames(error, mapping);
      }
    },
  };
}

/**
 * Returns which fields a single record of the provider has. Those on demand are missing in most of them, and are no nulls then.
 */
function recordMappings(mapping: CompiledMapping): (vendorRow: Row) => RowMapping {
  const names = Object.keys(mapping.fields);
  const onDemand = names
    .filter((name) => mapping.fields[name]?.onDemand === true)
    .map((name) => ({ name, needs: mapping.rowMapping([name]).vendorFields.map((field) => reader(field.name)) }));
  const whole = mapping.rowMapping();
  if (onDemand.length === 0) return () => whole;
  const without = (missing: ReadonlySet<string>) => mapping.rowMapping(names.filter((name) => !missing.has(name)));
  const least = without(new Set(onDemand.map(({ name }) => name)));
  return (row) => {
    const missing = onDemand.filter(({ needs }) => needs.every((read) => read(row) === undefined));
    if (missing.length === onDemand.length) return least;
    return missing.length === 0 ? whole : without(new Set(missing.map(({ name }) => name)));
  };
}

function withoutUnlisted(fields: ObjectSpec['fields']): ObjectSpec['fields'] {
  return Object.fromEntries(Object.entries(fields).filter(([, { unlisted }]) => unlisted !== true));
}

type Inputs = ReturnType<typeof createInputs>;

/** Creates the inputs of the provider's operations for those of mapped ones. */
function createInputs(rows: Rows) {
  const plans = new WeakMap<readonly PushedField[], ReturnType<Rows['planFor']>>();
  // An input that is frozen comes again, and so must the provider's, so that its request is built once.
  const inputs = new WeakMap<ListInput<unknown>, ListInput<unknown>>();
  const planOf = ({ fields }: Pick<ListInput<unknown>, 'fields'>) => {
    const known = plans.get(fields);
    if (known !== undefined) return known;
    const made = rows.planFor(fields.map(({ name }) => name));
    plans.set(fields, made);
    return made;
  };
  const toVendorInput = (input: ListInput<unknown>): ListInput<unknown> => {
    const known = inputs.get(input);
    if (known !== undefined) return known;
    const orderBy = input.orderBy.map(({ field, direction }) => ({ field: rows.vendorFieldOf(field), direction }));
    const made = { ...input, fields: planOf(input).vendorFields, orderBy };
    if (Object.isFrozen(input)) inputs.set(input, Object.freeze(made));
    return made;
  };
  return { planOf, toVendorInput };
}

/** Returns a reader for rows that need no script. They are mapped when they are read. */
function rowReader({ toRow, mapRow }: RowPlan, { values, vendorRows }: MappingFaults): (native: unknown) => Row {
  return (native) => {
    const vendorRow = toRow(native);
    const row = mapRow(vendorRow, values);
    vendorRows?.set(row, vendorRow);
    return row;
  };
}

function mapList(list: ListOperation<unknown>, rows: Rows, { planOf, toVendorInput }: Inputs): ListOperation<unknown> {
  const nativeOf = (record: unknown) => (list.readRecord === undefined ? record : list.readRecord(record));
  return {
    ...defined({ maxPageSize: list.maxPageSize, cursorAt: list.cursorAt, pagesAtOnce: list.pagesAtOnce }),
    ...('request' in list && { request: (input, config) => list.request(toVendorInput(input), config) }),
    run: async (context, input): Promise<ListPage> => {
      const page = await perform(list, context, toVendorInput(input));
      if (!rows.hasScript) {
        const read = rowReader(planOf(input), mappingFaultsOf(context));
        return { ...page, records: page.records.map((record) => new PendingRow(() => read(nativeOf(record)))) };
      }
      const { total, records: natives, ...rest } = page;
      const { take, prepare } = rows.page(natives, nativeOf, planOf(input), context);
      const records = natives.map((_, index) => new PendingRow(() => take(index)));
      // Without a total where the script leaves rows out.
      return keepPrepare({ ...rest, records, ...(total !== undefined && !rows.dropsEmpty && { total }) }, prepare);
    },
    readRecord: (record) => (record instanceof PendingRow ? record.read() : record),
  };
}

/** Uploads turn their rows into those of the provider's object themselves, and send them to the same jobs. */
function mapBulk({ query, ingest }: NativeBulk, rows: Rows, inputs: Inputs): NativeBulk {
  return defined({ query: query && mapNativeQuery(query, rows, inputs), ingest });
}

/** The rows of a job have no order, and its results are in the form of the list. */
function mapNativeQuery(native: NativeQuery, rows: Rows, { planOf, toVendorInput }: Inputs): NativeQuery {
  const { count, start, read } = native;
  return {
    ...native,
    count: { run: (context, input) => perform(count, context, toVendorInput(input)) },
    start: {
      request: (input, config) => start.request(toVendorInput(input), config),
      read: (response, input) => start.read(response, toVendorInput(input)),
    },
    read: {
      run: async (context, input) => {
        const plan = planOf(input);
        const page = await perform(read, context, { ...input, fields: plan.vendorFields });
        if (!rows.hasScript)
          return { ...page, records: eachOf(page.records, rowReader(plan, mappingFaultsOf(context))) };
        return { ...page, records: await mapWithScript(rows, [...page.records], plan, context) };
      },
    },
  };
}

function* eachOf(records: Iterable<unknown>, read: (record: unknown) => Row): Iterable<Row> {
  for (const record of records) yield read(record);
}

async function mapWithScript(
  rows: Rows,
  natives: readonly unknown[],
  plan: RowPlan,
  context: ConnectorContext,
): Promise<readonly Row[]> {
  const { take, prepare } = rows.page(natives, (native) => native, plan, context);
  const mapped: Row[] = [];
  for (const index of natives.keys()) {
    await prepare(index);
    const row = take(index);
    if (row !== undefined) mapped.push(row);
  }
  return mapped;
}

function mapRecordOperations(vendor: ObjectSpec, mapping: CompiledMapping, rows: Rows): Partial<ObjectSpec> {
  const { get, create, update, replace } = vendor;
  const { vendorFields: fields } = rows;

  async function storedFor(context: ConnectorContext, id: string, values: Row): Promise<Row | undefined> {
    if (!mapping.needsStored(values) || get === undefined) return undefined;
    return rows.toWholeRow(await perform(get, context, { id, fields }));
  }

  async function nativeValues(context: ConnectorContext, values: Row, action: 'create' | 'update', stored?: Row) {
    const faults = mappingFaultsOf(context);
    return (await rows.toVendor(values, { action, stored, faults, signal: context.signal })).native;
  }

  const changing = (operation: NonNullable<ObjectSpec['update']>): NonNullable<ObjectSpec['update']> => ({
    run: async (context, { id, values }) => {
      const stored = await storedFor(context, id, values);
      const written = { id, values: await nativeValues(context, values, 'update', stored), fields };
      return rows.native(await perform(operation, context, written), context);
    },
  });

  return {
    ...(get !== undefined && {
      get: { run: async (context, { id }) => rows.native(await perform(get, context, { id, fields }), context) },
    }),
    ...(create !== undefined && {
      create: {
        run: async (context, { values }) => {
          const written = { values: await nativeValues(context, values, 'create'), fields };
          return rows.native(await perform(create, context, written), context);
        },
      },
    }),
    ...defined({ update: update && changing(update), replace: replace && changing(replace) }),
  };
}

/** Lets the details of an error point at the mapped fields. A field that nothing maps keeps its own name. */
function inMappedNames(error: unknown, { rewriting }: CompiledMapping): unknown {
  if (!isAppError(error, 'REQUEST_INVALID') || error.details === undefined) return error;
  const details = error.details.map((detail) => {
    const [part, name] = segmentsOf(detail.path ?? '');
    const shown = part === 'body' && name !== undefined ? rewriting.nameOf(name) : undefined;
    if (shown === undefined || name === undefined) return detail;
    return { ...detail, path: pointer('body', shown), message: detail.message.replace(`'${name}'`, `'${shown}'`) };
  });
  return invalidRequest(details);
}

/** The times of changes are known where the mapping shows them unchanged. Otherwise polls compare the mapped records. */
function mapChanges({ changes }: ObjectSpec, mapping: CompiledMapping, rows: Rows): Changes | undefined {
  if (changes === undefined) return undefined;
  const { updated, created, feed, ...rest } = changes;
  const names = {
    updated: updated === undefined ? undefined : mapping.plainNameOf(updated),
    created: created === undefined ? undefined : mapping.plainNameOf(created),
  };
  if (names.updated === undefined && names.created === undefined && feed === undefined) return undefined;
  return {
    ...rest,
    ...defined(names),
    ...(feed !== undefined && {
      feed: {
        run: async (context, input) => {
          const { changes: found, ...page } = await perform(feed, context, input);
          const mapped = found.map(async ({ record, ...change }) =>
            record === undefined ? change : { ...change, record: await rows.native(record, context) },
          );
          return { ...page, changes: await Promise.all(mapped) };
        },
      },
    }),
  };
}

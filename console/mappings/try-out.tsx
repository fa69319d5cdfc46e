import { useEffect, useState } from 'preact/hooks';
import { isJsonObject, parseJson } from '../../src/numbers/exact-json.ts';
import type { Row } from '../../src/where/row-values.ts';
import { ApiError, api, askWithHeaders } from '../api.ts';
import { useAction } from '../load.ts';
import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import { ErrorNote, Skeleton } from '../parts/show.tsx';
import { isReachable, useExamples, useInstanceObjects } from './vendor.ts';

/** Shows the try-out as a tab, with a choice of the instance. */
export function TryOutPart({
  objectName,
  instance,
  onInstance,
}: {
  readonly objectName: string;
  /** The id of an instance. */
  readonly instance: string | undefined;
  readonly onInstance: (id: string | undefined) => void;
}) {
  const instances = useInstances();
  return (
    <div class="stack">
      <div class="filters">
        <InstanceChoice instances={instances} value={instance} onChange={onInstance} none="Choose an instance" />
      </div>
      <ErrorNote error={instances.error} retry={instances.reload} />
      {instance !== undefined && (
        <TryOut
          key={instance}
          objectName={objectName}
          instanceId={Number(instance)}
          elementKey={undefined}
          version=""
        />
      )}
    </div>
  );
}

interface TryOutProps {
  readonly objectName: string;
  readonly instanceId: number | undefined;
  /** Key of the element whose transformation is tried. It is used where there is no instance. */
  readonly elementKey: string | undefined;
  /** Version of the stored transformation. A new version transforms the record again. */
  readonly version: string;
}

/** The method of a write for the direction to the provider. Undefined for the direction from the provider. */
type Way = undefined | 'POST' | 'PATCH';

interface Outcome {
  readonly text: string;
  /** The values that could not be converted, in the words of the service. */
  readonly faults: string | undefined;
  /** Members that were removed from the record, because requests cannot contain them. */
  readonly leftOut: readonly string[];
}

const WAYS: readonly (readonly [way: Way, title: string])[] = [
  [undefined, 'From the provider'],
  ['POST', 'To the provider: create'],
  ['PATCH', 'To the provider: change'],
];

/** Transforms a record of the provider, or a body for it, with the stored transformation, and shows both side by side. */
export function TryOut({ objectName, instanceId, elementKey, version }: TryOutProps) {
  const objects = useInstanceObjects(instanceId);
  const vendorName = objects.value?.mapped.get(objectName);
  const reachable =
    objects.value !== undefined && vendorName !== undefined && isReachable(objects.value, vendorName)
      ? vendorName
      : undefined;
  const examples = useExamples({ instanceId, objectName: reachable ?? '' });
  const [way, setWay] = useState<Way>();
  const [text, setText] = useState('');
  const [outcome, setOutcome] = useState<Outcome>();
  const execute = async (payload: Record<string, unknown>, towards: Way, leftOut: readonly string[]) => {
    const where = instanceId === undefined ? { elementKey: elementKey ?? '' } : { instanceId };
    const body = { payload, ...where, ...(towards !== undefined && { method: towards }) };
    const params = { path: { objectName } };
    const { data, headers } = await askWithHeaders(
      api.POST('/transformations/{objectName}/execute', { params, body, parseAs: 'text' }),
    );
    setOutcome({ text: printRecord(parseJson(data)), faults: headers.get('Elements-Error') ?? undefined, leftOut });
  };
  const { run, isRunning, error } = useAction(async (given: string, towards: Way, isTurned = false) => {
    setOutcome(undefined);
    const payload = readRecord(given);
    try {
      await execute(payload, towards, []);
    } catch (refusal) {
      // A record that was read has members that requests cannot contain, such as its id.
      const { record, leftOut } = withoutRefused(payload, isTurned ? refusal : undefined);
      if (leftOut.length === 0) throw refusal;
      setText(printRecord(record));
      await execute(record, towards, leftOut);
    }
  });
  const show = (record: Row) => {
    const printed = printRecord(record);
    setText(printed);
    run(printed, undefined);
  };
  const turn = (next: Way) => {
    // When the direction changes, the last result becomes the next input.
    const isTurned = (way === undefined) !== (next === undefined);
    const given = isTurned && outcome !== undefined ? outcome.text : text;
    setWay(next);
    setText(given);
    if (given !== '') run(given, next, isTurned && next !== undefined);
  };
  const [first] = examples.value ?? [];
  useEffect(() => {
    if (text === '' && first !== undefined) show(first);
  }, [first]);
  useEffect(() => {
    if (text !== '') run(text, way);
  }, [version]);
  const isFromProvider = way === undefined;
  return (
    <section class="stack tight" aria-label="Try-out">
      <ErrorNote error={objects.error} retry={objects.reload} />
      {instanceId !== undefined && objects.value !== undefined && vendorName === undefined && (
        <p class="note warn">{objectName} has no transformation on this instance yet. Add one for its element.</p>
      )}
      {vendorName !== undefined && reachable === undefined && (
        <p class="note">
          The mapped object has the name of the provider’s object, {vendorName}, and takes its place. So its records
          cannot be read here. Paste one.
        </p>
      )}
      <div class="filters">
        <label>
          Direction
          <select value={way ?? ''} onChange={({ currentTarget }) => turn(readWay(currentTarget.value))}>
            {WAYS.map(([each, title]) => (
              <option key={title} value={each ?? ''}>
                {title}
              </option>
            ))}
          </select>
        </label>
        {isFromProvider && <ExampleChoice rows={examples.value ?? []} text={text} onChoose={show} />}
      </div>
      <ErrorNote error={examples.error} retry={examples.reload} />
      <div class="columns">
        <form
          class="card stack tight"
          onSubmit={(event) => {
            event.preventDefault();
            run(text, way);
          }}
        >
          <label>
            {isFromProvider ? 'Record of the provider' : `Your ${objectName}`}
            <textarea
              class="mono"
              rows={16}
              spellcheck={false}
              placeholder={'{ "id": "1" }'}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </label>
          <div class="row">
            <button type="submit" class="main" disabled={isRunning || text.trim() === ''}>
              Transform
            </button>
          </div>
        </form>
        <section class="card stack tight" aria-label="Result" aria-live="polite">
          <span>{isFromProvider ? `Your ${objectName}` : 'Body for the provider'}</span>
          <ErrorNote error={error} />
          {outcome?.faults !== undefined && <p class="note warn">{outcome.faults}</p>}
          {outcome !== undefined && outcome.leftOut.length > 0 && (
            <p class="note">Left out of the record, because a request cannot set it: {outcome.leftOut.join(', ')}.</p>
          )}
          {isRunning && outcome === undefined && <Skeleton lines={4} />}
          {outcome !== undefined && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
            <pre class="wrap" tabIndex={0}>
              {outcome.text}
            </pre>
          )}
          {outcome === undefined && !isRunning && error === undefined && (
            <p class="soft">Choose or paste a record, and transform it. Nothing is stored.</p>
          )}
        </section>
      </div>
    </section>
  );
}

interface ExampleChoiceProps {
  readonly rows: readonly Row[];
  readonly text: string;
  readonly onChoose: (row: Row) => void;
}

function ExampleChoice({ rows, text, onChoose }: ExampleChoiceProps) {
  if (rows.length === 0) return null;
  const shown = rows.findIndex((row) => printRecord(row) === text);
  const choose = (index: string) => {
    const row = rows[Number(index)];
    if (index !== '' && row !== undefined) onChoose(row);
  };
  return (
    <label>
      Record
      <select value={shown < 0 ? '' : shown} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">Pasted</option>
        {rows.map((row, index) => (
          <option key={index} value={index}>
            {sayRecord(row, index)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Returns the first values of a record, as its name in a list. */
function sayRecord(row: Row, index: number): string {
  const texts = Object.values(row).filter(
    (value) => typeof value === 'number' || (typeof value === 'string' && value !== ''),
  );
  return `${index + 1}: ${texts.slice(0, 3).join(' · ').slice(0, 60)}`;
}

/** Returns a record without the members that an error of the API names, and their names. */
function withoutRefused(record: Record<string, unknown>, error: unknown) {
  const begin = '/body/payload/';
  const paths = error instanceof ApiError ? error.details.map(({ path = '' }) => path) : [];
  const names = paths
    .filter((path) => path.startsWith(begin))
    .map((path) => path.slice(begin.length).replaceAll('~1', '/').replaceAll('~0', '~'));
  const leftOut = names.filter((name) => holds(record, name));
  return { record: leftOut.reduce(without, record), leftOut };
}

/** Returns whether a record has a member of this name. `address.city` can be a member of that name, or a member of another one. */
function holds(record: Record<string, unknown>, name: string): boolean {
  if (Object.hasOwn(record, name)) return true;
  const [first = '', ...rest] = name.split('.');
  const inner = record[first];
  return rest.length > 0 && isJsonObject(inner) && holds(inner, rest.join('.'));
}

function without(record: Record<string, unknown>, name: string): Record<string, unknown> {
  const { [name]: removed, ...others } = record;
  if (removed !== undefined) return others;
  const [first = '', ...rest] = name.split('.');
  const inner = record[first];
  return rest.length > 0 && isJsonObject(inner) ? { ...record, [first]: without(inner, rest.join('.')) } : others;
}

function readWay(value: string): Way {
  return WAYS.find(([way]) => way === value)?.[0];
}

function printRecord(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Parses a record. @throws Error that says how to correct it */
function readRecord(text: string): Record<string, unknown> {
  const value = parse(text);
  if (isJsonObject(value)) return value;
  throw new Error('The record must be a JSON object, such as { "id": "1" }.');
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`The record is not JSON: ${error.message}`, { cause: error });
    throw error;
  }
}

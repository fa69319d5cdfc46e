import { useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { ErrorDetail } from '../../src/errors.ts';
import { ApiError } from '../api.ts';
import { usePages } from '../parts/pages.tsx';
import { Show } from '../parts/show.tsx';
import { addressOf, pathOf, readWrittenQuery, type WrittenQuery } from './address.ts';
import type { OpenWhereEditor } from './editor/create.ts';
import { filterFaults } from './editor/lint.ts';
import { editorSource, type ServiceFaults } from './editor/source.ts';
import { Explanation } from './explanation.tsx';
import { Fields } from './fields.tsx';
import { Foldable } from './foldable.tsx';
import { type ObjectFields, useMetadata } from './metadata.ts';
import { readRecords } from './records.ts';
import { Results } from './results.tsx';
import { useSettled } from './settled.ts';
import { WhereEditor } from './where-editor.tsx';

interface ObjectPageProps {
  readonly instanceId: number;
  readonly objectName: string;
}

/** Loads the metadata of the object, and then shows its records. */
export function ObjectPage({ instanceId, objectName }: ObjectPageProps) {
  const metadata = useMetadata(instanceId, objectName);
  return (
    <Show loaded={metadata} lines={12}>
      {(known) => known && <Explorer instanceId={instanceId} objectName={objectName} metadata={known} />}
    </Show>
  );
}

/** Milliseconds after the last key, after which the filter is checked and explained. */
const TYPING_PAUSE_MS = 300;

function Explorer({ instanceId, objectName, metadata }: ObjectPageProps & { readonly metadata: ObjectFields }) {
  const { query: parameters, route } = useLocation();
  const query = readWrittenQuery(parameters);
  const [draft, setDraft] = useState(query.where);
  const settled = useSettled(draft, TYPING_PAUSE_MS);
  const editor = useRef<OpenWhereEditor | undefined>(undefined);
  const list = usePages(
    (nextPage, signal) => readRecords({ instanceId, objectName, query, nextPage }, signal),
    [instanceId, objectName, query],
  );
  const source = useMemo(
    () => editorSource(metadata, list.value?.rows, serviceFaults(query, list.error)),
    [metadata, list.value, list.error],
  );
  const { queryable } = source;
  const faults = useMemo(() => filterFaults(settled, queryable), [settled, queryable]);
  const show = (next: WrittenQuery) => {
    const address = addressOf(pathOf(instanceId, objectName), next);
    if (JSON.stringify(next) === JSON.stringify(query)) list.reload();
    else route(address);
  };
  const run = () => {
    if (filterFaults(draft, queryable).length === 0) show({ ...query, where: draft.trim() });
    else editor.current?.checkAgain();
  };
  const results = useMemo(
    () => <Results objectName={objectName} metadata={metadata} query={query} list={list} onQuery={show} />,
    [metadata, list.value, list.error, list.isLoading, JSON.stringify(query)],
  );
  const fields = useMemo(
    () => (
      <Foldable title={`Fields (${metadata.fields.length})`}>
        <Fields metadata={metadata} onInsert={(text) => editor.current?.insert(text)} />
      </Foldable>
    ),
    [metadata],
  );
  return (
    <div class="workbench">
      <section class="stack tight ask" aria-label="Filter">
        <WhereEditor
          text={query.where}
          source={source}
          onChange={setDraft}
          onRun={run}
          onOpen={(opened) => {
            editor.current = opened;
          }}
        />
        <div class="row apart">
          <p class="small grow" role="status">
            <Advice faults={draft === settled ? faults : []} />
          </p>
          <button type="button" class="main" onClick={run}>
            Run
          </button>
        </div>
      </section>
      <aside class="rail stack tight" aria-label="Explanation and fields">
        <Explanation
          instanceId={instanceId}
          objectName={objectName}
          query={{ ...query, where: settled.trim() }}
          isReady={faults.length === 0}
        />
        {fields}
      </aside>
      <div class="answer">{results}</div>
    </div>
  );
}

function Advice({ faults }: { readonly faults: readonly ErrorDetail[] }) {
  const [first, ...others] = faults;
  if (first === undefined)
    return (
      <span class="soft">
        <kbd>Enter</kbd> runs it, <kbd>Shift Enter</kbd> begins a line, <kbd>Ctrl Space</kbd> completes.
      </span>
    );
  return (
    <span class="fault">
      {first.message}
      {others.length > 0 && ` (and ${others.length} more)`}
    </span>
  );
}

/**
 * Returns the faults that the service found in the filter. If the query has other texts too, such as an order, the positions of faults
 * cannot be assigned to one of them.
 */
function serviceFaults({ where, orderBy, fields }: WrittenQuery, error: unknown): ServiceFaults | undefined {
  if (!(error instanceof ApiError) || where === '' || orderBy !== '' || fields !== '') return undefined;
  return { where, details: error.details.filter(({ position }) => position !== undefined) };
}

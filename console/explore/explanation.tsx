import { useRef } from 'preact/hooks';
import { ApiError, api, ask, onInstance } from '../api.ts';
import { useLoad } from '../load.ts';
import { Skeleton } from '../parts/show.tsx';
import { textsOf, type WrittenQuery } from './address.ts';
import { Explain } from './explain.tsx';
import { Foldable } from './foldable.tsx';
import { Pushdown } from './pushdown.tsx';
import { useKept } from './settled.ts';

interface ExplanationProps {
  readonly instanceId: number;
  readonly objectName: string;
  readonly query: WrittenQuery;
  /** Whether the filter can be explained. While it has faults, the last explanation stays visible. */
  readonly isReady: boolean;
}

/** Explains how the service would process the query as it is written, even if it was never run. */
export function Explanation({ instanceId, objectName, query, isReady }: ExplanationProps) {
  const lastReady = useRef<WrittenQuery | undefined>(undefined);
  if (isReady) lastReady.current = query;
  const asked = lastReady.current;
  const loaded = useLoad(
    async (signal) =>
      asked &&
      ask(
        api.POST('/query/explain', {
          signal,
          headers: onInstance(instanceId),
          body: { objectName, ...textsOf(asked) },
        }),
      ),
    [instanceId, objectName, asked && textsOf(asked)],
  );
  const explanation = useKept(loaded);
  return (
    <Foldable title="Explain" gist={explanation && <Pushdown pushdown={explanation.pushdown} />}>
      <div class="stack tight" aria-busy={loaded.isLoading}>
        {!isReady && (
          <p class="soft small">
            {asked === undefined
              ? 'The explanation appears when the filter is correct.'
              : 'The filter has a fault. This is the last explanation before it.'}
          </p>
        )}
        <Refusal error={loaded.error} />
        {explanation !== undefined && loaded.error === undefined && <Explain explanation={explanation} />}
        {explanation === undefined && loaded.isLoading && <Skeleton lines={6} />}
      </div>
    </Foldable>
  );
}

/** Shows the error of an explanation. It is less prominent than other errors, because the user is still writing. */
function Refusal({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div class="note small">
      <p>{message}</p>
      {error instanceof ApiError && (
        <p>
          <code>{error.code}</code> {error.requestId !== undefined && <code>{error.requestId}</code>}
        </p>
      )}
    </div>
  );
}

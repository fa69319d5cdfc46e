import type { ComponentChildren } from 'preact';
import { ApiError } from '../api.ts';
import type { Loaded } from '../load.ts';
import { Copy } from './copy.tsx';

/** Shows an error with the message of the service, and with the request id that its operator needs. */
export function ErrorNote({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  if (error === undefined) return null;
  const known = error instanceof ApiError ? error : undefined;
  const message = error instanceof Error ? error.message : String(error);
  const details = known?.details.filter((detail) => detail.message !== message) ?? [];
  return (
    <div class="note bad" role="alert">
      <p>{message}</p>
      {known?.providerMessage !== undefined && <blockquote>{known.providerMessage}</blockquote>}
      {details.length > 0 && (
        <ul>
          {details.map((detail) => (
            <li key={detail.message}>{detail.message}</li>
          ))}
        </ul>
      )}
      <p class="row small">
        {known !== undefined && <code>{known.code}</code>}
        {known?.requestId !== undefined && (
          <span>
            request <code>{known.requestId}</code> <Copy text={known.requestId} what="the request id" />
          </span>
        )}
        {retry !== undefined && (
          <button type="button" class="plain" onClick={retry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

/** Shows grey lines in place of text that is loading, so that nothing moves when it arrives. */
export function Skeleton({ lines = 5 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" aria-busy="true">
      <span class="unseen">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}

/** Shows loaded data. Before that it shows a skeleton. An error is shown above the last data. */
export function Show<Value>({
  loaded,
  lines,
  children,
}: {
  readonly loaded: Loaded<Value>;
  readonly lines?: number;
  readonly children: (value: Value) => ComponentChildren;
}) {
  const { value, error, reload, isLoading } = loaded;
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {value !== undefined && children(value)}
      {value === undefined && isLoading && <Skeleton {...(lines !== undefined && { lines })} />}
    </>
  );
}

/** Shows that a list has no entries, and what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="strong">{title}</p>
      {children}
    </div>
  );
}

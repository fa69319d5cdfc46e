import { ApiError } from '../api.ts';
import { texts } from './texts.ts';

/** A failure to show. */
export interface Failed {
  readonly code?: string | undefined;
  readonly message: string;
  readonly providerMessage?: string | undefined;
  readonly requestId?: string | undefined;
}

interface FailureProps {
  readonly failed: Failed;
  /** Name of the provider, if its own message is shown. */
  readonly name?: string | undefined;
  readonly retry?: () => void;
}

/** Shows a failure to a user who knows the provider, but not this service. */
export function Failure({ failed: { code, message, providerMessage, requestId }, name, retry }: FailureProps) {
  const translated = code === undefined ? undefined : texts.failure.codes[code]?.(name ?? '');
  return (
    <div class="note bad" role="alert">
      <p class="strong">{texts.failure.title}</p>
      {translated !== undefined && <p>{translated}</p>}
      <p dir="auto" class={translated === undefined ? undefined : 'small'} lang="en">
        {message}
      </p>
      {providerMessage !== undefined && (
        <>
          {name !== undefined && <p class="small">{texts.failure.said(name)}</p>}
          <blockquote dir="auto">{providerMessage}</blockquote>
        </>
      )}
      {requestId !== undefined && <p class="small">{texts.failure.reference(requestId)}</p>}
      {retry !== undefined && (
        <p>
          <button type="button" class="plain" onClick={retry}>
            {texts.failure.retry}
          </button>
        </p>
      )}
    </div>
  );
}

export function failedOf(error: unknown): Failed {
  if (!(error instanceof ApiError)) return { message: error instanceof Error ? error.message : String(error) };
  return error.code === 'NETWORK' ? { message: texts.failure.unreachable } : error;
}

const PREFIX = '/body/configuration/';

/** Returns the faults of single fields, by their keys. */
export function faultsOf(error: unknown): Readonly<Record<string, string>> {
  const details = error instanceof ApiError ? error.details : [];
  return Object.fromEntries(
    details.flatMap(({ path, message }) =>
      path?.startsWith(PREFIX) ? [[readSegment(path.slice(PREFIX.length)), message]] : [],
    ),
  );
}

/** Decodes a segment of a JSON pointer. */
function readSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

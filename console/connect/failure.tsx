import { ApiError } from '../api.ts';
import { texts } from './texts.ts';

/** What went wrong. */
export interface Failed {
  readonly code?: string | undefined;
  readonly message: string;
  readonly providerMessage?: string | undefined;
  readonly requestId?: string | undefined;
}

interface FailureProps {
  readonly failed: Failed;
  /** Of the provider, whose words may be there. */
  readonly name?: string | undefined;
  readonly retry?: () => void;
}

/** What went wrong, for somebody who knows the provider and nothing of this service. */
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

const PLACE = '/body/configuration/';

/** What the service found wrong with single fields, by their keys. */
export function faultsOf(error: unknown): Readonly<Record<string, string>> {
  const details = error instanceof ApiError ? error.details : [];
  return Object.fromEntries(
    details.flatMap(({ path, message }) =>
      path?.startsWith(PLACE) ? [[readSegment(path.slice(PLACE.length)), message]] : [],
    ),
  );
}

/** Of a JSON pointer. */
function readSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

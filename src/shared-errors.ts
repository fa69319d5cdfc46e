import { AppError, type AppErrorOptions, cutText, invalidRequest, suggestName } from './errors.ts';

// The errors that several rooms throw, so that the same failure has the same code and text everywhere. An error that only
// one room throws has its text there.

/**
 * Returns NOT_FOUND for a thing that a request names and that does not exist, or is not visible to the caller: `There is no
 * account 5.`
 * @param named its id, or its name, which is quoted
 * @param candidates names of which the nearest becomes a suggestion
 */
export function missing(kind: string, named: number | string, candidates: Iterable<string> = []): AppError {
  const text = String(named);
  const shown = /^-?\d+$/.test(text) ? cutText(text) : `'${cutText(text)}'`;
  return new AppError('NOT_FOUND', `There is no ${kind} ${shown}.${suggestName(text, candidates)}`);
}

/** Returns CONFLICT for a change that another request overtook. @param thing its kind and id, as a sentence begins: `Instance 5` */
export function changedMeanwhile(thing: string): AppError {
  const message = `${thing} was changed by another request at the same time. Read it again and repeat the change.`;
  return new AppError('CONFLICT', message);
}

/** Returns REQUEST_INVALID for a period that does not end after its start. @param path the pointer of the member to correct */
export function reversedPeriod(path: string): AppError {
  return invalidRequest([{ path, message: "'to' must be after 'from'." }]);
}

/** Returns UNSUPPORTED_MEDIA_TYPE for a body of another type than JSON. */
export function onlyJson(): AppError {
  return new AppError('UNSUPPORTED_MEDIA_TYPE', 'This path accepts JSON. Send Content-Type: application/json.');
}

/**
 * Returns PROVIDER_CREDENTIALS_INVALID for credentials in a request that the provider rejects.
 * @param keys the configuration keys to check, separated by commas
 */
export function credentialsRejected(provider: string, keys: string, options: AppErrorOptions): AppError {
  const message = `${provider} rejects these credentials. Check ${keys}. Nothing was stored.`;
  return new AppError('PROVIDER_CREDENTIALS_INVALID', message, options);
}

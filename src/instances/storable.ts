import { AppError, type ErrorDetail } from '../errors.ts';

export const UNSTORABLE = 'holds a character that cannot be stored: NUL, or half of a surrogate pair.';

/** PostgreSQL keeps no NUL in text, and half of a surrogate pair would come back as another character. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** @throws AppError REQUEST_INVALID that names every text of the body that cannot be kept as given */
export function assertStorable({ name, tags }: { readonly name?: string; readonly tags?: readonly string[] }): void {
  const texts = [['body.name', name ?? ''], ...(tags ?? []).map((tag, index) => [`body.tags.${index}`, tag])] as const;
  const faults = texts.flatMap(([path = '', text = '']): ErrorDetail[] =>
    isStorable(text) ? [] : [{ path, message: `${path} ${UNSTORABLE}` }],
  );
  const [first] = faults;
  if (first !== undefined) throw new AppError('REQUEST_INVALID', first.message, { details: faults });
}

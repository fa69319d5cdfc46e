import { isStorable, UNSTORABLE } from '../db/storable.ts';
import { AppError, type ErrorDetail, pointer } from '../errors.ts';

/** Maximum number of characters of a setting. No secret of a provider is longer, and texts that a redactor searches for must be limited. */
const MAX_SETTING_CHARACTERS = 4096;

interface Given {
  readonly name?: string;
  readonly tags?: readonly string[] | undefined;
  readonly configuration?: Readonly<Record<string, unknown>>;
}

/**
 * Checks that all texts can be stored unchanged. Call it before anything else is done with them.
 * @throws AppError REQUEST_INVALID that names every text that cannot be kept as given
 */
export function assertStorable({ name = '', tags = [], configuration = {} }: Given): void {
  const texts = [['body.name', name], ...tags.map((tag, index) => [`body.tags.${index}`, tag])] as const;
  const faults = [
    ...texts.flatMap(([path = '', text = '']): ErrorDetail[] =>
      isStorable(text) ? [] : [{ path: pointer(...path.split('.')), message: `${path} ${UNSTORABLE}` }],
    ),
    ...Object.entries(configuration).flatMap(([key, value]): ErrorDetail[] =>
      typeof value === 'string' && value.length > MAX_SETTING_CHARACTERS
        ? [
            {
              path: pointer('body', 'configuration', key),
              message: `'${key}' is longer than ${MAX_SETTING_CHARACTERS} characters.`,
            },
          ]
        : [],
    ),
  ];
  const [first] = faults;
  if (first !== undefined) throw new AppError('REQUEST_INVALID', first.message, { details: faults });
}

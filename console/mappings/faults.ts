import type { Schemas } from '../api.ts';

/** The faults of a transformation, by the control that has the faulty value. */
export interface FormFaults {
  /** Faults by the path of the mapped field. */
  readonly byField: ReadonlyMap<string, readonly string[]>;
  readonly vendorName: string | undefined;
  readonly script: string | undefined;
}

export const NO_FAULTS: FormFaults = { byField: new Map(), vendorName: undefined, script: undefined };

/** The part of an error with details about faults, as `ApiError` has them. */
interface Faulty {
  readonly details?: NonNullable<Schemas['ErrorResponse']['details']>;
}

/** Returns the faults in a response of the service. @param mappedFields the mapped fields of the entries in the body that was sent */
export function readFaults({ details = [] }: Faulty, mappedFields: readonly string[], script: string): FormFaults {
  const ofFields = details.flatMap(({ path, message }) => {
    const field = mappedFields[Number(/^\/body\/fields\/(\d+)(?:\/|$)/.exec(path ?? '')?.[1] ?? Number.NaN)];
    return field === undefined ? [] : [{ field, message }];
  });
  const find = (start: string) => details.find(({ path }) => path?.startsWith(start) === true);
  const inScript = find('/body/script');
  return {
    byField: new Map(
      [...Map.groupBy(ofFields, ({ field }) => field)].map(([field, all]) => [
        field,
        all.map(({ message }) => message),
      ]),
    ),
    vendorName: find('/body/vendorName')?.message,
    script:
      inScript === undefined
        ? undefined
        : `${inScript.position === undefined ? '' : `${describePosition(script, inScript.position)}: `}${inScript.message}`,
  };
}

/** Returns a position in a text as line and column. */
function describePosition(text: string, position: number): string {
  const lines = text.slice(0, position).split('\n');
  return `Line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

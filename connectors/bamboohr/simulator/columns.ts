import official from '../official.json' with { type: 'json' };

/** What the dataset compares columns as, which it does not tell, and the operators for each. */
export const TYPES = {
  ...{ text: 'eq ne eqany', options: 'eq ne eqany', date: 'eq ne lt le gt ge eqany', int: 'eq ne lt le gt ge eqany' },
  ...{ bool: '', currency: '', govIdText: '' },
} as const;

/** A field as the simulated account has it: in the `employee` dataset, and among the employee fields where it has a number. */
export interface Column {
  readonly dataset: string;
  readonly label: string;
  /** `entityName` of the dataset. */
  readonly section: string;
  readonly type: keyof typeof TYPES;
  readonly field?: EmployeeField;
  /** A name that the employee endpoints take without listing it. */
  readonly unlisted?: string;
  /** The owner of the key sees it and cannot change it. */
  readonly locked?: boolean;
}

interface EmployeeField {
  readonly id: number | string;
  /** Its label among the employee fields, where that is another one. */
  readonly name?: string;
  readonly alias?: string;
  readonly type: string;
}

/** The lists to choose from. */
export const OPTIONS: Readonly<Record<string, readonly string[]>> = official.options;

/** Names, labels, numbers, aliases and types are those of a real account, save the custom fields. */
export const COLUMNS: readonly Column[] = official.columns.map(({ type, ...column }) => {
  if (!isType(type)) throw new Error(`There is no type '${type}'.`);
  return { ...column, type };
});

function isType(word: string): word is Column['type'] {
  return Object.hasOwn(TYPES, word);
}

/** Sections of which an employee has many entries. */
export const TABLES: ReadonlySet<string> = new Set(official.tables);

/** Employee fields that are no columns under their names. */
export const OTHER_FIELDS = official.otherFields;

export const COLUMN_BY_NAME: ReadonlyMap<string, Column> = new Map(COLUMNS.map((each) => [each.dataset, each]));

/** By alias and by number, which the employee endpoints take alike. */
export const COLUMN_BY_REFERENCE: ReadonlyMap<string, Column> = new Map(
  COLUMNS.filter(({ section }) => !TABLES.has(section)).flatMap((each) =>
    referencesOf(each).map((reference): [string, Column] => [reference, each]),
  ),
);

function referencesOf({ field, unlisted }: Column): readonly string[] {
  const isPart = String(field?.id).includes('.');
  return [unlisted, field && String(field.id), isPart ? undefined : field?.alias].filter((name) => name !== undefined);
}

import type { Member } from '#connector/simulator';

/** A custom field, which every object with custom fields has. */
interface CustomField {
  /** The name in records: 40 hexadecimal digits. */
  readonly code: string;
  readonly name: string;
  readonly type: string;
  readonly member: Member;
  readonly options?: readonly { readonly id: number; readonly label: string }[];
}

const code = (digit: string) => `5dbe70ea3c5f4f2f8b1a9c7e6d4b2a01f3c${digit.repeat(5)}`;
const options = [
  { id: 7, label: 'Small' },
  { id: 8, label: 'Large' },
];

/** Fields of each kind. Source: "Custom fields", and the schema `Field`. */
export const CUSTOM_FIELDS: readonly CustomField[] = [
  { code: code('a'), name: 'Nickname', type: 'varchar', member: { type: 'string', longest: 255 } },
  { code: code('b'), name: 'Score', type: 'double', member: { type: 'number' } },
  { code: code('c'), name: 'Renewal', type: 'date', member: { type: 'date' } },
  { code: code('d'), name: 'Size', type: 'enum', member: { type: 'integer', range: ['7', '8'] }, options },
  { code: code('e'), name: 'Tags', type: 'set', member: { type: 'array' }, options },
];

/** Returns the custom fields as their endpoint does, behind one of Pipedrive's own. */
export function showFields(own: string) {
  const common = { is_optional_response_field: false, options: null, subfields: null };
  return [
    { ...common, field_code: own, field_name: 'Name', field_type: 'varchar', is_custom_field: false },
    ...CUSTOM_FIELDS.map((field) => ({
      ...common,
      field_code: field.code,
      field_name: field.name,
      field_type: field.type,
      is_custom_field: true,
      options: field.options ?? null,
    })),
  ];
}

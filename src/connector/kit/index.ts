/** Helpers that make values of the contract. No connector has to use them. */

export { can, type OperatorSet } from './can.ts';
export { type Codec, codec } from './codec.ts';
export { type ConditionParts, type ConditionTable, conditions } from './conditions.ts';
export { csvRows } from './csv.ts';
export { decimalsOfCurrency } from './currencies.ts';
export { type ErrorOptions, errors } from './errors.ts';
export { type InfixTable, infix, type LikeWriter, plainText, quoteDoubled } from './infix.ts';
export { type Input, type InputOperator, type InputOptions, type Inputs, inputs } from './inputs.ts';
export { type Json, json } from './json.ts';
export { defined, type Kind, type KindsOptions, kinds, type Shown } from './kinds.ts';
export { type ListOptions, type ListQuery, list, nativesOf, type Order } from './list.ts';
export { each, type FieldsOfOptions, fieldsOf, type OfficialSchemas } from './official.ts';
export {
  type CursorPaging,
  type LinkPaging,
  type NumberPaging,
  nextLink,
  type OffsetPaging,
  type Paging,
  type WholePaging,
} from './paging.ts';
export { type PartsOptions, parts } from './parts.ts';
export { type Change, type RecordsOptions, records } from './records.ts';
export { type SettingReader, settings } from './settings.ts';
export { type ChallengeOptions, type HmacOptions, handshakes, type Where, webhooks } from './webhooks.ts';
export { type XmlElement, xml } from './xml.ts';

/** Everything that a connector may import, as `#connector`. */

export { ExactNumber } from '../numbers/exact-json.ts';
export { DECIMAL_TEXT, toDecimalText, toJsonNumber } from '../numbers/number-value.ts';
export type { ComparisonOperator, Operator } from '../where/ast.ts';
export type {
  BooleanShape,
  Collation,
  Domain,
  Exactness,
  FieldSpec,
  FieldType,
  LikeForm,
  LikePattern,
  Nulls,
  ParameterSpec,
  PushedField,
  QueryLimits,
  Translator,
  Value,
} from '../where/model.ts';
export type * from './contract.ts';
export {
  defineConnector,
  defineObject,
  ifAvailable,
  isDenied,
  isNotFound,
  isUnauthorized,
  notFound,
  rejected,
  unusable,
} from './define.ts';
export * from './kit/index.ts';
export { path } from './path.ts';

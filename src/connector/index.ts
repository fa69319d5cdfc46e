/** All that a connector may import (as `#connector`). */

export type { ComparisonOperator, Operator } from '../where/ast.ts';
export type {
  BooleanShape,
  Collation,
  Exactness,
  FieldSpec,
  FieldType,
  LikeForm,
  LikePattern,
  ParameterSpec,
  PushedField,
  QueryLimits,
  Translator,
  Value,
} from '../where/model.ts';
export type * from './contract.ts';
export { defineConnector, defineObject, isNotFound, notFound, unusable } from './define.ts';
export { path } from './path.ts';

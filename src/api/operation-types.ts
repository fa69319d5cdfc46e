import type { operations } from '../../generated/openapi-types.ts';
import type { OperationId } from '../../generated/operations.ts';

/**
 * What a handler of an operation gets and answers, read from the spec. The validator has checked and converted the
 * values before a handler sees them: numbers are numbers, defaults are filled in, header names are in lower case.
 */

type Parameters<Id extends OperationId> = operations[Id]['parameters'];

/** The members of an optional parameter group, or none. */
type Members<Group> = [Exclude<Group, undefined>] extends [never] ? Record<never, never> : Exclude<Group, undefined>;

/** `tags[]` reaches a handler as `tags`: see `scopedDocument`. */
type WithoutBrackets<Name> = Name extends `${infer Bare}[]` ? Bare : Name;

/** The path parameters, by name. */
export type OperationPath<Id extends OperationId> = Readonly<Members<Parameters<Id>['path']>>;

/** The query parameters, by name. */
export type OperationQuery<Id extends OperationId> = {
  readonly [Name in keyof Members<Parameters<Id>['query']> as WithoutBrackets<Name>]: Members<
    Parameters<Id>['query']
  >[Name];
};

/** The header parameters, by name in lower case. */
export type OperationHeaders<Id extends OperationId> = {
  readonly [Name in keyof Members<Parameters<Id>['header']> as Lowercase<Name & string>]: Members<
    Parameters<Id>['header']
  >[Name];
};

/** The JSON body of the request; `undefined` for an operation that takes none. */
export type OperationBody<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

/** The JSON body of the 200 answer. */
export type OperationResult<Id extends OperationId> = operations[Id]['responses'] extends {
  200: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

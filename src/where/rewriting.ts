import type { Condition, Predicate } from './condition.ts';
import type { Queryable } from './model.ts';

/** A predicate on a mapped field, as a condition on fields of the provider's object. */
export type Rewritten =
  | {
      readonly kind: 'rewritten';
      readonly condition: Condition;
      /** Whether the condition may match other rows than the predicate. The core then checks the rows again. */
      readonly isWider: boolean;
      /** Why the core checks the rows again, as a clause. Default: the provider may return more rows than match. */
      readonly reason?: string;
    }
  /** No row matches, or every row does. */
  | { readonly kind: 'never' | 'always' }
  /** The core must check the predicate itself. `reason` is a clause that says why. */
  | { readonly kind: 'local'; readonly reason: string };

/** The rewriting of conditions on a mapped object as conditions on the provider's object. */
export interface Rewriting {
  /** The provider's object. */
  readonly vendor: Queryable;
  readonly rewrite: (predicate: Predicate) => Rewritten;
  /** Returns the name of the mapped field that shows a field of the provider's object, where there is one. */
  readonly nameOf: (vendorField: string) => string | undefined;
}

/**
 * An object whose fields are mapped. Its filters are checked and evaluated on mapped rows. The provider evaluates the rewritten conditions,
 * so translator, limits and required filters are those of its own object.
 */
export interface MappedQueryable extends Queryable {
  readonly rewriting: Rewriting;
}

/** Returns whether conditions on the object must be rewritten before the provider can evaluate them. */
export function isMapped<Each extends Queryable>(queryable: Each): queryable is Each & MappedQueryable {
  return 'rewriting' in queryable;
}

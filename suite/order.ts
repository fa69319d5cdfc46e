import type { FieldSpec } from '#connector';
import { compareAs, readField } from './reference.ts';
import { getOk, idsOf, type Listing, listAll, type Target } from './target.ts';

/** Sorts the listing by its fields, and returns the faults. */
export async function checkOrders(
  target: Target,
  listing: Listing,
  { ownTextOrder, sortedFields }: { readonly ownTextOrder: boolean; readonly sortedFields: number },
): Promise<readonly string[]> {
  const comparable = Object.entries(listing.object.fields).filter(
    ([, { type }]) => type !== 'object' && type !== 'array',
  );
  const sortable = comparable.filter(([, spec]) => spec.sortable === true);
  const others = comparable.filter(([, spec]) => spec.sortable !== true);
  const faults: string[] = [];
  for (const [name, spec] of [...sortable.slice(0, sortedFields), ...others.slice(0, Math.ceil(sortedFields / 4))]) {
    const hasDefinedOrder = !(ownTextOrder && spec.type === 'string' && spec.sortable === true);
    for (const direction of ['asc', 'desc'] as const) {
      const fault = await checkOrder(target, listing, { name, spec, direction, hasDefinedOrder });
      if (fault !== undefined) faults.push(`${listing.name} orderBy ${name} ${direction}: ${fault}`);
    }
  }
  return faults;
}

interface Order {
  readonly name: string;
  readonly spec: FieldSpec;
  readonly direction: 'asc' | 'desc';
  /** Whether the metadata defines the order of the values. */
  readonly hasDefinedOrder: boolean;
}

async function checkOrder(target: Target, listing: Listing, { name, spec, direction, hasDefinedOrder }: Order) {
  const orderBy = `${/^[A-Za-z_][\w.]*$/.test(name) ? name : `\`${name}\``} ${direction}`;
  const whole = await getOk(target, listing.path, { query: { orderBy, pageSize: 5000 } });
  const rows = await listAll(target, listing.path, {
    orderBy,
    pageSize: Math.max(40, Math.ceil(listing.rows.length / 3)),
  });
  const ids = [...idsOf(listing, listing.rows)].sort().join('\n');
  if ([...idsOf(listing, rows)].sort().join('\n') !== ids)
    return 'pages in this order have other rows than the list without an order';
  if ([...idsOf(listing, whole.body)].sort().join('\n') !== ids) return 'it has other rows';
  if (idsOf(listing, rows).join() !== idsOf(listing, whole.body).join())
    return 'pages have another order than the whole';
  const values = rows.map((row) => readField(row, name));
  return hasDefinedOrder ? findDisorder(values, { spec, direction }) : undefined;
}

/**
 * Returns the first fault of an order. Nulls must be together at one end. If Causeway sorts, they are last in ascending order, as in
 * PostgreSQL.
 */
function findDisorder(values: readonly unknown[], { spec, direction }: Pick<Order, 'spec' | 'direction'>) {
  const isNull = (value: unknown) => value === null || value === undefined;
  const first = values.findIndex((value) => !isNull(value));
  const last = values.findLastIndex((value) => !isNull(value));
  const present = values.slice(Math.max(first, 0), last + 1);
  if (present.some(isNull)) return 'nulls stand among values';
  if (spec.sortable !== true && direction === 'asc' && first > 0) return 'nulls do not come last';
  const sign = direction === 'asc' ? 1 : -1;
  const wrong = present.findIndex((value, index) => {
    const next = present[index + 1];
    return index + 1 < present.length && sign * orderOf(spec, value, next) > 0;
  });
  return wrong < 0 ? undefined : `${JSON.stringify(present[wrong])} comes before ${JSON.stringify(present[wrong + 1])}`;
}

function orderOf(spec: FieldSpec, left: unknown, right: unknown): number {
  if (spec.type === 'boolean') return Number(left) - Number(right);
  return compareAs(spec, String(left), String(right));
}

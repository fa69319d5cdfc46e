import {
  type Failure,
  json,
  nativesOf,
  type ProviderRequest,
  type ProviderResponse,
  type PushedField,
} from '#connector';

/** The version of the Admin API that `official.graphql` describes. */
const VERSION = '2026-07';
export const LARGEST_PAGE = 250;
/** Maximum cost of the rows of a query. A query may cost 1,000, of which some is for the objects around the rows. Source: "API rate limits". */
const MOST_COST = 990;
/** Maximum number of line items that are read with a record. */
const MOST_LINES = 50;

/** Returns the request of a GraphQL operation. Values are always variables, so no value can become syntax. */
export function ask(query: string, variables: object = {}): ProviderRequest {
  const path = `/admin/api/${VERSION}/graphql.json`;
  // A query changes nothing, so it may be sent again.
  return { method: 'POST', path, json: { query, variables }, idempotent: query.startsWith('query') };
}

const ADDRESS =
  '{ firstName lastName company address1 address2 city provinceCode countryCode: countryCodeV2 zip phone }';
const REFERENCE = '{ legacyResourceId }';
const PRICE = '{ shopMoney { amount } }';

/** The selections of values that are objects. */
const SELECTED: Readonly<Record<string, string>> = {
  billingAddress: `billingAddress ${ADDRESS}`,
  shippingAddress: `shippingAddress ${ADDRESS}`,
  defaultAddress: `defaultAddress ${ADDRESS}`,
  customAttributes: 'customAttributes { key value }',
  lineItems: `lineItems(first: ${MOST_LINES}) { nodes { id title variantTitle sku vendor quantity originalUnitPriceSet ${PRICE} variant ${REFERENCE} product ${REFERENCE} } }`,
};

/** Metafields by the alias under which they are read. */
export type Metafields = Readonly<
  Record<string, { readonly namespace: string; readonly key: string; readonly type: string }>
>;

/** Returns the selection set of the fields, and how many rows with these fields a query may have. */
export function select(
  fields: readonly PushedField[],
  metafields: Metafields,
): { readonly text: string; readonly most: number } {
  const texts = nativesOf({ fields }).map((native) => selectionOf(native, metafields));
  const text = texts.join(' ');
  const objects = texts.reduce(
    (sum, each) => sum + (each.split('{').length - 1) * (each.startsWith('lineItems') ? MOST_LINES : 1),
    1,
  );
  return { text, most: Math.max(1, Math.min(LARGEST_PAGE, Math.floor(MOST_COST / objects))) };
}

/** `totalPriceSet.shopMoney.amount` is `totalPriceSet { shopMoney { amount } }`. Fields that occur twice are merged by GraphQL. */
function selectionOf(native: string, metafields: Metafields): string {
  const [first = '', ...inner] = native.split('.');
  const metafield = metafields[first];
  if (metafield !== undefined) {
    const { namespace, key } = metafield;
    return `${first}: metafield(namespace: ${JSON.stringify(namespace)}, key: ${JSON.stringify(key)}) { jsonValue }`;
  }
  return SELECTED[native] ?? [first, ...inner].join(' { ') + ' }'.repeat(inner.length);
}

/** Returns the member of the data of a response. */
export const dataIn = ({ body }: ProviderResponse, name: string): unknown => json.at(body, 'data', name);

const KINDS: Readonly<Record<string, Failure['kind']>> = {
  THROTTLED: 'rateLimited',
  ACCESS_DENIED: 'rejected',
  INTERNAL_SERVER_ERROR: 'unavailable',
  NOT_FOUND: 'notFound',
};

/** Finds failures, which Shopify also reports with the status 200: in `errors`, or in `userErrors` of a mutation. */
export function classify({ status, body }: ProviderResponse): Failure | undefined {
  const errors = json.at(body, 'errors');
  if (typeof errors === 'string') return { message: errors };
  const data = json.at(body, 'data');
  const refused = Object.values(json.isObject(data) ? data : {}).flatMap(
    (result) => json.at(result, 'userErrors') ?? [],
  );
  const [first, ...more] = [...(Array.isArray(errors) ? errors : []), ...refused];
  if (first === undefined) return status < 300 ? undefined : {};
  const messages = [first, ...more].map((error) => json.findText(json.at(error, 'message')) ?? 'no reason');
  const code = json.findText(json.at(first, 'extensions', 'code')) ?? json.findText(json.at(first, 'code'));
  const isAbsent = refused.length > 0 && messages.every((message) => /does(?: not|n't) exist|not found/i.test(message));
  const kind = isAbsent ? 'notFound' : KINDS[code ?? ''];
  return { kind: kind ?? (status < 300 ? 'rejected' : undefined), message: messages.join(' '), ...waitIn(body, kind) };
}

/** Returns how long the shop needs to restore the points that the query costs. Source: "API rate limits", "THROTTLED". */
function waitIn(body: unknown, kind: Failure['kind']): Pick<Failure, 'retryAfterMs'> {
  if (kind !== 'rateLimited') return {};
  const at = (...path: readonly string[]) => Number(json.at(body, 'extensions', 'cost', ...path));
  const missing = at('requestedQueryCost') - at('throttleStatus', 'currentlyAvailable');
  const seconds = missing / at('throttleStatus', 'restoreRate');
  return { retryAfterMs: Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) * 1000 : 1000 };
}

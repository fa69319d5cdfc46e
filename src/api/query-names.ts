import document from '../../generated/openapi.json' with { type: 'json' };
import { type Suggestion, suggest } from '../errors.ts';
import type { ValidatedRequest } from './validation.ts';

/** What other APIs call our parameters, in lower case. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  limit: 'pageSize',
  size: 'pageSize',
  count: 'pageSize',
  per_page: 'pageSize',
  page_size: 'pageSize',
  max_results: 'pageSize',
  top: 'pageSize',
  $top: 'pageSize',
  cursor: 'nextPage',
  page_token: 'nextPage',
  pagetoken: 'nextPage',
  nextpagetoken: 'nextPage',
  sort: 'orderBy',
  sort_by: 'orderBy',
  sortby: 'orderBy',
  order: 'orderBy',
  order_by: 'orderBy',
  $orderby: 'orderBy',
  select: 'fields',
  $select: 'fields',
  filter: 'where',
  $filter: 'where',
};

const PARAMETERS: Readonly<Record<string, { readonly name: string; readonly in: string } | undefined>> =
  document.components.parameters;

/** What a query parameter that the operation does not take was probably meant to be. */
export function suggestQueryName({ openapi }: ValidatedRequest, name: string): Suggestion {
  const known = (openapi?.schema.parameters ?? []).flatMap(({ $ref = '' }) => {
    const parameter = PARAMETERS[$ref.slice($ref.lastIndexOf('/') + 1)];
    return parameter?.in === 'query' ? [parameter.name] : [];
  });
  const synonym = Object.hasOwn(ELSEWHERE, name.toLowerCase()) ? ELSEWHERE[name.toLowerCase()] : undefined;
  if (synonym === undefined || !known.includes(synonym)) return suggest(name, known);
  return { hint: ` Did you mean '${synonym}'?`, nearest: { nearest: synonym } };
}

import type { Schemas } from '../api.ts';
import { Badge } from '../parts/badge.tsx';
import { Copy } from '../parts/copy.tsx';
import { Pushdown } from './pushdown.tsx';

type Explanation = Schemas['QueryExplanation'];
type Predicate = Schemas['PredicateExplanation'];

/** Shows which side evaluates each part of a query, and the request to the provider. */
export function Explain({ explanation }: { readonly explanation: Explanation }) {
  const { pushed, residual, pushdown, predicates, parameters, sort, limit, request, holds, bulk } = explanation;
  const calls = explanation.estimatedProviderCalls;
  const hasParameters = Object.keys(parameters).length > 0;
  return (
    <div class="stack tight">
      <p class="row">
        <Pushdown pushdown={pushdown} />
        <span class="soft small">
          {residual === undefined ? '' : 'at least '}
          {calls} provider {calls === 1 ? 'call' : 'calls'} for a first page
        </span>
      </p>
      {holds === 'never' && (
        <p class="note">
          No record can match, because the fields cannot have such values. Causeway does not call the provider.
        </p>
      )}
      {holds === 'always' && <p class="note">Every record matches, because the fields can have no other values.</p>}
      <Part
        title="The provider evaluates"
        text={pushed}
        without={explanation.parsed === undefined ? 'There is no filter.' : 'No part of the filter.'}
      />
      <Part title="Causeway checks" text={residual} without="Nothing." />
      {predicates.length > 0 && (
        <ul class="plain-list">
          {predicates.map((predicate) => (
            <PredicateLine key={`${predicate.position} ${predicate.predicate}`} predicate={predicate} />
          ))}
        </ul>
      )}
      {hasParameters && (
        <Part title="Parameters of the provider" text={JSON.stringify(parameters, null, 2)} without="" />
      )}
      <p class="small">
        <span class="soft">Order: </span>
        {sort.orderBy ?? 'the order of the provider'}
        {sort.orderBy !== undefined &&
          (sort.pushed ? ', by the provider' : ', by Causeway, which fetches all rows first')}
      </p>
      <p class="small">
        <span class="soft">Pages of the provider: </span>
        {limit.providerPageSize} rows{limit.reason !== undefined && `, as ${limit.reason}`}
      </p>
      {request !== undefined && <Request title="The provider's request" request={request} />}
      {request === undefined && holds !== 'never' && (
        <p class="small soft">A list needs more than one kind of call to this provider.</p>
      )}
      {bulk !== undefined && <Bulk bulk={bulk} />}
    </div>
  );
}

interface PartProps {
  readonly title: string;
  readonly text: string | undefined;
  readonly without: string;
}

function Part({ title, text, without }: PartProps) {
  return (
    <div class="small">
      <h3>{title}</h3>
      {text === undefined ? <span class="soft">{without}</span> : <code class="break">{text}</code>}
    </div>
  );
}

const EXACTNESS = {
  exact: { tone: 'good', text: 'provider' },
  superset: { tone: 'warn', text: 'provider, checked by Causeway' },
  none: { tone: 'quiet', text: 'here' },
} as const;

function PredicateLine({
  predicate: { predicate, exactness, pushed, holds, reason },
}: {
  readonly predicate: Predicate;
}) {
  const { tone, text } = pushed ? EXACTNESS[exactness] : EXACTNESS.none;
  return (
    <li class="small">
      <span class="row">
        <code class="break">{predicate}</code>
        <Badge tone={tone}>{holds === undefined ? text : `${holds} true`}</Badge>
      </span>
      {reason !== undefined && <span class="soft break">{reason}</span>}
    </li>
  );
}

interface RequestProps {
  readonly title: string;
  readonly request: Schemas['ProviderRequestExplanation'];
}

/** Shows a request with its parameters decoded, one per line. The Copy button copies it exactly as it is sent. */
function Request({ title, request: { method, url, body } }: RequestProps) {
  const [address = '', query] = url.split(/\?(.*)/s);
  const parameters = query === undefined ? [] : [...new URLSearchParams(query)];
  return (
    <div class="small stack tight">
      <div class="row apart">
        <h3>{title}</h3>
        <Copy text={url} what="the address" label="Copy address" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre class="wrap" tabIndex={0}>
        <b>{method}</b> {address}
        {parameters.map(([name, value], index) => `\n  ${index === 0 ? '?' : '&'}${name} = ${value}`).join('')}
        {body !== undefined && `\n\n${indent(body)}`}
      </pre>
    </div>
  );
}

function indent(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function Bulk({ bulk: { way, fromRows, request, reason } }: { readonly bulk: Schemas['BulkExplanation'] }) {
  return (
    <>
      <p class="small">
        <span class="soft">As a bulk job: </span>
        {way === 'native'
          ? `by a job of the provider${fromRows === undefined ? '' : ` from ${fromRows} rows on`}`
          : 'page by page'}
        {reason !== undefined && `, as ${reason}`}
      </p>
      {request !== undefined && <Request title="The provider's job" request={request} />}
    </>
  );
}

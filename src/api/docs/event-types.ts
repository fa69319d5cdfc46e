import {
  type DocumentedEventType,
  FORMULA_EVENT_TYPES,
  INSTANCE_EVENT_TYPES,
  OPERATIONAL_EVENT_TYPES,
  RECORD_EVENT_TYPES,
} from '../../events/event-types.ts';
import { escapeHtml } from './html.ts';
import type { NavigationEntry } from './layout.ts';
import { renderInline } from './markdown.ts';
import { SCHEMAS_PATH } from './schema.ts';

export const EVENT_TYPES_PATH = '/docs/reference/event-types';

interface Group {
  readonly title: string;
  readonly introduction: string;
  readonly types: readonly (readonly [type: string, event: DocumentedEventType])[];
}

const GROUPS: readonly Group[] = [
  {
    title: 'Events of records',
    introduction: 'The type begins with the name of the object, such as `employees.created`.',
    types: Object.entries(RECORD_EVENT_TYPES).map(([action, event]) => [`<objectName>.${action}`, event]),
  },
  {
    title: 'Events of bulk jobs',
    introduction: '`data.object` has the status of the job, as `GET /bulk/{id}/status` returns it.',
    types: Object.entries(INSTANCE_EVENT_TYPES),
  },
  {
    title: 'Events of formulas',
    introduction: 'They go to the URLs of the formula instance, and are not listed as notifications.',
    types: Object.entries(FORMULA_EVENT_TYPES),
  },
  {
    title: 'Notifications',
    introduction: 'These are also called operational events. `GET /notifications` lists them for each account.',
    types: Object.entries(OPERATIONAL_EVENT_TYPES),
  },
];

export function printEventTypes(): string {
  return `<h1>Event types</h1>
<p>The service sends each event as a POST request to a callback URL. <a href="/docs/reference/events">Events</a> describes signatures, retries and the queue.
New types may be added: ignore the types that you don’t know. To receive some types only, set <code>eventTypes</code> of the
<a href="/docs/reference/api-notifications#updateSubscription">subscription</a>.</p>
${GROUPS.map(printGroup).join('\n')}`;
}

export function eventTypeEntries(): readonly NavigationEntry[] {
  return GROUPS.flatMap(({ types }) =>
    types.map(([type]) => ({ href: `${EVENT_TYPES_PATH}#${anchorOf(type)}`, text: type })),
  );
}

function printGroup({ title, introduction, types }: Group): string {
  return `<h2 id="${anchorOf(title)}">${title}</h2>
<p>${renderInline(introduction)}</p>
${types.map(([type, event]) => printType(type, event)).join('\n')}`;
}

function printType(type: string, { schema, meaning, sent, receivers, reaction, example }: DocumentedEventType): string {
  return `<section id="${anchorOf(type)}"><h3><code>${escapeHtml(type)}</code></h3>
<p>${renderInline(meaning)}</p>
<dl class="facts">
<dt>Sent when</dt><dd>${renderInline(sent)}</dd>
<dt>Receivers</dt><dd>${renderInline(receivers)}</dd>
<dt>What to do</dt><dd>${renderInline(reaction)}</dd>
<dt>Schema</dt><dd><a href="${SCHEMAS_PATH}#schema-${schema}">${schema}</a></dd>
</dl>
<details class="example"><summary>Example</summary><pre><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre></details></section>`;
}

/** `<objectName>.created` as `created`: the type itself where it has no placeholder. */
function anchorOf(type: string): string {
  return type.replace('<objectName>.', '').toLowerCase().replaceAll(' ', '-');
}

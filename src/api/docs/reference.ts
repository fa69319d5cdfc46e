import { ERROR_STATUS } from '../../errors.ts';
import { escapeHtml, when } from './html.ts';
import type { NavigationEntry, NavigationGroup } from './layout.ts';
import { type Heading, renderInline, renderMarkdown } from './markdown.ts';
import {
  componentsOf,
  type DocumentedOperation,
  type DocumentedResponse,
  type DocumentPart,
  examplesOf,
  isError,
  listOperations,
  nameOfReference,
  partOf,
  partsOf,
  resolvePart,
  textOf,
} from './open-api.ts';
import { describeLimits, describeType, paragraphs, printSchema } from './schema.ts';
import { printBodyText, printTryIt } from './try-it.ts';

export interface Reference {
  /** HTML */
  readonly body: string;
  readonly groups: readonly NavigationGroup[];
}

/** The part of an address in front of the paths, from the document's server. */
const SERVER_PREFIX = /^\{publicUrl\}/;

/** An OpenAPI document as one page: its introduction, each tag with its operations, all errors once, all schemas once. */
export function renderReference(document: DocumentPart, path: string): Reference {
  const introduction = renderMarkdown(textOf(partOf(document.info).description));
  const basePath = textOf(partsOf(document.servers)[0]?.url).replace(SERVER_PREFIX, '');
  const operations = listOperations(document);
  const tags = partsOf(document.tags);
  const body = [
    `<h1>API reference</h1>\n${introduction.html}`,
    SECRETS,
    printErrors(document),
    ...tags.map((tag) => printTag(document, basePath, tag, ofTag(operations, tag))),
    printSchemas(document),
  ].join('\n');
  const groups = [
    { title: 'Reference', entries: introductionEntries(introduction.headings, path) },
    ...tags.map((tag) => ({
      title: textOf(tag.name),
      entries: ofTag(operations, tag).map((operation) => operationEntry(operation, path)),
    })),
    { title: 'Schemas', entries: schemaEntries(document, path) },
  ];
  return { body, groups };
}

function printSchemas(document: DocumentPart): string {
  const sections = componentsOf(document, 'schemas').map(
    ([name, schema]) => `<section id="schema-${name}"><h3>${name}</h3>\n${printSchema(schema)}</section>`,
  );
  return ['<h2 id="schemas">Schemas</h2>', ...sections].join('\n');
}

function schemaEntries(document: DocumentPart, path: string): readonly NavigationEntry[] {
  return componentsOf(document, 'schemas').map(([name]) => ({ href: `${path}#schema-${name}`, text: name }));
}

function ofTag(operations: readonly DocumentedOperation[], { name }: DocumentPart): readonly DocumentedOperation[] {
  return operations.filter(({ tag }) => tag === name);
}

function introductionEntries(headings: readonly Heading[], path: string): readonly NavigationEntry[] {
  return [
    { href: path, text: 'API reference' },
    ...headings.map(({ id, text }) => ({ href: `${path}#${id}`, text })),
    { href: `${path}#secrets`, text: 'Trying it out' },
    { href: `${path}#errors`, text: 'Errors' },
  ];
}

function operationEntry({ id, method, path, summary }: DocumentedOperation, page: string): NavigationEntry {
  return { href: `${page}#${id}`, text: summary, method, keywords: `${method} ${path} ${id}` };
}

/** What the forms below send as `Authorization`. Nothing keeps it: it is gone with the page. */
const SECRETS = `<section id="secrets"><h2>Trying it out</h2>
<p>Every operation has a form that is filled with an example and sends it to this service. The examples are about one instance:
the simulated shop that the example of <a href="#createInstance"><code>POST /instances</code></a> makes. Send that first; its token
is then put in here. It needs a service with simulators, as <code>npm start</code> is, and the ids are those of a fresh one. The first secrets of a service are in <code>credentials.json</code> in its <code>DATA_DIR</code>. What you enter stays in this page and is forgotten with it.</p>
<form class="secrets" autocomplete="off">
<p class="field"><label for="secret-user">User</label><input id="secret-user" type="password" autocomplete="off" placeholder="userSecret"></p>
<p class="field"><label for="secret-organization">Organization</label><input id="secret-organization" type="password" autocomplete="off" placeholder="organizationSecret"></p>
<p class="field"><label for="secret-element">Element</label><input id="secret-element" type="password" autocomplete="off" placeholder="token of an instance"></p>
</form>
</section>`;

/** Every error that operations share, once: operations name the statuses and lead here. */
function printErrors(document: DocumentPart): string {
  const errors = componentsOf(document, 'responses')
    .filter(([, response]) => isError(response))
    .map(([name, response]) => ({ name, response, status: statusOf(document, response) }))
    .toSorted((one, other) => one.status - other.status);
  const sections = errors.map(
    ({ name, response, status }) => `<section id="error-${name}"><h3>${status} ${escapeHtml(wordsOf(name))}</h3>
${paragraphs(response.description)}${printExamples(document, response)}${printHeaders(document, response)}</section>`,
  );
  const body = `<p>Every error has the body <a href="#schema-ErrorResponse">ErrorResponse</a>. Decide by its <code>code</code>. Operations name the statuses that they answer; what they mean is the same everywhere.</p>`;
  return `<section class="errors"><h2 id="errors">Errors</h2>\n${body}\n${sections.join('\n')}</section>`;
}

/** `NotAcceptable` as `Not acceptable`. */
function wordsOf(name: string): string {
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The status of the code that the first example has. */
function statusOf(document: DocumentPart, response: DocumentPart): number {
  const [example] = Object.values(partOf(response.content)).flatMap((media) => examplesOf(document, partOf(media)));
  const statuses: Readonly<Record<string, number>> = ERROR_STATUS;
  return statuses[textOf(partOf(example?.value).code)] ?? 0;
}

function printTag(
  document: DocumentPart,
  basePath: string,
  tag: DocumentPart,
  operations: readonly DocumentedOperation[],
): string {
  const name = textOf(tag.name);
  const heading = `<h2 id="tag-${escapeHtml(name)}">${escapeHtml(name)}</h2>\n${paragraphs(tag.description)}`;
  return [heading, ...operations.map((operation) => printOperation(document, basePath, operation))].join('\n');
}

function printOperation(document: DocumentPart, basePath: string, operation: DocumentedOperation): string {
  const { id, method, path, belowBase, summary, description, parameters, body, responses } = operation;
  return `<section class="operation" id="${escapeHtml(id)}"><h3>${escapeHtml(summary)}</h3>
<p class="address"><span class="method ${method}">${method}</span> <code>${when(belowBase, () => `<span class="base">${escapeHtml(basePath)}</span>`)}${escapeHtml(path)}</code></p>
${paragraphs(description)}
${when(parameters.length > 0, () => printParameters(document, parameters))}
${body === undefined ? '' : printRequestBody(document, body)}
${responses
  .filter(({ isError }) => !isError)
  .map((response) => printResponse(document, response))
  .join('\n')}
${printFailures(responses.filter(({ isError }) => isError))}
${printTryIt(document, basePath, operation)}
</section>`;
}

function printParameters(document: DocumentPart, parameters: readonly DocumentPart[]): string {
  const entries = parameters.map((parameter) => {
    const schema = resolvePart(document, parameter.schema);
    const mark = when(parameter.required === true, () => ' <span class="required">required</span>');
    return `<dt><code>${escapeHtml(textOf(parameter.name))}</code> <span class="type">${textOf(parameter.in)}, ${describeType(partOf(parameter.schema))}</span>${mark}</dt>
<dd>${paragraphs(parameter.description)}${describeLimits(schema)}${printSuggestions(document, parameter)}</dd>`;
  });
  return `<h4>Parameters</h4>\n<dl class="members">\n${entries.join('\n')}\n</dl>`;
}

function printSuggestions(document: DocumentPart, parameter: DocumentPart): string {
  const values = examplesOf(document, parameter).map(({ value }) => `<code>${escapeHtml(String(value))}</code>`);
  return when(values.length > 0, () => `<span class="limits">such as ${values.join(' or ')}</span>`);
}

function printRequestBody(document: DocumentPart, body: DocumentPart): string {
  return `<h4>Body</h4>\n${printContent(document, body)}`;
}

function printResponse(document: DocumentPart, { status, part }: DocumentedResponse): string {
  return `<h4>Answer ${escapeHtml(status)}</h4>\n${paragraphs(part.description)}${printContent(document, part)}${printHeaders(document, part)}`;
}

/** For each media type what it is, and examples. */
function printContent(document: DocumentPart, holder: DocumentPart): string {
  const media = Object.entries(partOf(holder.content)).map(([type, value]) => {
    return `<p class="type"><code>${escapeHtml(type)}</code> ${describeSchema(document, partOf(partOf(value).schema))}</p>`;
  });
  return media.join('\n') + printExamples(document, holder);
}

/** A schema without a name is shown with its members. */
function describeSchema(document: DocumentPart, schema: DocumentPart): string {
  const isNamed = nameOfReference(schema) !== undefined || !('properties' in resolvePart(document, schema));
  return isNamed ? describeType(schema) : printSchema(schema);
}

function printExamples(document: DocumentPart, holder: DocumentPart): string {
  const examples = Object.values(partOf(holder.content)).flatMap((media) => examplesOf(document, partOf(media)));
  return examples
    .map(
      ({ summary, value }, index) =>
        `<details class="example"${when(index === 0, () => ' open')}><summary>${renderInline(summary)}</summary><pre><code>${escapeHtml(printBodyText(value))}</code></pre></details>`,
    )
    .join('\n');
}

function printHeaders(document: DocumentPart, response: DocumentPart): string {
  const headers = Object.entries(partOf(response.headers)).map(([name, value]) => {
    const header = resolvePart(document, value);
    return `<dt><code>${escapeHtml(name)}</code> <span class="type">${describeType(partOf(header.schema))}</span></dt><dd>${paragraphs(header.description)}</dd>`;
  });
  return when(
    headers.length > 0,
    () => `<details class="headers"><summary>Headers</summary><dl class="members">${headers.join('\n')}</dl></details>`,
  );
}

function printFailures(failures: readonly DocumentedResponse[]): string {
  const links = failures.map(
    ({ status, name }) => `<a href="#error-${escapeHtml(name)}" title="${escapeHtml(wordsOf(name))}">${status}</a>`,
  );
  return when(links.length > 0, () => `<p class="failures">Errors: ${links.join(' ')}</p>`);
}

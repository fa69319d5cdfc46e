import { ERROR_STATUS } from '../../errors.ts';
import { type DocumentedError, ERRORS } from './errors.ts';
import { EVENT_TYPES_PATH, eventTypeEntries, printEventTypes } from './event-types.ts';
import { escapeHtml, when } from './html.ts';
import { headingEntry, type NavigationEntry } from './layout.ts';
import { renderInline, renderMarkdown } from './markdown.ts';
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
import { FIRST_STEPS_PATH } from './paths.ts';
import { describeLimits, describeType, paragraphs, printSchema, SCHEMAS_PATH } from './schema.ts';
import { snippetsFor } from './snippets.ts';
import { printBodyText, printTryIt } from './try-it.ts';

export interface ReferencePage {
  readonly path: string;
  readonly title: string;
  /** Content of the page as HTML. */
  readonly body: string;
}

export interface Reference {
  readonly pages: readonly ReferencePage[];
  readonly entries: readonly NavigationEntry[];
}

/** The part of an address in front of the paths, from the document's server. */
const SERVER_PREFIX = /^\{publicUrl\}/;
const FOLDER = '/docs/reference';
/** Status by code. A document may contain unknown codes. */
const STATUSES: Readonly<Record<string, number>> = ERROR_STATUS;

/** The reference is the first page of the documentation, also for readers who need a tutorial first. */
const NEWCOMERS = `<p>Are you new here? Begin with <a href="${FIRST_STEPS_PATH}">First steps</a>.</p>`;

/** Renders an OpenAPI document: an introduction, one page per tag with its operations, the errors, and the schemas. */
export function renderReference(document: DocumentPart, path: string): Reference {
  const introduction = renderMarkdown(textOf(partOf(document.info).description));
  const basePath = textOf(partsOf(document.servers)[0]?.url).replace(SERVER_PREFIX, '');
  const operations = listOperations(document);
  const tags = partsOf(document.tags).map((tag) => ({ tag, page: pageOf(tag), own: ofTag(operations, tag) }));
  const index = tags.map(({ tag, page, own }) => printIndex(tag, page, own)).join('\n');
  return {
    pages: [
      { path, title: 'API reference', body: `<h1>API reference</h1>\n${NEWCOMERS}\n${introduction.html}\n${index}` },
      ...tags.map(({ tag, page, own }) => ({
        path: page,
        title: titleOf(tag),
        body: printTag(document, basePath, tag, own),
      })),
      { path: `${FOLDER}/errors`, title: 'Errors', body: printErrors(document) },
      { path: EVENT_TYPES_PATH, title: 'Event types', body: printEventTypes() },
      { path: SCHEMAS_PATH, title: 'Schemas', body: printSchemas(document) },
    ],
    entries: [
      { href: path, text: 'API reference', below: introduction.headings.map((each) => headingEntry(each, path)) },
      ...tags.map(({ tag, page, own }) => ({
        href: page,
        text: titleOf(tag),
        below: own.map((operation) => operationEntry(operation, page)),
      })),
      { href: `${FOLDER}/errors`, text: 'Errors', below: errorEntries() },
      { href: EVENT_TYPES_PATH, text: 'Event types', below: eventTypeEntries() },
      { href: SCHEMAS_PATH, text: 'Schemas', below: schemaEntries(document) },
    ],
  };
}

/** Returns the path of the tag's page. The prefix `api-` distinguishes it from the guides in the same folder. */
function pageOf(tag: DocumentPart): string {
  return `${FOLDER}/api-${encodeURIComponent(textOf(tag.name))}`;
}

function titleOf(tag: DocumentPart): string {
  const words = textOf(tag.name)
    .replaceAll('-', ' ')
    .replace(/^oauth\b/, 'OAuth');
  return capitalize(words);
}

function capitalize(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The operations of a tag, each with the link to its part of the page. */
function printIndex(tag: DocumentPart, page: string, operations: readonly DocumentedOperation[]): string {
  const rows = operations.map(
    ({ id, method, path, summary }) =>
      `<tr><td><span class="method ${method}">${method}</span></td><td><a href="${page}#${escapeHtml(id)}"><code>${escapeHtml(path)}</code></a></td><td>${escapeHtml(summary)}</td></tr>`,
  );
  return `<h2 id="tag-${escapeHtml(textOf(tag.name))}"><a href="${page}">${escapeHtml(titleOf(tag))}</a></h2>\n<table><tbody>\n${rows.join('\n')}\n</tbody></table>`;
}

function printSchemas(document: DocumentPart): string {
  const sections = componentsOf(document, 'schemas').map(
    ([name, schema]) => `<section id="schema-${name}"><h2>${name}</h2>\n${printSchema(schema)}</section>`,
  );
  return ['<h1>Schemas</h1>', ...sections].join('\n');
}

function schemaEntries(document: DocumentPart): readonly NavigationEntry[] {
  return componentsOf(document, 'schemas').map(([name]) => ({ href: `${SCHEMAS_PATH}#schema-${name}`, text: name }));
}

function ofTag(operations: readonly DocumentedOperation[], { name }: DocumentPart): readonly DocumentedOperation[] {
  return operations.filter(({ tag }) => tag === name);
}

function errorEntries(): readonly NavigationEntry[] {
  return Object.keys(ERROR_STATUS).map((code) => ({ href: `${FOLDER}/errors#${code}`, text: code }));
}

function operationEntry({ id, method, summary }: DocumentedOperation, page: string): NavigationEntry {
  return { href: `${page}#${id}`, text: summary, method };
}

/** The secrets that the forms send as `Authorization`. `docs.js` keeps them for the session of the tab. */
const SECRETS = `<details class="secrets-panel" id="secrets"><summary>Secrets for “Try it” <span class="secrets-count"></span></summary>
<p>Each operation has a form that sends an example to this service. The examples use the simulated shop that
<a href="${FOLDER}/api-instances#createInstance"><code>POST /instances</code></a> creates, so send that request first. Its response has the token of
the instance. You need a new service with simulators; <code>npm start</code> starts one. <code>credentials.json</code> in its <code>DATA_DIR</code> has the first secrets.
This browser tab keeps the secrets for all pages of the reference until you close it, or until you press <em>Forget the secrets</em>.</p>
<form class="secrets" autocomplete="off">
<p class="field"><label for="secret-user">User</label><input id="secret-user" type="password" autocomplete="off" placeholder="userSecret"></p>
<p class="field"><label for="secret-organization">Organization</label><input id="secret-organization" type="password" autocomplete="off" placeholder="organizationSecret"></p>
<p class="field"><label for="secret-element">Element</label><input id="secret-element" type="password" autocomplete="off" placeholder="token of an instance"></p>
<p><button id="forget-secrets" type="button">Forget the secrets</button></p>
</form>
</details>`;

/** Each code with its cause and remedy, and below it the responses that operations lead to. */
function printErrors(document: DocumentPart): string {
  const responses = componentsOf(document, 'responses')
    .filter(([, response]) => isError(response))
    .map(([name, response]) => ({ name, response, status: statusOf(document, response) }))
    .toSorted((one, other) => one.status - other.status);
  const sections = responses.map(
    ({ name, response, status }) => `<section id="error-${name}"><h3>${status} ${escapeHtml(wordsOf(name))}</h3>
${paragraphs(response.description)}${printExamples(document, response)}${printHeaders(document, response)}</section>`,
  );
  return `<h1>Errors</h1>
<p>Every error has the body <a href="${SCHEMAS_PATH}#schema-ErrorResponse">ErrorResponse</a>. Decide by its <code>code</code>, never by its text.</p>
${Object.entries(ERRORS).map(printError).join('\n')}
<section class="errors"><h2 id="responses">Responses</h2>\n${sections.join('\n')}</section>`;
}

function printError([code, { meaning, causes, remedy }]: [string, DocumentedError]): string {
  return `<section id="${code}"><h2><code>${code}</code></h2>
<p>Status ${STATUSES[code]}. ${renderInline(meaning)}</p>
<p><strong>Causes:</strong></p>
<ul>${causes.map((cause) => `<li>${renderInline(cause)}</li>`).join('')}</ul>
<p><strong>Remedy:</strong> ${renderInline(remedy)}</p></section>`;
}

/** `NotAcceptable` as `Not acceptable`. */
function wordsOf(name: string): string {
  return capitalize(name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase());
}

/** The status of the code that the first example has. */
function statusOf(document: DocumentPart, response: DocumentPart): number {
  const [example] = Object.values(partOf(response.content)).flatMap((media) => examplesOf(document, partOf(media)));
  return STATUSES[textOf(partOf(example?.value).code)] ?? 0;
}

function printTag(
  document: DocumentPart,
  basePath: string,
  tag: DocumentPart,
  operations: readonly DocumentedOperation[],
): string {
  const name = textOf(tag.name);
  const heading = `<h1 id="tag-${escapeHtml(name)}">${escapeHtml(titleOf(tag))}</h1>\n${paragraphs(tag.description)}\n${SECRETS}`;
  return [heading, ...operations.map((operation) => printOperation(document, basePath, operation))].join('\n');
}

function printOperation(document: DocumentPart, basePath: string, operation: DocumentedOperation): string {
  const { id, method, path, belowBase, summary, description, parameters, body, responses } = operation;
  return `<section class="operation" id="${escapeHtml(id)}"><h2>${escapeHtml(summary)}</h2>
<p class="address"><span class="method ${method}">${method}</span> <code>${when(belowBase, () => `<span class="base">${escapeHtml(basePath)}</span>`)}${escapeHtml(path)}</code></p>
${paragraphs(description)}
${when(parameters.length > 0, () => printParameters(document, parameters))}
${body === undefined ? '' : printRequestBody(document, body)}
${printSnippets(document, basePath, operation)}
${responses
  .filter(({ isError }) => !isError)
  .map((response) => printResponse(document, response))
  .join('\n')}
${printFailures(responses.filter(({ isError }) => isError))}
${printTryIt(document, basePath, operation)}
</section>`;
}

function printSnippets(document: DocumentPart, basePath: string, operation: DocumentedOperation): string {
  const snippets = snippetsFor(document, basePath, operation).map(
    ({ language, text }, index) =>
      `<details name="request-${escapeHtml(operation.id)}"${when(index === 0, () => ' open')}><summary>${language}</summary><pre><code>${escapeHtml(text)}</code></pre></details>`,
  );
  return `<h3>Request</h3>\n<div class="snippets">${snippets.join('\n')}</div>`;
}

function printParameters(document: DocumentPart, parameters: readonly DocumentPart[]): string {
  const entries = parameters.map((parameter) => {
    const schema = resolvePart(document, parameter.schema);
    const mark = when(parameter.required === true, () => ' <span class="required">required</span>');
    return `<dt><code>${escapeHtml(textOf(parameter.name))}</code> <span class="type">${textOf(parameter.in)}, ${describeType(partOf(parameter.schema))}</span>${mark}</dt>
<dd>${paragraphs(parameter.description)}${describeLimits(schema)}${printSuggestions(document, parameter)}</dd>`;
  });
  return `<h3>Parameters</h3>\n<dl class="members">\n${entries.join('\n')}\n</dl>`;
}

function printSuggestions(document: DocumentPart, parameter: DocumentPart): string {
  const values = examplesOf(document, parameter).map(({ value }) => `<code>${escapeHtml(String(value))}</code>`);
  return when(values.length > 0, () => `<span class="limits">such as ${values.join(' or ')}</span>`);
}

function printRequestBody(document: DocumentPart, body: DocumentPart): string {
  return `<h3>Body</h3>\n${printContent(document, body)}`;
}

function printResponse(document: DocumentPart, { status, part }: DocumentedResponse): string {
  return `<h3>Response ${escapeHtml(status)}</h3>\n${paragraphs(part.description)}${printContent(document, part)}${printHeaders(document, part)}`;
}

/** Shows the schema of each media type, then the examples. */
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
    ({ status, name }) =>
      `<a href="${FOLDER}/errors#error-${escapeHtml(name)}" title="${escapeHtml(wordsOf(name))}">${status}</a>`,
  );
  return when(links.length > 0, () => `<p class="failures">Errors: ${links.join(' ')}</p>`);
}

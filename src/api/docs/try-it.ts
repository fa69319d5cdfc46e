import { escapeHtml, when } from './html.ts';
import { type DocumentedOperation, type DocumentPart, examplesOf, partOf, resolvePart, textOf } from './open-api.ts';

/**
 * Returns a form that sends the operation from the browser, filled with the examples. `docs.js` makes it work: it reads the
 * `data-` attributes and sends the request to this service, whatever its public address is.
 */
export function printTryIt(document: DocumentPart, basePath: string, operation: DocumentedOperation): string {
  const { id, method, path, belowBase, security, parameters, body } = operation;
  const fields = parameters.map((parameter) => printField(document, id, parameter));
  const address = `data-method="${method}" data-path="${escapeHtml((belowBase ? basePath : '') + path)}"`;
  return `<details class="try"><summary>Try it</summary>
<form id="try-${escapeHtml(id)}" ${address} data-security="${security.join(' ')}">
${fields.join('\n')}
${body === undefined ? '' : printBody(document, id, body)}
<p><button type="submit">Send</button></p>
<div class="answer" aria-live="polite"></div>
</form>
</details>`;
}

function printField(document: DocumentPart, operation: string, parameter: DocumentPart): string {
  const name = textOf(parameter.name);
  const [example] = examplesOf(document, parameter);
  const id = escapeHtml(`${operation}-${textOf(parameter.in)}-${name}`);
  const value = example === undefined ? '' : String(example.value);
  const common = `id="${id}" name="${escapeHtml(name)}" data-in="${textOf(parameter.in)}"`;
  const required = when(parameter.required === true, () => ' required');
  const choices = choicesOf(resolvePart(document, parameter.schema));
  const control =
    choices.length === 0
      ? `<input ${common} value="${escapeHtml(value)}"${required} autocomplete="off" spellcheck="false">`
      : `<select ${common}>${['', ...choices].map((choice) => printOption(choice, value)).join('')}</select>`;
  return `<p class="field"><label for="${id}">${escapeHtml(name)}</label>${control}</p>`;
}

function choicesOf(schema: DocumentPart): readonly string[] {
  if (schema.type === 'boolean') return ['true', 'false'];
  return Array.isArray(schema.enum) ? schema.enum.map(String) : [];
}

function printOption(choice: string, chosen: string): string {
  return `<option${when(choice === chosen, () => ' selected')}>${escapeHtml(choice)}</option>`;
}

/** The body is the text of the first example; with more than one there is a choice that replaces it. */
function printBody(document: DocumentPart, operation: string, body: DocumentPart): string {
  const [[type, media] = []] = Object.entries(partOf(body.content));
  if (type?.startsWith('multipart/')) return printFormParts(document, operation, partOf(media));
  const examples = examplesOf(document, partOf(media)).map(({ summary, value }) => ({
    summary,
    text: printBodyText(value),
  }));
  const id = escapeHtml(`${operation}-body`);
  const options = examples.map(
    ({ summary, text }) => `<option value="${escapeHtml(text)}">${escapeHtml(summary)}</option>`,
  );
  const choice = when(
    examples.length > 1,
    () =>
      `<p class="field"><label for="${id}-example">Example</label><select id="${id}-example" class="examples">${options.join('')}</select></p>`,
  );
  const text = examples[0]?.text ?? '';
  const rows = Math.min(Math.max(text.split('\n').length, 3), 16);
  return `${choice}<p class="field"><label for="${id}">Body</label><textarea id="${id}" class="body" rows="${rows}" spellcheck="false">${escapeHtml(text)}</textarea></p>`;
}

/** A text for each part of a form, files too: `docs.js` sends that text as the file. */
function printFormParts(document: DocumentPart, operation: string, media: DocumentPart): string {
  const { properties } = resolvePart(document, media.schema);
  const parts = Object.entries(partOf(properties)).map(([name, member]) => {
    const schema = resolvePart(document, member);
    const text = 'example' in schema ? printBodyText(schema.example) : '';
    const type = schema.format === 'binary' ? '' : ' data-type="application/json"';
    const id = escapeHtml(`${operation}-part-${name}`);
    return `<p class="field"><label for="${id}">${escapeHtml(name)}</label><textarea id="${id}" name="${escapeHtml(name)}" class="part"${type} rows="4" spellcheck="false">${escapeHtml(text)}</textarea></p>`;
  });
  return parts.join('\n');
}

/** Returns the text of a body. Text bodies stay as they are; everything else is JSON. */
export function printBodyText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

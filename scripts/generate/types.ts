import openapiTS, { astToString } from 'openapi-typescript';
import type { BundledDocument } from './api-document.ts';

/**
 * Returns the types of a document. They leave out what no code reads, which would be half of the file: headers of responses, methods that a
 * path does not have, and groups of parameters that an operation does not have. The errors that operations share are written once, as
 * `errors`.
 */
export async function printTypes(document: BundledDocument): Promise<string> {
  const ast = await openapiTS(structuredClone(document), { alphabetize: false });
  const text = astToString(ast, { formatOptions: { removeComments: true } });
  return shareErrors(
    text
      .replace(COMPONENTS_HEADERS, '')
      .replace(HEADERS, '')
      .replace(MISSING, '')
      .replace(PARAMETERS_OF_PATHS, '')
      .replace(/\{\n *\}/g, '{}'),
  );
}

const COMPONENTS_HEADERS = /^ {4}headers: \{\n(?: {8}.*\n)* {4}\};\n/m;
/** The headers of a response. */
const HEADERS = /^( +)headers: \{\n(?:\1 .*\n)*?\1 {4}\[name: string\]: unknown;\n\1\};\n/gm;
const MISSING = /^ +(?:query|header|path|cookie|get|put|post|delete|options|head|patch|trace)\?: never;\n/gm;
/** The parameters of a path. Its operations repeat them. */
const PARAMETERS_OF_PATHS = /^ {8}parameters: \{\n(?: {12}.*\n)*? {8}\};\n(?= {8}\w+: operations)/gm;
/** The responses of an operation. */
const RESPONSES = /^ {8}responses: \{\n((?: {12}.*\n)*?) {8}\};\n/gm;
const ERROR = /^ {12}([45]\d\d): (components\["responses"\]\["\w+"\]);\n/gm;

/** Replaces the usual error responses of each operation with a choice of them. */
function shareErrors(text: string): string {
  const usual = findUsualErrors(text);
  const shared = text.replace(RESPONSES, (whole, responses: string) => {
    const statuses: string[] = [];
    const others = responses.replace(ERROR, (line, status, type) => {
      if (usual.get(status) !== type) return line;
      statuses.push(status);
      return '';
    });
    if (statuses.length === 0) return whole;
    return `        responses: {\n${others}        } & Pick<errors, ${statuses.join(' | ')}>;\n`;
  });
  const members = [...usual].sort().map(([status, type]) => `    ${status}: ${type};\n`);
  return `${shared}export interface errors {\n${members.join('')}}\n`;
}

/** Returns the most frequent error response of each status. */
function findUsualErrors(text: string): ReadonlyMap<string, string> {
  const pairs = [...text.matchAll(ERROR)].map(([, status = '', type = '']) => [status, type] as const);
  const byStatus = Object.entries(Object.groupBy(pairs, ([status]) => status));
  return new Map(byStatus.map(([status, same = []]) => [status, mostFrequent(same.map(([, type]) => type))]));
}

function mostFrequent(texts: readonly string[]): string {
  const groups = Object.values(Object.groupBy(texts, (text) => text));
  return (
    groups.reduce<readonly string[]>((most, group = []) => (group.length > most.length ? group : most), [])[0] ?? ''
  );
}

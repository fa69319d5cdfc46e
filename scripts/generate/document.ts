import { relative } from 'node:path';
import { bundle, createConfig, getLineColLocation, lint, type NormalizedProblem } from '@redocly/openapi-core';
import { type ApiDocument, assertApi, type BundledDocument, mapOperations } from './api-document.ts';
import { addCommonErrors } from './common-errors.ts';
import { addHubForms } from './hub-forms.ts';
import { addKeyScopes } from './key-scopes.ts';
import { addTokenForms } from './token-forms.ts';

/** Rules of redocly's `recommended` set that this document breaks on purpose. */
const ALLOWED = {
  // A first segment that is not the service's own names an object of the element (D2), so `/{objectName}/{objectId}` meets every
  // other path. Routes are matched from concrete to templated, which the order of the operation table keeps.
  'no-ambiguous-paths': 'off',
  // The paths for liveness and documentation have no input, so no request to them can be the caller's fault.
  'operation-4xx-response': 'off',
  // The success of a redirect (`/`, the URL of an OAuth proxy) is a 302; that every other operation has a 200 is tested in test/spec.
  'operation-2xx-response': 'off',
} as const;

export interface SpecDocument {
  /** The bundled document with all files of `spec/` and with the additions of the rules. Its references lead to its own components only. */
  readonly document: BundledDocument;
  /** The problems that redocly found, with the `severity` error or warn. */
  readonly problems: readonly NormalizedProblem[];
}

/** Reads `spec/openapi.yaml` with all files that it refers to, lints and bundles it, and adds what the rules generate. */
export async function readSpec(file: string): Promise<SpecDocument> {
  const config = await createConfig({ extends: ['recommended'], rules: ALLOWED });
  const problems = await lint({ ref: file, config });
  const bundled = await bundleSpec(file);
  return {
    document: addCommonErrors(addKeyScopes(addAccountHeader(addTokenForms(addHubForms(bundled.document))))),
    problems: [...problems, ...bundled.problems],
  };
}

/** Returns the document as it is written, without the additions of the rules. */
export async function bundleSpec(file: string): Promise<SpecDocument> {
  const config = await createConfig({ extends: ['recommended'], rules: ALLOWED });
  const { bundle: bundled, problems } = await bundle({ ref: file, config });
  const document = membersOf(bundled.parsed);
  assertApi(document);
  return { document, problems };
}

const ACCOUNT_HEADER = { $ref: '#/components/parameters/ActingAccount' };

/** Adds the header with which a call on the platform can be about another account of the organization. */
function addAccountHeader<Document extends ApiDocument>(document: Document): Document {
  return mapOperations(document, ({ operation }) =>
    operation['x-causeway-scopes'].includes('platform')
      ? { ...operation, parameters: [...(operation.parameters ?? []), ACCOUNT_HEADER] }
      : operation,
  );
}

/** Describes a problem on one line: file, line, rule and message. */
export function describeProblem(
  { severity, ruleId, message, location: [first] }: NormalizedProblem,
  root: string,
): string {
  const start = first && getLineColLocation(first).start;
  const place = first && start ? `${relative(root, first.source.absoluteRef)}:${start.line}:${start.col}` : 'spec';
  return `${severity} ${place} ${ruleId}: ${message}`;
}

function membersOf(parsed: unknown): Record<string, unknown> {
  if (typeof parsed !== 'object' || parsed === null) throw new Error('spec/openapi.yaml is not an object.');
  return { ...parsed };
}

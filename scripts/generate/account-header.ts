import { type ApiDocument, mapOperations } from './api-document.ts';

const HEADER = { $ref: '#/components/parameters/ActingAccount' };

/** Adds the header with which a call on the platform can be about another account of the organization. */
export function addAccountHeader<Document extends ApiDocument>(document: Document): Document {
  return mapOperations(document, ({ operation }) =>
    operation['x-causeway-scopes'].includes('platform')
      ? { ...operation, parameters: [...(operation.parameters ?? []), HEADER] }
      : operation,
  );
}

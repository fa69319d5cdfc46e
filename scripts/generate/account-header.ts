import { type ApiDocument, mapOperations } from './api-document.ts';

const HEADER = { $ref: '#/components/parameters/ActingAccount' };

/** Every call on the platform may be about another account of the organization. */
export function addAccountHeader<Document extends ApiDocument>(document: Document): Document {
  return mapOperations(document, ({ operation }) =>
    operation['x-causeway-scopes'].includes('platform')
      ? { ...operation, parameters: [...(operation.parameters ?? []), HEADER] }
      : operation,
  );
}

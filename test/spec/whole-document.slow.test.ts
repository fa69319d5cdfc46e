import { expect } from 'chai';
import express from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import { operationDocument } from '../../src/api/validation.ts';
import { readDocument } from './document.ts';

const document = readDocument();

describe('the spec, as express-openapi-validator takes it', () => {
  it('is an OpenAPI document, as a whole and in the part of each operation', async () => {
    const parts = (Object.keys(OPERATIONS) as OperationId[]).map((id) =>
      operationDocument(document, id, { validateResponses: true }),
    );
    const merged = {
      ...document,
      paths: Object.assign({}, ...parts.map(({ paths }) => paths)),
      components: parts.map(({ components }) => components).reduce(mergeComponents),
      // No part has the schemas of what the service sends.
      'x-webhooks': undefined,
    };
    for (const apiSpec of [document, merged]) {
      const steps = OpenApiValidator.middleware({
        apiSpec: JSON.parse(JSON.stringify(apiSpec)),
        validateSecurity: false,
      });
      const [first] = steps.flat();
      const app = express();
      const fault = await new Promise((resolve) => first?.({ app } as never, {} as never, resolve));
      expect(fault).to.equal(undefined);
    }
  });
});

type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function mergeComponents(one: Components, other: Components): Components {
  const sections = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...sections].map((name) => [name, { ...one[name], ...other[name] }]));
}

import type { Formula } from './model.ts';

/** Returns an OpenAPI document of a formula that is a resource. Undefined: it is none. */
export function toResourceDocument(
  { id, name, description, method, uri, version }: Formula,
  baseUrl: string,
):
  | ({
      readonly openapi: string;
      readonly info: Record<string, unknown>;
      readonly paths: Record<string, unknown>;
    } & Record<string, unknown>)
  | undefined {
  if (method === null || uri === null) return undefined;
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const operation = {
    operationId: `runFormula${id}`,
    summary: name,
    ...(description !== null && { description }),
    security: [{ UserOrganization: [] }],
    parameters: [
      {
        name: 'Elements-Formula-Instance-Id',
        in: 'header',
        required: true,
        description: 'The id of the formula instance that runs.',
        schema: { type: 'integer', format: 'int64' },
      },
    ],
    ...(hasBody && {
      requestBody: {
        description: 'The input, `trigger.args` in the formula.',
        content: { 'application/json': { schema: {} } },
      },
    }),
    responses: {
      200: {
        description:
          'The result of the last step. A script can set another status with `done({ statusCode, result })`.',
        content: { 'application/json': { schema: {} } },
      },
      504: { description: 'The execution takes longer than 60 seconds, and continues.' },
    },
  };
  return {
    openapi: '3.0.3',
    info: { title: name, version: String(version), ...(description !== null && { description }) },
    servers: [{ url: baseUrl }],
    paths: { [uri]: { [method.toLowerCase()]: operation } },
    components: {
      securitySchemes: {
        UserOrganization: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The whole header value is `User <user secret>, Organization <organization secret>`.',
        },
      },
    },
  };
}

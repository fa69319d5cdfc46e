import { parseJson } from '../../numbers/exact-json.ts';
import { textOf } from '../arguments.ts';
import { ApiRefusal, type ToolRequest } from '../own-api.ts';
import { inputSchema, OBJECT, outputSchema, TEXT, type ToolSchema, WHOLE } from '../schemas.ts';
import { type AgentTool, DATA_NOTICE, INSTANCE, memberOf } from './tool.ts';

type Method = NonNullable<ToolRequest['method']>;

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const METHOD: ToolSchema = { type: 'string', enum: METHODS };

export const callProvider: AgentTool = {
  name: 'call_provider',
  description:
    "Sends a request to the provider's own API, where no other tool fits. path is relative to its address, with its query.",
  operation: 'passGet',
  kind: 'pass',
  input: inputSchema({ ...INSTANCE, method: METHOD, path: TEXT, body: OBJECT }, ['method', 'path']),
  output: outputSchema({ status: WHOLE, body: {} }, ['status']),
  run: async ({ api, args, instance }) => {
    const method = METHODS.find((known) => known === textOf(args, 'method')) ?? 'GET';
    const path = `/passthrough/${encodeRest((textOf(args, 'path') ?? '').replace(/^\/+/, ''))}`;
    const response = await api.send({ method, path, body: args.body, instance });
    const { status, header, text } = response;
    // A problem of this service has a request id of its own in its body.
    if (status >= 400 && isOwnProblem(text, header('elements-request-id'))) throw new ApiRefusal(response);
    return {
      data: { notice: DATA_NOTICE, status, contentType: header('content-type') ?? '' },
      one: { name: 'body', value: readJson(text), textLimit: BODY_TEXT },
    };
  },
};

const BODY_TEXT = 8000;

function isOwnProblem(text: string, requestId: string | undefined): boolean {
  const body = readJson(text);
  return requestId !== undefined && memberOf(body, 'requestId') === requestId && memberOf(body, 'code') !== undefined;
}

/** Encodes the characters that a URL cannot contain, such as the spaces of a filter. Models often write them as they are. */
function encodeRest(path: string): string {
  return path.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

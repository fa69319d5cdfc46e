/**
 * The lower bound of the cost of such a service with the same libraries: Express receives a request, undici calls the provider, and the
 * JSON is parsed and printed. It has no authorization, no validation and no log. It reads the provider from its environment, and reports
 * its port.
 */
import express from 'express';
import { Agent } from 'undici';

const { url, ...asked }: { url: string; method: 'GET' | 'POST'; headers: Record<string, string>; body?: string } =
  JSON.parse(process.env.BARE_PROXY_ASKS ?? '');
const { origin, pathname, search } = new URL(url);
const agent = new Agent({ connections: 1_024, pipelining: 1 });

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.get('/', async (_request, response) => {
  const answer = await agent.request({ ...asked, origin, path: pathname + search });
  response.json(JSON.parse(await answer.body.text()));
});
const server = app.listen(0, '127.0.0.1', () => process.send?.(Object(server.address()).port));

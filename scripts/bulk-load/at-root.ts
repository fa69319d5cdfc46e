/** Shows what is below a URL at the root of a host, in a process of its own: jsforce asks for jobs of Salesforce there. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const [, , url = ''] = process.argv;

const server = createServer((asked, answer) => {
  const passed = request(url + asked.url, { method: asked.method, headers: asked.headers }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  passed.on('error', (error) => answer.destroy(error));
  asked.pipe(passed);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit(0));

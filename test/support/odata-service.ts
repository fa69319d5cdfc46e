import { createServer } from 'node:http';
import { createSimulator, type ODataSimulatorOptions } from '../../connectors/odata/simulator.ts';
import { listen } from '../../suite/listen.ts';
import { stopServer } from '../../suite/stop-server.ts';

export type ODataService = Awaited<ReturnType<typeof startODataService>>;

/** Starts an OData service outside of the platform. `requests` contains `GET /odata/v4/shop/Products?…`, decoded. */
export async function startODataService(options: Partial<ODataSimulatorOptions> = {}) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${decodeURIComponent(request.url ?? '')}`);
    simulator.handle(request, response);
  });
  const baseUrl = `http://127.0.0.1:${await listen(server)}`;
  const simulator = createSimulator({ baseUrl, ...options });
  return { url: `${baseUrl}/odata/v4/shop`, requests, stop: () => stopServer(server) };
}

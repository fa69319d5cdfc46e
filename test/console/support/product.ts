import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestApp } from '../../support/app.ts';
import { codeBlocks } from '../../support/code-blocks.ts';

const GUIDE = join(import.meta.dirname, '../../../docs/reference/connect-sessions.md');
const SHOWN_AS = "mode: 'frame'";

/** The page of the guide, of a product whose server makes sessions. */
export function useProduct(service: TestApp) {
  const state = { session: {}, options: SHOWN_AS, sessionId: 0 };
  const server = createServer(async (request, response) => {
    if (request.url === '/favicon.ico') return response.writeHead(204).end();
    if (request.url !== '/connect-session') return response.setHeader('content-type', 'text/html').end(printPage());
    const { body } = await service.call('/connect/sessions', { method: 'POST', body: state.session });
    state.sessionId = body.id;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ url: body.url }));
  });

  function printPage(): string {
    const [page = ''] = codeBlocks(readFileSync(GUIDE, 'utf8')).flatMap(({ language, code }) =>
      language === 'html' ? [code] : [],
    );
    const here = page.replaceAll('https://causeway.example.com', service.app.url).replace(SHOWN_AS, state.options);
    return `<!doctype html><html lang="en"><title>A product</title><div id="place"></div>${here}</html>`;
  }

  before((done) => void server.listen(0, 'localhost', done));
  after((done) => {
    server.close(done);
    server.closeAllConnections();
  });

  return {
    /** `localhost`, where the service is at `127.0.0.1`: another site. */
    get origin() {
      return `http://localhost:${(server.address() as AddressInfo).port}`;
    },
    /** Sets the options of the session that the page creates next. */
    offer: (session: object) => {
      state.session = session;
    },
    /** How the page of the guide shows it. */
    show: (options: string) => {
      state.options = options;
    },
    /** The id of the session that was made last. */
    sessionId: () => state.sessionId,
  };
}

import { expect } from 'chai';
import { DEMO_ACCESS_TOKEN } from '../../connectors/slack/simulator.ts';
import { useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';

interface File {
  readonly id: string;
  readonly name: string;
  readonly mimetype: string;
  readonly size: number;
  readonly is_external: boolean;
  readonly url_private_download: string | null;
}

describe('files of Slack', () => {
  const service = useApp({ SIMULATORS_PORT: '0', EGRESS_ALLOW: '127.0.0.1' });
  const instance = useInstance(service, 'slack', {
    simulator: true,
    'oauth.api.key': 'demo-client',
    'oauth.api.secret': 'demo-secret',
    'oauth.user.token': DEMO_ACCESS_TOKEN,
  });
  let files: readonly File[];

  before(async () => {
    const body = await instance.get('/files', { query: { pageSize: 60 } });
    files = body;
  });

  const download = (id: string, accept = 'application/octet-stream', asBytes = true) =>
    instance.call(`/files/${id}`, { headers: { accept }, asBytes });
  const find = (isMeant: (file: File) => boolean) => files.find(isMeant) ?? expect.fail('There is no such file.');

  it('have their bytes, type and name', async () => {
    for (const type of ['image/png', 'application/zip', 'text/plain']) {
      const { id, size, name } = find((file) => file.mimetype === type && !file.is_external && file.size > 0);
      for (const accept of ['application/octet-stream', type]) {
        const { status, body, headers } = await download(id, accept);
        expect(status).to.equal(200);
        expect(Buffer.compare(body, Buffer.alloc(size, id))).to.equal(0);
        expect(headers.get('content-type')).to.include(accept);
        expect(headers.get('content-disposition')).to.include(name);
      }
    }
  });

  it('have no bytes here if Slack does not store them', async () => {
    const { id } = find(({ url_private_download: url }) => url === null);
    const response = await download(id, undefined, false);
    expectProblem(response, 'PROVIDER_REJECTED', 'Slack does not store this file. `url_private` has its address.');
  });

  it('are requested from hosts of Slack only', async () => {
    const { id } = find(({ url_private_download: url }) => url?.includes('docs.example.com') === true);
    const response = await download(id, undefined, false);
    expectProblem(response, 'PROVIDER_PROTOCOL');
  });
});

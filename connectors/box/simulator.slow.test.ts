import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { BoxClient, BoxDeveloperTokenAuth, BoxOAuth, OAuthConfig } from 'box-node-sdk';
import { WebhooksManager } from 'box-node-sdk/managers';
import { NetworkSession } from 'box-node-sdk/networking';
import { expect } from 'chai';
import { callProvider, type ServedSimulator, serveSimulator, type TestCall } from '#connector/testing';
import { createSimulator, DEMO_ACCESS_TOKEN, SIGNATURE_KEYS } from './simulator.ts';

const HEADERS = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}` };
const { primary, secondary: secondaryKey } = SIGNATURE_KEYS;
const UPLOAD = '/api/2.0/files/content';

describe('the Box simulator', () => {
  let simulator: ServedSimulator;
  let client: BoxClient;
  const sent: { readonly body: string; readonly headers: Readonly<Record<string, string>> }[] = [];

  before(async () => {
    simulator = await serveSimulator('box', (options) =>
      createSimulator({ ...options, send: (webhook) => void sent.push(webhook) }),
    );
    const auth = new BoxDeveloperTokenAuth({ token: DEMO_ACCESS_TOKEN });
    client = new BoxClient({ auth, networkSession: session() });
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  function session(): NetworkSession {
    const { url } = simulator;
    return new NetworkSession({ baseUrls: { baseUrl: url, uploadUrl: `${url}/api`, oauth2Url: `${url}/api/oauth2` } });
  }

  const call = (path: string, body?: TestCall['body'], { headers, ...more }: TestCall = {}) =>
    callProvider(simulator.url + path, { body, headers: { ...HEADERS, ...headers }, ...more });

  const find = async (query: string, more: Readonly<Record<string, string>> = {}) =>
    ((await call(`/2.0/search?${new URLSearchParams({ query, ...more })}`)).body.entries ?? []).map(
      ({ name }: { name: string }) => name,
    );
  const fileOf = (text: string) => Readable.from([Buffer.from(text)]);
  const upload = (name: string, text: string, id = '0') =>
    client.uploads.uploadFile({ attributes: { name, parent: { id } }, file: fileOf(text) });

  it("lets Box's SDK log in, use a refresh token once, and go on", async () => {
    const [clientId, clientSecret] = ['demo-client', 'demo-secret'];
    const query = `client_id=${clientId}&response_type=code&redirect_uri=https://app.example/&auto=approve`;
    const { location } = await call(`/api/oauth2/authorize?${query}`);
    const auth = new BoxOAuth({ config: new OAuthConfig({ clientId, clientSecret }) });
    const code = location.searchParams.get('code') ?? '';
    const first = await auth.getTokensAuthorizationCodeGrant(code, session());
    expect(first).to.include({ expiresIn: 3600, tokenType: 'bearer' });
    await auth.refreshToken(session());
    const { name } = await new BoxClient({ auth, networkSession: session() }).users.getUserMe();
    expect(name).to.equal("Dana O'Neil & Söhne");
    const form = { grant_type: 'refresh_token', client_id: clientId, client_secret: clientSecret };
    const again = new URLSearchParams({ ...form, refresh_token: first.refreshToken ?? '' });
    expect((await call('/oauth2/token', again)).body.error).to.equal('invalid_grant');
  });

  it('says in a header what is wrong with a token, and answers nothing elsewhere', async () => {
    const ask = (headers: Readonly<Record<string, string>>) => call('/2.0/users/me', undefined, { headers });
    const bad = await ask({ authorization: 'Bearer x' });
    const elsewhere = await ask({ forwarded: 'host=upload.box.com' });
    expect([bad.status, bad.text, elsewhere.status]).to.deep.equal([401, '', 404]);
    expect(bad.headers.get('www-authenticate')).to.include('error="invalid_token"');
  });

  it("gives Box's SDK items by marker, folders first", async () => {
    const { entries: all = [] } = await client.folders.getFolderItems('0', { queryParams: { limit: 1000 } });
    const order = ['folder', 'file', 'web_link'];
    expect(all.map(({ type }) => order.indexOf(type))).to.deep.equal(all.map(({ type }) => order.indexOf(type)).sort());
    const paged: unknown[] = [];
    for (let marker: string | undefined; marker !== ''; ) {
      const queryParams = { usemarker: true, limit: 7, ...(marker !== undefined && { marker }) };
      const page = await client.folders.getFolderItems('0', { queryParams });
      paged.push(...(page.entries ?? []).map(({ id }) => id));
      marker = page.nextMarker ?? '';
    }
    expect(paged).to.deep.equal(all.map(({ id }) => id));
    const { body } = await call('/2.0/folders/0/items?limit=1000&fields=size,nope');
    expect(body).to.include({ limit: 1000 });
    expect(Object.keys(body.entries?.[0] ?? {})).to.have.members(['type', 'id', 'etag', 'size']);
  });

  it("takes and gives bytes through Box's SDK, and says what has the name already", async () => {
    const name = '日本 "a" %27.txt';
    const [file] = (await upload(name, 'first')).entries ?? [];
    const id = file?.id ?? '';
    expect(file).to.include({ name, size: 5, sha1: createHash('sha1').update('first').digest('hex') });
    await client.uploads.uploadFileVersion(id, { attributes: { name }, file: fileOf('second') });
    const stream = await client.downloads.downloadFile(id);
    expect(Buffer.concat(await Readable.from(stream ?? []).toArray()).toString()).to.equal('second');
    const shown = await client.files.getFileById(id, { queryParams: { fields: ['version_number', 'etag'] } });
    expect(shown).to.include({ versionNumber: '2', etag: '1' });
    const taken = await call(UPLOAD, formOf(name.toUpperCase(), 'x'));
    expect([taken.status, taken.body.code]).to.deep.equal([409, 'item_name_in_use']);
    expect(taken.body.context_info?.conflicts).to.include({ type: 'file', id });
    const api = { headers: { forwarded: 'host=api.box.com' } };
    const { headers } = await call(`/2.0/files/${id}/content`, undefined, api);
    expect(headers.get('location')).to.match(/^https:\/\/dl\.boxcloud\.com\/d\/1\/[\w-]+\/download$/);
  });

  it('holds no more than its limit, and wants the attributes first', async () => {
    const backwards = new FormData();
    for (const [part, value] of [...formOf('x', 'x')].reverse()) backwards.append(part, value);
    const forms = [backwards, ...[21, 11, 11].map((size, index) => formOf(`${index}`, 'x'.repeat(size * 1_000_000)))];
    const codes: unknown[] = [];
    for (const form of forms) codes.push((await call(UPLOAD, form)).body.code);
    expect(codes).to.deep.equal([
      ...['metadata_after_file_contents', 'request_entity_too_large', undefined, 'storage_limit_exceeded'],
    ]);
  });

  it("creates, changes and trashes folders through Box's SDK, and refuses what Box refuses", async () => {
    const { id } = await client.folders.createFolder({ name: 'Näme', parent: { id: '0' } });
    const inner = await client.folders.createFolder({ name: 'inner', parent: { id } });
    await client.folders.updateFolderById(id, { requestBody: { description: 'd', tags: ['a b', "O'Neil"] } });
    const { body } = await call(`/2.0/folders/${id}?fields=tags,description`);
    expect(body).to.deep.equal({ type: 'folder', id, etag: '1', tags: ['a b', "O'Neil"], description: 'd' });
    expect(inner.pathCollection?.entries.map(({ name }) => name)).to.deep.equal(['All Files', 'Näme']);
    const put = async (folder: string, value: object) =>
      (await call(`/2.0/folders/${folder}`, value, { method: 'PUT' })).status;
    expect(await Promise.all([put(id, { name: 'a/b' }), put('99', { name: 'x' })])).to.deep.equal([400, 404]);
    expect((await call(`/2.0/folders/${id}`, undefined, { method: 'DELETE' })).body.code).to.equal('folder_not_empty');
    await client.folders.deleteFolderById(id, { queryParams: { recursive: true } });
    expect((await call(`/2.0/folders/${id}`)).body).to.include({ status: 404, code: 'trashed' });
  });

  it("searches by words, phrases and operators, as Box's guide has them", async () => {
    const { id } = await client.folders.createFolder({ name: 'Top', parent: { id: '0' } });
    for (const name of ['Blue-Box.txt', 'box of blue.md', 'California.pdf', 'running.TXT']) await upload(name, '', id);
    await upload('decal.pdf', 'body of California', id);
    const here = (query: string, more = {}) => find(query, { ancestor_folder_ids: id, ...more });
    expect(await here('"blue box"')).to.deep.equal(['Blue-Box.txt']);
    expect(await here('blue AND NOT md')).to.deep.equal(['Blue-Box.txt']);
    expect(await here('cal')).to.deep.equal(['California.pdf']);
    expect(await here('california')).to.deep.equal(['California.pdf', 'decal.pdf']);
    expect(await here('california', { content_types: 'name' })).to.deep.equal(['California.pdf']);
    expect(await here('run OR decal', { file_extensions: 'txt' })).to.deep.equal(['running.TXT']);
    expect(await here('pdf', { size_range: '1,', type: 'file' })).to.deep.equal(['decal.pdf']);
    expect(await here('pdf', { created_at_range: ',2020-01-01T00:00:00Z' })).to.deep.equal([]);
    expect(await find('approved', { content_types: 'tags' })).to.have.length(30);
    const page = await client.search.searchForContent({ query: 'report', limit: 3, offset: 2, contentTypes: ['name'] });
    expect(page).to.include({ limit: 3, offset: 2, type: 'search_results_items' });
    expect(page.entries).to.have.length(3);
  });

  it('refuses searches that say nothing, or what Box does not take', async () => {
    const bad = [
      ...['', 'type=nope', 'created_at_range=2020-01-01', 'created_at_range=x,', 'limit=a', 'offset=10001'],
      ...['content_types=nope', 'size_range=a,b', 'ancestor_folder_ids=12'],
    ].map((query, index) => call(`/2.0/search?${index > 0 ? 'query=x&' : ''}${query}`));
    expect((await Promise.all(bad)).map(({ body }) => body.status)).to.deep.equal([...Array(8).fill(400), 404]);
  });

  it("tells of what happens by webhooks that Box's SDK verifies", async () => {
    sent.length = 0;
    const { id } = await client.folders.createFolder({ name: 'watched 日', parent: { id: '0' } });
    const triggers = ['FILE.UPLOADED', 'FILE.RENAMED', 'FILE.TRASHED'] as const;
    const target = { id, type: 'folder' as const };
    const hook = { target, address: 'https://app.example/hook', triggers: [...triggers] };
    const webhook = await client.webhooks.createWebhook(hook);
    expect((await client.webhooks.getWebhooks()).entries?.map((each) => each.id)).to.deep.equal([webhook.id]);
    expect((await call('/2.0/webhooks', hook)).status).to.equal(409);
    const file = (await upload('new', 'x', id)).entries?.[0]?.id ?? '';
    await client.files.updateFileById(file, { requestBody: { name: 'renamed 日本' } });
    await client.files.deleteFileById(file);
    expect(sent.map(({ body }) => JSON.parse(body).trigger)).to.deep.equal(triggers);
    for (const { body, headers } of sent) {
      const verify = (text: string, first: string, second: string) =>
        WebhooksManager.validateMessage(text, headers, first, { secondaryKey: second });
      const good = [verify(body, primary, 'old'), verify(body, 'old', secondaryKey)];
      expect(await Promise.all([...good, verify(`${body} `, primary, 'old')])).to.deep.equal([true, true, false]);
    }
    await client.webhooks.deleteWebhookById(webhook.id ?? '');
    expect((await client.webhooks.getWebhooks()).entries).to.deep.equal([]);
  });
});

function formOf(name: string, text: string): FormData {
  const form = new FormData();
  form.set('attributes', JSON.stringify({ name, parent: { id: '0' } }));
  form.set('file', new Blob([text]), name);
  return form;
}

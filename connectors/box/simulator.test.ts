import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { BoxClient, BoxDeveloperTokenAuth, BoxOAuth, OAuthConfig } from 'box-node-sdk';
import { WebhooksManager } from 'box-node-sdk/managers';
import { NetworkSession } from 'box-node-sdk/networking';
import { expect } from 'chai';
import { HOSTILE_TEXTS } from '#connector/simulator';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, SIGNATURE_KEYS } from './simulator.ts';

const HEADERS = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}` };
const { primary, secondary: secondaryKey } = SIGNATURE_KEYS;

describe('the Box simulator', () => {
  let simulator: ServedSimulator;
  let client: BoxClient;
  const sent: SentWebhook[] = [];

  before(async () => {
    simulator = await serveSimulator('box', (options) =>
      createSimulator({ ...options, send: (webhook) => void sent.push(webhook) }),
    );
    client = new BoxClient({ auth: new BoxDeveloperTokenAuth({ token: DEMO_ACCESS_TOKEN }) }).withCustomBaseUrls(
      urls(),
    );
  });
  after(() => simulator.stop());
  beforeEach(async () => {
    sent.length = 0;
    await simulator.reset();
  });

  const urls = () => ({
    baseUrl: simulator.url,
    uploadUrl: `${simulator.url}/api`,
    oauth2Url: `${simulator.url}/api/oauth2`,
  });

  async function call(path: string, { method = 'GET', body, headers = HEADERS }: CallOptions = {}) {
    const init = { method, headers, redirect: 'manual' as const, ...(body !== undefined && { body }) };
    const response = await fetch(simulator.url + path, init);
    const text = await response.text();
    const parsed: Answered = text.startsWith('{') ? JSON.parse(text) : {};
    return { status: response.status, headers: response.headers, text, body: parsed };
  }

  const found = async (parameters: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({ limit: '200', fields: 'name,tags,size,created_at,parent', ...parameters });
    return (await call(`/2.0/search?${query}`)).body;
  };
  const upload = (name: string, text: string, parent = '0') =>
    client.uploads.uploadFile({
      attributes: { name, parent: { id: parent } },
      file: Readable.from([Buffer.from(text)]),
    });

  it("lets Box's SDK log in, use a refresh token once, and go on", async () => {
    const [[clientId = '', { secret: clientSecret = '' } = {}] = []] = Object.entries(CLIENTS);
    const auth = new BoxOAuth({ config: new OAuthConfig({ clientId, clientSecret }) });
    const session = new NetworkSession({ baseUrls: urls() });
    const authorize = await call(
      `/api/oauth2/authorize?client_id=${clientId}&response_type=code&redirect_uri=https://app.example/&auto=approve`,
    );
    const code = new URL(authorize.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const first = await auth.getTokensAuthorizationCodeGrant(code, session);
    expect(first).to.include({ expiresIn: 3600, tokenType: 'bearer' });
    await auth.refreshToken(session);
    const { name } = await new BoxClient({ auth, networkSession: session }).users.getUserMe();
    expect(name).to.equal("Dana O'Neil & Söhne");
    const form = { grant_type: 'refresh_token', client_id: clientId, client_secret: clientSecret };
    const body = new URLSearchParams({ ...form, refresh_token: first.refreshToken ?? '' });
    const again = await call('/oauth2/token', { method: 'POST', body });
    expect([again.status, again.body.error]).to.deep.equal([400, 'invalid_grant']);
  });

  it('says in a header what is wrong with a token, and answers nothing elsewhere', async () => {
    const [bad, elsewhere] = await Promise.all([
      call('/2.0/users/me', { headers: { authorization: 'Bearer nope' } }),
      call('/2.0/users/me', { headers: { ...HEADERS, forwarded: 'host=upload.box.com' } }),
    ]);
    expect([bad.status, bad.text, elsewhere.status]).to.deep.equal([401, '', 404]);
    expect(bad.headers.get('www-authenticate')).to.include('error="invalid_token"');
  });

  it("gives Box's SDK items by offset and by marker, folders first", async () => {
    const all = await client.folders.getFolderItems('0', { queryParams: { limit: 1000 } });
    const kinds = (all.entries ?? []).map(({ type }) => type);
    expect(kinds).to.deep.equal(kinds.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
    const paged: unknown[] = [];
    for (let marker = ''; ; ) {
      const query = { usemarker: true, limit: 7, ...(marker !== '' && { marker }) };
      const page = await client.folders.getFolderItems('0', { queryParams: query });
      paged.push(...(page.entries ?? []).map(({ id }) => id));
      marker = page.nextMarker ?? '';
      if (marker === '') break;
    }
    expect(paged).to.deep.equal((all.entries ?? []).map(({ id }) => id));
    const { body } = await call('/2.0/folders/0/items?offset=50&limit=2000&sort=date&direction=DESC&fields=size,nope');
    expect(body).to.include({ total_count: all.totalCount, offset: 50, limit: 1000 });
    expect(Object.keys(body.entries?.[0] ?? {})).to.have.members(['type', 'id', 'etag', 'size']);
  });

  it("takes and gives bytes through Box's SDK, and says what has the name already", async () => {
    const name = `${HOSTILE_TEXTS.find((text) => text.includes('日'))} "a" %.txt`;
    const file = (await upload(name, 'first')).entries?.[0];
    expect(file).to.include({ name, size: 5, sha1: createHash('sha1').update('first').digest('hex') });
    const id = file?.id ?? '';
    await client.uploads.uploadFileVersion(id, { attributes: { name }, file: Readable.from([Buffer.from('second')]) });
    const stream = await client.downloads.downloadFile(id);
    expect(Buffer.concat(await Readable.from(stream ?? []).toArray()).toString()).to.equal('second');
    expect(await client.files.getFileById(id, { queryParams: { fields: ['version_number', 'etag'] } })).to.include({
      versionNumber: '2',
      etag: '1',
    });
    const taken = await call('/api/2.0/files/content', { method: 'POST', body: formOf(name.toUpperCase(), 'x') });
    expect([taken.status, taken.body.code]).to.deep.equal([409, 'item_name_in_use']);
    expect(taken.body.context_info?.conflicts).to.include({ type: 'file', id });
    const redirected = await call(`/2.0/files/${id}/content`, {
      headers: { ...HEADERS, forwarded: 'host=api.box.com' },
    });
    expect(redirected.headers.get('location')).to.match(/^https:\/\/dl\.boxcloud\.com\/d\/1\/[\w-]+\/download$/);
  });

  it('holds no more than its limit, and wants the attributes first', async () => {
    const post = (body: FormData) => call('/api/2.0/files/content', { method: 'POST', body });
    const backwards = new FormData();
    backwards.set('file', new Blob(['x']), 'x');
    backwards.set('attributes', JSON.stringify({ name: 'x', parent: { id: '0' } }));
    const tooLarge = await post(formOf('large', 'x'.repeat(21_000_000)));
    const half = [await post(formOf('a', 'x'.repeat(11_000_000))), await post(formOf('b', 'x'.repeat(11_000_000)))];
    expect([await post(backwards), tooLarge, ...half].map(({ status, body }) => [status, body.code])).to.deep.equal([
      [400, 'metadata_after_file_contents'],
      [413, 'request_entity_too_large'],
      [201, undefined],
      [403, 'storage_limit_exceeded'],
    ]);
  });

  it("creates, changes, moves and trashes folders through Box's SDK", async () => {
    const folder = await client.folders.createFolder({ name: 'Näme', parent: { id: '0' } });
    const inner = await client.folders.createFolder({ name: 'inner', parent: { id: folder.id } });
    await client.folders.updateFolderById(folder.id, { requestBody: { description: 'd', tags: ['a b', "O'Neil"] } });
    const { body } = await call(`/2.0/folders/${folder.id}?fields=tags,description,path_collection`);
    expect(body).to.deep.include({ etag: '1', tags: ['a b', "O'Neil"], description: 'd' });
    expect(inner.pathCollection?.entries.map(({ name }) => name)).to.deep.equal(['All Files', 'Näme']);
    const put = (id: string, value: object, headers = {}) =>
      call(`/2.0/folders/${id}`, { method: 'PUT', body: JSON.stringify(value), headers: { ...HEADERS, ...headers } });
    const refused = await Promise.all([
      put(folder.id, { parent: { id: inner.id } }),
      put(folder.id, { name: 'a/b' }),
      put(folder.id, { name: 'x' }, { 'if-match': '0' }),
      put('0', { name: 'x' }),
      put('x', { name: 'x' }),
      put('99', { name: 'x' }),
      call(`/2.0/folders/${folder.id}`, { method: 'DELETE' }),
    ]);
    expect(refused.map(({ status }) => status)).to.deep.equal([400, 400, 412, 403, 405, 404, 400]);
    await client.folders.deleteFolderById(folder.id, { queryParams: { recursive: true } });
    const gone = await call(`/2.0/folders/${inner.id}`);
    expect([gone.status, gone.body.code]).to.deep.equal([404, 'trashed']);
    expect((await found({ query: 'inner', trash_content: 'trashed_only' })).total_count).to.equal(1);
  });

  it("searches by words, phrases and operators, as Box's guide has them", async () => {
    const top = (await client.folders.createFolder({ name: 'Top', parent: { id: '0' } })).id;
    for (const name of ['Blue-Box.txt', 'box of blue.md', 'California.pdf', 'decal.pdf', 'running.TXT']) {
      await upload(name, name.startsWith('d') ? 'body of California' : '', top);
    }
    const names = async (query: string, more = {}) =>
      ((await found({ query, ancestor_folder_ids: top, ...more })).entries ?? []).map(({ name }) => name);
    expect(await names('"blue box"')).to.deep.equal(['Blue-Box.txt']);
    expect(await names('blue AND NOT md')).to.deep.equal(['Blue-Box.txt']);
    expect(await names('cal')).to.deep.equal(['California.pdf']);
    expect(await names('california')).to.deep.equal(['California.pdf', 'decal.pdf']);
    expect(await names('california', { content_types: 'name' })).to.deep.equal(['California.pdf']);
    expect(await names('run OR decal', { file_extensions: 'txt' })).to.deep.equal(['running.TXT']);
    expect(await names('pdf', { size_range: '1,', type: 'file' })).to.deep.equal(['decal.pdf']);
    expect(await names('pdf', { created_at_range: ',2020-01-01T00:00:00Z' })).to.deep.equal([]);
    const page = await client.search.searchForContent({ query: 'report', limit: 3, offset: 2, contentTypes: ['name'] });
    expect(page).to.include({ limit: 3, offset: 2, type: 'search_results_items' });
    expect(page.entries).to.have.length(3);
    expect((await found({ query: 'approved', content_types: 'tags' })).entries).not.to.have.length(0);
  });

  it('refuses searches that say nothing, or what Box does not take', async () => {
    const refused = [
      ...['', 'query=x&type=nope', 'query=x&created_at_range=2020-01-01', 'query=x&created_at_range=x,'],
      ...['query=x&limit=a', 'query=x&offset=10001', 'query=x&content_types=nope', 'query=x&size_range=a,b'],
      ...['query=x&scope=enterprise_content', 'query=x&ancestor_folder_ids=12'],
    ];
    const answers = await Promise.all(refused.map((query) => call(`/2.0/search?${query}`)));
    expect(answers.map(({ status }) => status)).to.deep.equal([...Array(8).fill(400), 403, 404]);
    expect(new Set(answers.map(({ body }) => body.type))).to.deep.equal(new Set(['error']));
  });

  it('is slow to find, and counts calls, where it is told to', async () => {
    const options = { indexDelayMs: 600_000, callsPerMinute: 2 };
    const other = await serveSimulator('box', (given) => createSimulator({ ...given, ...options }));
    const folder = JSON.stringify({ name: 'fresh', parent: { id: '0' } });
    const made = await fetch(`${other.url}/2.0/folders`, { method: 'POST', headers: HEADERS, body: folder });
    const search = () => fetch(`${other.url}/2.0/search?query=fresh`, { headers: HEADERS });
    const [early, refused] = [await search(), await search()];
    await other.command('/simulate/clock', { byMs: 660_000 });
    const bodies = [early, refused, await search()].map(async (each) => Object(await each.json()));
    await other.stop();
    expect((await Promise.all(bodies)).map((body) => body.total_count ?? body.code)).to.deep.equal([
      ...[0, 'rate_limit_exceeded', 1],
    ]);
    expect([made.status, refused.headers.get('retry-after')]).to.deep.equal([201, '60']);
  });

  it("tells of what happens by events and by webhooks that Box's SDK verifies", async () => {
    const now = (await client.events.getEvents({ streamPosition: 'now' })).nextStreamPosition;
    const target = await client.folders.createFolder({ name: 'watched 日', parent: { id: '0' } });
    const address = 'https://app.example/hook';
    const triggers = ['FILE.UPLOADED', 'FILE.RENAMED', 'FILE.TRASHED'] as const;
    const hook = { target: { id: target.id, type: 'folder' as const }, address, triggers: [...triggers] };
    const { id } = await client.webhooks.createWebhook(hook);
    expect((await client.webhooks.getWebhooks()).entries?.map((each) => each.id)).to.deep.equal([id]);
    const again = await call('/2.0/webhooks', { method: 'POST', body: JSON.stringify(hook) });
    expect(again.status).to.equal(409);
    const file = (await upload('new', 'x', target.id)).entries?.[0]?.id ?? '';
    await client.files.updateFileById(file, { requestBody: { name: 'renamed 日本' } });
    await client.files.deleteFileById(file);
    expect(sent.map(({ body }) => JSON.parse(body).trigger)).to.deep.equal(triggers);
    for (const { body, headers } of sent) {
      const verdicts = [
        WebhooksManager.validateMessage(body, headers, primary, { secondaryKey: 'rotated' }),
        WebhooksManager.validateMessage(body, headers, 'rotated', { secondaryKey }),
        WebhooksManager.validateMessage(`${body} `, headers, primary, { secondaryKey }),
      ];
      expect(await Promise.all(verdicts)).to.deep.equal([true, true, false]);
    }
    const { entries = [] } = await client.events.getEvents({ streamPosition: String(now) });
    const types = new Map(entries.map(({ eventId, eventType }) => [eventId, eventType]));
    expect([...types.values()]).to.deep.equal(['ITEM_CREATE', 'ITEM_UPLOAD', 'ITEM_RENAME', 'ITEM_TRASH']);
    expect(entries).to.have.length(types.size + 1);
    await client.webhooks.deleteWebhookById(id ?? '');
    expect((await client.webhooks.getWebhooks()).entries).to.deep.equal([]);
  });
});

const ORDER = ['folder', 'file', 'web_link'];

function formOf(name: string, text: string): FormData {
  const form = new FormData();
  form.set('attributes', JSON.stringify({ name, parent: { id: '0' } }));
  form.set('file', new Blob([text]), name);
  return form;
}

type SentWebhook = Parameters<NonNullable<Parameters<typeof createSimulator>[0]['send']>>[0];

interface CallOptions {
  readonly method?: string;
  readonly body?: string | FormData | URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The tests compare every member they read. */
interface Answered {
  readonly [member: string]: unknown;
  readonly context_info?: Readonly<Record<string, unknown>>;
  readonly entries?: readonly Readonly<Record<string, unknown>>[];
}

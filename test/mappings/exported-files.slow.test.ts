import { expect } from 'chai';
import { expectProblem, faultsOf } from '../api/support/expect-problem.ts';
import { authorizationOf, useTenants } from '../api/support/tenants.ts';
import { type ApiAnswer, useApp } from '../support/app.ts';

const SCRIPT = `const moment = require('moment');
if (isWhere) {
  transformedObject.where.forEach((condition) => { condition.value = moment.utc(condition.value).format('DD.MM.YYYY'); });
} else if (fromVendor) {
  transformedObject.kind = 'PERSON';
  transformedObject.changed = moment.utc(originalObject.update_time).format('DD.MM.YYYY');
} else {
  transformedObject.family_name = originalObject.name.last.toUpperCase();
}
done(transformedObject);
`;

const ofScript = { filterEmptyResponse: false, level: 'organization', mimeType: 'application/javascript' };
const NOTHING_PASSES = { fromVendor: false, toVendor: false };
const ANSWERS_ONLY = [{ type: 'passThrough', properties: { fromVendor: true, toVendor: false } }];

/** Members that other systems write and that have no meaning here. */
const SHARED = { createdDate: '2026-02-03 04:05:06.789012', vdrShared: true, vdrShareLevel: 'organization' };

/** Files in the form in which other systems export: fields of two levels in one list, and scripts by level beside the script that holds. */
const PERSON = {
  vdrName: 'ExportedPerson',
  vdrVersion: 'v2',
  definition: {
    ...SHARED,
    objectName: 'ExportedPerson',
    fields: [
      { displayName: '', level: 'organization', path: 'changed', type: 'string' },
      { displayName: '', level: 'organization', path: 'name.first', type: 'string' },
      { displayName: 'Family name', level: 'organization', path: 'name.last', type: 'string' },
      { displayName: '', level: 'account', path: 'changed', type: 'string' },
      { displayName: '', level: 'account', path: 'tags[*]', type: 'string' },
    ],
  },
  transformation: {
    keap: {
      configuration: [
        { level: 'account', type: 'addToDocumentation' },
        { level: 'account', type: 'applyJSOnQueryFieldValue', properties: { toVendor: null } },
        { level: 'account', type: 'inherit' },
        { level: 'account', type: 'passThrough', properties: NOTHING_PASSES },
      ],
      elementKey: 'keap',
      fields: [
        {
          configuration: ANSWERS_ONLY,
          level: 'organization',
          path: 'changed',
          type: 'string',
          vendorPath: 'update_time',
          vendorType: 'date',
        },
        { level: 'organization', path: 'name.first', type: 'string', vendorPath: 'given_name', vendorType: 'string' },
        { level: 'organization', path: 'name.last', type: 'string', vendorPath: 'family_name', vendorType: 'string' },
        { level: 'account', path: 'tags[*]', type: 'string', vendorPath: 'tag_ids[*]', vendorType: 'string' },
      ],
      isLegacy: false,
      objectName: 'ExportedPerson',
      script: { ...ofScript, body: SCRIPT },
      scripts: [{ ...ofScript, body: SCRIPT }],
      vendorName: 'contacts',
    },
  },
};

const TICKET = {
  vdrName: 'exported_ticket',
  vdrVersion: 'v2',
  definition: {
    ...SHARED,
    objectName: 'exported_ticket',
    fields: [{ displayName: '', level: 'organization', path: 'subject', type: 'string' }],
  },
  transformation: Object.fromEntries(
    Object.entries({ redmine: 'issues', keap: 'tasks' }).map(([elementKey, vendorName]) => [
      elementKey,
      {
        configuration: [
          { level: 'organization', type: 'addToDocumentation' },
          { level: 'organization', type: 'inherit' },
          { level: 'organization', type: 'passThrough', properties: NOTHING_PASSES },
        ],
        elementKey,
        fields: [
          {
            level: 'organization',
            path: 'subject',
            type: 'string',
            vendorPath: elementKey === 'keap' ? 'title' : 'subject',
          },
        ],
        isLegacy: false,
        objectName: 'exported_ticket',
        vendorName,
      },
    ]),
  ),
};

interface File {
  readonly vdrName: string;
  readonly vdrVersion: string;
  readonly definition: { readonly objectName: string; readonly fields: readonly { readonly displayName: string }[] };
  readonly transformation: Readonly<Record<string, FileTransformation>>;
}

interface FileTransformation {
  readonly configuration: readonly { readonly type: string; readonly level: string }[];
  readonly script?: object;
  readonly scripts?: readonly object[];
}

/** Returns a file in the form that is exported here: without what has no meaning here. Scripts are at the level of the transformation. */
function inOurForm({ vdrName, vdrVersion, definition: { objectName, fields }, transformation }: File) {
  const entries = Object.entries(transformation).map(([key, one]) => {
    const { scripts: _, script, configuration, ...rest } = one;
    const kept = configuration.map((entry) =>
      entry.type === 'passThrough' ? entry : { type: entry.type, level: entry.level },
    );
    const level = kept[0]?.level;
    return [key, { ...rest, configuration: kept, ...(script !== undefined && { script: { ...script, level } }) }];
  });
  return {
    vdrName,
    vdrVersion,
    definition: {
      objectName,
      fields: fields.map(({ displayName, ...field }) => (displayName === '' ? field : { displayName, ...field })),
    },
    transformation: Object.fromEntries(entries),
  };
}

describe('files that other systems export', () => {
  const service = useApp();
  const tenants = useTenants(service);

  const send = (method: string, path: string, body?: unknown) => service.call(path, { method, body });
  const get = async (path: string) => ok(await service.call(path));
  const remove = (name: string) => service.call(`/common-resources/${name}?force=true`, { method: 'DELETE' });

  function ok(answer: ApiAnswer): ApiAnswer['body'] {
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  }

  afterEach(async () => {
    for (const { vdrName } of [PERSON, TICKET]) await remove(vdrName);
  });

  for (const file of [PERSON, TICKET])
    it(`export again what ${file.vdrName} imported`, async () => {
      ok(await send('PUT', '/vdrs/import', file));
      const exported = await get(`/vdrs/${file.vdrName}/export`);
      expect(exported).to.deep.equal(inOurForm(file));
      ok(await remove(file.vdrName));
      expectProblem(await service.call(`/vdrs/${file.vdrName}/export`), 'NOT_FOUND');
      // The file of this service is one as well.
      ok(await send('PUT', '/vdrs/import', exported));
      expect(await get(`/vdrs/${file.vdrName}/export`)).to.deep.equal(exported);
    });

  it('are the same where a client writes definitions and transformations one after the other, as new ones and as known ones', async () => {
    const { vdrName, definition, transformation } = PERSON;
    const ofDefinition = `/organizations/objects/${vdrName}/definitions`;
    expectProblem(await service.call('/organizations/objects/definitions'), 'NOT_FOUND');
    const ofTransformations = '/organizations/elements/keap/transformations';
    expect(await get(ofTransformations)).to.deep.equal({});
    for (const method of ['POST', 'PUT']) {
      ok(await send(method, ofDefinition, definition));
      ok(await send(method, `${ofTransformations}/${vdrName}`, transformation.keap));
      expect(await get(`/vdrs/${vdrName}/export`)).to.deep.equal(inOurForm(PERSON));
    }
    // Each level has its own fields, and the other accounts of the organization have those of the organization only.
    const paths = ({ fields }: ApiAnswer['body']) => fields.map(({ path }: { path: string }) => path);
    expect(paths(await get(ofDefinition))).to.deep.equal(['changed', 'name.first', 'name.last']);
    expect(paths(await get(`/accounts/objects/${vdrName}/definitions`))).to.deep.equal(['changed', 'tags[*]']);
    expect(paths(await get(`${ofTransformations}/${vdrName}`))).to.deep.equal(['changed', 'name.first', 'name.last']);
    const headers = authorizationOf(tenants.sibling);
    const ofSibling = await service.call(`/accounts/objects/${vdrName}/definitions`, { headers });
    expectProblem(ofSibling, 'NOT_FOUND');
    const ofInstance = { ...definition, fields: [{ level: 'instance', path: 'own', type: 'string' }] };
    expectProblem(await send('PUT', ofDefinition, ofInstance), 'REQUEST_INVALID');
  });

  it('run their scripts in both directions, with libraries and the parameter isWhere', async () => {
    ok(await send('PUT', '/vdrs/import', PERSON));
    const run = async (payload: object, method?: string) => {
      const answer = await send('POST', '/transformations/ExportedPerson/execute', {
        payload,
        elementKey: 'keap',
        method,
      });
      expect(answer.headers.get('elements-error')).to.equal(null);
      return ok(answer);
    };
    const contact = {
      given_name: 'Ada',
      family_name: 'Byron',
      update_time: '2026-02-03T04:05:06.000Z',
      tag_ids: [7, 8],
    };
    expect(await run(contact)).to.deep.equal({
      kind: 'PERSON',
      changed: '03.02.2026',
      name: { first: 'Ada', last: 'Byron' },
      tags: ['7', '8'],
    });
    expect(await run({ name: { first: 'Ada', last: 'Byron' } }, 'POST')).to.deep.equal({
      given_name: 'Ada',
      family_name: 'BYRON',
    });
  });

  it('have the script that was edited in a folder, or that only the list of scripts has', async () => {
    const edited = { ...ofScript, body: 'transformedObject.edited = true; done(transformedObject);' };
    const { keap } = PERSON.transformation;
    const inFolder = { ...PERSON, transformation: { keap: { ...keap, scripts: [edited] } } };
    ok(await send('PUT', '/vdrs/import', inFolder));
    const scriptOf = async () => (await get('/vdrs/ExportedPerson/export')).transformation.keap.script.body;
    expect(await scriptOf()).to.equal(edited.body);
    // The script alone has been edited: the list in the file is from before.
    const path = '/organizations/elements/keap/transformations/ExportedPerson';
    ok(await send('PUT', path, keap));
    expect(await scriptOf()).to.equal(SCRIPT);
    const lower = { ...edited, level: 'account', body: 'done(transformedObject);' };
    ok(await send('PUT', path, { ...keap, script: ofScript, scripts: [edited, lower] }));
    expect(await scriptOf()).to.equal(lower.body);
  });

  it('are listed by the names that they have, all at once', async () => {
    for (const file of [PERSON, TICKET]) ok(await send('PUT', '/vdrs/import', file));
    const names = (rows: ApiAnswer['body']) => rows.map(({ objectName }: { objectName: string }) => objectName);
    const all = await service.call('/vdrs');
    expect(names(ok(all))).to.deep.equal(['ExportedPerson', 'ExportedPerson', 'exported_ticket']);
    expect(all.headers.get('elements-next-page-token')).to.equal(null);
    // More than a page of other lists has.
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`many${index}`, { fields: [] }]));
    ok(await send('POST', '/organizations/objects/definitions', many));
    expect(names(await get('/vdrs'))).to.have.length(204);
    for (const name of Object.keys(many)) ok(await remove(name));
    const where = "objectName in ('exported_ticket','other')";
    expect(names(ok(await service.call('/vdrs', { query: { where } })))).to.deep.equal(['exported_ticket']);
    const first = await service.call('/vdrs', { query: { pageSize: 2 } });
    const nextPage = first.headers.get('elements-next-page-token') ?? '';
    expect(names(ok(await service.call('/vdrs', { query: { nextPage } })))).to.deep.equal(['exported_ticket']);
  });

  it('are deleted with all that uses them where the request says so', async () => {
    ok(await send('PUT', '/vdrs/import', PERSON));
    ok(await send('PUT', '/vdrs/import', TICKET));
    const headers = authorizationOf(tenants.sibling);
    const ofSibling = '/accounts/elements/keap/transformations/ExportedPerson';
    const body = { vendorName: 'contacts', fields: [{ path: 'name.first', vendorPath: 'given_name' }] };
    ok(await service.call(ofSibling, { method: 'POST', body, headers }));
    const unforced = await service.call('/common-resources/ExportedPerson', { method: 'DELETE' });
    expectProblem(unforced, 'CONFLICT', /^The definition 'ExportedPerson' is used by the transformations of keap/);
    ok(await remove('ExportedPerson'));
    expectProblem(await service.call(ofSibling, { headers }), 'NOT_FOUND');
    expect(Object.keys(await get('/organizations/elements/keap/transformations'))).to.deep.equal(['exported_ticket']);
    const strange = authorizationOf(tenants.stranger);
    const path = '/common-resources/exported_ticket?force=true';
    expectProblem(await service.call(path, { method: 'DELETE', headers: strange }), 'NOT_FOUND');
    expect((await get('/vdrs')).length).to.equal(1);
  });

  it('are refused as a whole where an element does not exist, with each of these elements', async () => {
    const { keap } = PERSON.transformation;
    const answer = await send('PUT', '/vdrs/import', { ...PERSON, transformation: { keap, acme: keap, other: keap } });
    expectProblem(answer, 'REQUEST_INVALID');
    expect(faultsOf(answer)).to.deep.equal({
      'body.transformation.acme':
        "body.transformation.acme cannot be imported, because there is no element 'acme'. Leave it out.",
      'body.transformation.other':
        "body.transformation.other cannot be imported, because there is no element 'other'. Leave it out.",
    });
    expectProblem(await service.call('/vdrs/ExportedPerson/export'), 'NOT_FOUND');
  });
});

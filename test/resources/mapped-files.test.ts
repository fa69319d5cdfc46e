import { expect } from 'chai';
import { type ObjectSpec, path } from '#connector';
import { isMappedObject } from '../../src/resources/mapped.ts';
import { inForceOf } from '../mappings/simulated.ts';
import { createService } from './fake-provider.ts';

const FILES: ObjectSpec = {
  fields: { id: { type: 'integer', nullable: false }, name: { type: 'string', createable: true } },
  list: { maxPageSize: 10, run: async () => ({ records: [] }) },
  get: { request: ({ id }) => ({ path: path`/files/${id}` }), read: ({ body }) => body },
  create: { request: ({ values }) => ({ method: 'POST', path: '/files', json: values }), read: ({ body }) => body },
  media: {
    types: ['application/pdf'],
    request: ({ id }) => ({ path: path`/files/${id}/content` }),
  },
  upload: {
    create: {
      request: () => ({ path: '/files', form: { parts: [], file: 'file' } }),
      read: () => ({ id: '1' }),
    },
  },
};

describe('the files of a mapped object', () => {
  const mapping = inForceOf({
    objectName: 'papers',
    vendorName: 'files',
    fields: [
      { path: 'key', vendorPath: 'id' },
      { path: 'title', vendorPath: 'name' },
    ],
  });
  const { instance, resources } = createService({ files: FILES }, undefined, {
    inForce: async () => ({ version: mapping.version, byName: new Map([['papers', mapping]]), unmapped: [] }),
    sandbox: { run: async () => [] },
  });
  const { signal } = new AbortController();
  const send = (objectName: string) =>
    resources
      .uploadRecord(
        { instance, objectName, signal },
        { values: {}, isText: true, file: { name: 'a.pdf', type: 'application/pdf' }, bytes: noBytes() },
      )
      .then(
        () => 'sent',
        (error: unknown) => error,
      );

  it('are got as those of the provider’s object, and sent to that one only', async () => {
    const object = await resources.getObject({ instance, objectName: 'papers', signal });
    expect(isMappedObject(object)).to.equal(true);
    expect(object.media).to.equal(FILES.media);
    expect(await send('papers')).to.include({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: "'papers' accepts no file here. Send the record as application/json.",
    });
    expect(Object(await send('files')).code).to.not.equal('UNSUPPORTED_MEDIA_TYPE');
  });
});

async function* noBytes(): AsyncGenerator<Buffer, void> {}

import { expect } from 'chai';
import { OPERATIONS } from '../../generated/operations.ts';
import type { ApiDocument, Operation } from '../../scripts/generate/api-document.ts';
import { addTokenForms } from '../../scripts/generate/token-forms.ts';
import { operationsOf, readDocument } from './document.ts';

const ENABLE: Operation = {
  operationId: 'enableInstance',
  tags: ['instances'],
  summary: 'Enable an instance',
  description: 'Takes calls again.\n\nAt once.\n',
  security: [{ UserOrganization: [] }],
  responses: { 200: { $ref: '#/components/responses/Instance' } },
  'x-causeway-scopes': ['platform'],
};

const ID = { $ref: '#/components/parameters/InstanceId' };
const OTHER = { $ref: '#/components/parameters/ConfigId' };

describe('the forms of paths by token', () => {
  const made = (path: string, item: ApiDocument['paths'][string]) =>
    addTokenForms({ paths: { [path]: item }, components: {} }).paths;

  it('are made of the operations that say so, without the id', () => {
    const put = { ...ENABLE, 'x-causeway-by-token': {} };
    const servers = { servers: [{ url: '/' }] };
    expect(made('/instances/{id}/enabled', { ...servers, parameters: [ID], put, delete: ENABLE })).to.deep.equal({
      '/instances/{id}/enabled': { ...servers, parameters: [ID], put: ENABLE, delete: ENABLE },
      '/instances/enabled': {
        put: {
          ...ENABLE,
          operationId: 'enableThisInstance',
          summary: 'Enable an instance, by token',
          description: 'Takes calls again. The instance is that of the `Element` token.\n\nAt once.\n',
          security: [{ UserElement: [] }],
          'x-causeway-scopes': ['instance'],
          'x-causeway-same-as': 'enableInstance',
          responses: { ...ENABLE.responses, 404: { $ref: '#/components/responses/NotFound' } },
        },
      },
    });
  });

  it('keep the other parameters of the path, and have what the operation says in place of its own members', () => {
    const get = { ...ENABLE, 'x-causeway-by-token': { summary: 'Another one' } };
    const paths = made('/instances/{id}/configuration/{configId}', { parameters: [ID, OTHER], get });
    const form = paths['/instances/configuration/{configId}'];
    expect(form?.parameters).to.deep.equal([OTHER]);
    expect(form?.get).to.include({ summary: 'Another one' }).and.not.to.have.property('x-causeway-by-token');
  });
});

describe('operations that do what another one does', () => {
  const operations = operationsOf(readDocument());
  const others = operations.flatMap(({ operation }) => operation['x-causeway-same-as'] ?? []);

  it('name it', () => {
    expect(others.length).to.be.above(15);
    expect(Object.keys(OPERATIONS)).to.include.members(others);
  });
});

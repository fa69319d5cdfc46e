import { expect } from 'chai';
import type { ApiDocument, Operation } from '../../scripts/generate/api-document.ts';
import { addHubForms } from '../../scripts/generate/hub-forms.ts';
import { componentName, operationsOf, readDocument } from './document.ts';

const LIST: Operation = {
  operationId: 'listRecords',
  tags: ['records'],
  summary: 'List records',
  description: 'The records of an object.\n\nIn the order asked for.\n',
  parameters: [{ $ref: '#/components/parameters/Where' }],
  responses: { 200: { $ref: '#/components/responses/RecordList' } },
  'x-causeway-scopes': ['record'],
};

const NAME = { $ref: '#/components/parameters/ObjectName' };
const HUB = { $ref: '#/components/parameters/Hub' };

describe('the forms of paths by hub', () => {
  const made = (operation: Operation) =>
    addHubForms(documentOf({ '/{objectName}': { parameters: [NAME], get: operation } }));

  it('are made of the paths of objects and records, and say so', () => {
    expect(made(LIST).paths).to.deep.equal({
      '/{objectName}': { parameters: [NAME], get: LIST },
      '/hubs/{hub}/{objectName}': {
        parameters: [HUB, NAME],
        get: {
          ...LIST,
          operationId: 'listHubRecords',
          summary: 'List records, by hub',
          description:
            'The records of an object. Answers only when the element is in this hub.\n\nIn the order asked for.\n',
          'x-causeway-scopes': ['instance'],
        },
      },
    });
  });

  it('have in place of a member what the operation says, which neither shows', () => {
    const { paths } = made({ ...LIST, 'x-causeway-by-hub': { description: 'As `GET /{objectName}`.' } });
    expect(paths['/{objectName}']?.get).to.deep.equal(LIST);
    expect(paths['/hubs/{hub}/{objectName}']?.get).to.deep.include({ description: 'As `GET /{objectName}`.' });
    expect(paths['/hubs/{hub}/{objectName}']?.get).not.to.have.property('x-causeway-by-hub');
  });

  it('are not made of the paths of the platform', () => {
    const paths = { '/accounts': { get: { ...LIST, tags: ['accounts'] } } };
    expect(addHubForms(documentOf(paths)).paths).to.deep.equal(paths);
  });

  it('are in the document for every operation on objects, records and bulk jobs, with the same answers and parameters', () => {
    const operations = operationsOf(readDocument());
    const forms = operations.filter(({ place }) => /\/hubs\/\{hub\}\//.test(place));
    const plain = operations.filter(
      ({ place, operation }) => !/\/hubs\//.test(place) && /^(bulk|objects|records)$/.test(operation.tags.join()),
    );
    expect(forms.map(({ place }) => place.replace('/hubs/{hub}', ''))).to.have.members(plain.map(({ place }) => place));
    for (const { place, operation } of plain) {
      const form = forms.find((each) => each.place === place.replace(' /', ' /hubs/{hub}/'));
      expect(successOf(form?.operation), place).to.equal(successOf(operation));
      expect(form?.operation.responses, place).to.include.all.keys(...Object.keys(operation.responses), '404');
    }
  });
});

function documentOf(paths: ApiDocument['paths']): ApiDocument {
  return { paths, components: {} };
}

function successOf(operation: { readonly responses: Operation['responses'] } | undefined): string {
  return componentName(operation?.responses['200']?.$ref ?? '');
}

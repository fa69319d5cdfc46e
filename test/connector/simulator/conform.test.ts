import { expect } from 'chai';
import { createConform, nestedValues } from '#connector/simulator';

const SCHEMAS = {
  Person: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, age: { type: 'integer' } } },
  Place: {
    type: 'object',
    required: ['id', 'name', 'url', 'kind', 'isOpen', 'owner', 'tags', 'note'],
    properties: {
      id: { type: 'integer' },
      name: { type: 'string' },
      url: { type: 'string', format: 'uri' },
      kind: { type: 'string', enum: ['shop', 'home'] },
      isOpen: { type: 'boolean' },
      owner: { $ref: '#/schemas/Person' },
      tags: { type: 'array', items: { oneOf: [{ type: 'string' }, { $ref: '#/schemas/Person' }] } },
      note: { type: ['string', 'null'] },
      closed: { type: 'string' },
      keeper: { anyOf: [{ $ref: '#/schemas/Person' }, { type: 'null' }] },
    },
  },
};

describe('a record in the form of a schema', () => {
  const conform = createConform({ schemas: SCHEMAS }, { textOf: (name, { format }) => `${format ?? 'text'} ${name}` });

  it('has what the schema requires, also inside', () => {
    expect(conform({}, 'Place')).to.deep.equal({
      ...{ id: 0, name: 'text name', url: 'uri url', kind: 'shop', isOpen: false },
      ...{ owner: { name: 'text name' }, tags: [], note: null },
    });
  });

  it('keeps its values, and loses members that the schema does not name', () => {
    const place = {
      id: 7,
      name: '',
      url: 'x',
      kind: 'home',
      isOpen: true,
      note: 'n',
      closed: null,
      keeper: null,
      extra: 1,
    };
    const owner = { name: 'Zoë', age: 3, extra: 1 };
    const tags = ['a', { name: 'b', extra: 1 }];
    expect(conform({ ...place, owner, tags }, 'Place')).to.deep.equal({
      ...{ id: 7, name: '', url: 'x', kind: 'home', isOpen: true, note: 'n', keeper: null },
      ...{ owner: { name: 'Zoë', age: 3 }, tags: ['a', { name: 'b' }] },
    });
  });

  it('keeps values of another type, or replaces them like missing ones', () => {
    const person = { name: 3, age: 'old' };
    const strict = createConform({ schemas: SCHEMAS }, { replacesWrong: true });
    expect(conform(person, 'Person')).to.deep.equal(person);
    expect(strict(person, 'Person')).to.deep.equal({ name: '', age: 0 });
    expect(strict({ kind: 'castle', isOpen: 1 }, 'Place')).to.include({ kind: 'shop', isOpen: false });
  });

  it('keeps what the schema of an open object does not name', () => {
    const open = createConform({ schemas: { Bag: { ...SCHEMAS.Person, additionalProperties: { type: 'string' } } } });
    expect(open({ name: 'a', color: 'red' }, 'Bag')).to.deep.equal({ name: 'a', color: 'red' });
  });

  it('has no unknown schema', () => {
    expect(() => conform({}, 'Nothing')).to.throw("The official description has no schema 'Nothing'.");
  });
});

describe('the values of a query', () => {
  it('are lists where the description has lists, with commas or repeated', () => {
    const query = new URLSearchParams('ids=a,b&ids=c&text=a,b');
    const values = nestedValues(query, { ids: { type: 'array' }, text: { type: 'string' } });
    expect(values).to.deep.equal({ ids: ['a', 'b', 'c'], text: 'a,b' });
  });
});

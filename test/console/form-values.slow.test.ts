import { expect } from 'chai';
import {
  changesOf,
  choicesOf,
  defaultsOf,
  type Field,
  faultOf,
  groupFields,
  MASK,
  valuesOf,
} from '../../console/instances/form-values.ts';

const field = (given: Partial<Field>): Field => ({
  key: 'key',
  name: 'Key',
  type: 'string',
  required: false,
  secret: false,
  description: '',
  setup: [],
  ...given,
});

describe('the values of a form of the console', () => {
  it('are chosen of few words where the pattern is one', () => {
    const choices = (pattern: string) => choicesOf(field({ pattern }));
    expect(choices('^(?:na|eu|au|staging)$')).to.deep.equal(['na', 'eu', 'au', 'staging']);
    expect(choices('polling|webhook')).to.deep.equal(['polling', 'webhook']);
    for (const pattern of ['oauth2', '^\\d{1,32}$', '^[A-Z0-9]{13}$', '^a|b?$'])
      expect(choices(pattern), pattern).to.equal(undefined);
  });

  it('must fit the whole pattern, and their type', () => {
    expect(faultOf(field({ pattern: 'a|b' }), 'ab')).to.equal('This value does not have the required form.');
    expect(faultOf(field({ pattern: 'a|b', example: 'b' }), 'c')).to.equal('Enter a value such as b');
    expect(faultOf(field({ pattern: 'a|b' }), 'b')).to.equal(undefined);
    expect(faultOf(field({ pattern: 'a', secret: true }), MASK)).to.equal(undefined);
    expect(faultOf(field({ required: true }), '')).to.equal('Fill in this field.');
    expect(faultOf(field({ type: 'url' }), 'javascript:alert(1)')).to.match(/^Enter an address/);
    expect(faultOf(field({ type: 'url' }), 'https://a.example')).to.equal(undefined);
    expect(faultOf(field({ type: 'number' }), '1e')).to.equal('Enter a number.');
    expect(faultOf(field({ type: 'object' }), '[]')).to.equal('Enter a JSON object.');
    expect(faultOf(field({ type: 'object' }), '{"a":1}')).to.equal(undefined);
  });

  it('are grouped: what is needed with what stands before it, the rest, and events', () => {
    const fields = [
      field({ key: 'code' }),
      field({ key: 'secret', required: true }),
      field({ key: 'token' }),
      field({ key: 'simulator', type: 'boolean' }),
      field({ key: 'event.objects' }),
    ];
    const { needed, more, events } = groupFields(fields, false);
    expect([needed, more, events].map((group) => group.map(({ key }) => key))).to.deep.equal([
      ['code', 'secret'],
      ['token'],
      ['event.objects'],
    ]);
  });

  it('are told where they are others than before, a box that was unchecked and a text that was emptied too', () => {
    const before = defaultsOf([
      field({ key: 'on', type: 'boolean', default: true }),
      field({ key: 'version', default: 62 }),
    ]);
    expect(before).to.deep.equal({ on: true, version: '62' });
    expect(changesOf({ ...before, text: '', off: false }, before)).to.deep.equal({});
    expect(changesOf({ on: false, version: '', text: 'x' }, before)).to.deep.equal({
      on: false,
      version: '',
      text: 'x',
    });
    expect(valuesOf({ object: { a: 1 } })).to.deep.equal({ object: '{\n  "a": 1\n}' });
  });
});

import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { readDocument } from './document.ts';

interface Example {
  /** JSON pointer of the thing that has the example and, in `schema`, of the schema it must fit. */
  readonly place: string;
  readonly schema: string;
  readonly value: unknown;
}

const document = readDocument();
const ajv = new Ajv({ strict: false, allErrors: true }).addSchema(document, 'api');
formats.default(ajv);

describe('the examples of the spec', () => {
  const examples = findExamples(document, '');

  it('are many', () => {
    expect(examples).to.have.length.above(100);
  });

  it('fit their schemas, by a validator that is not ours', () => {
    for (const { place, schema, value } of examples) {
      ajv.validate({ $ref: `api#${schema}` }, value);
      expect(ajv.errorsText(), place).to.equal('No errors');
    }
  });

  it('are seen to be wrong when they are', () => {
    expect(ajv.validate({ $ref: 'api#/components/schemas/Hub' }, { key: 'crm' })).to.equal(false);
  });
});

/** Every `example` or `examples` beside a `schema`, and every `example` in a schema of its own. */
function findExamples(node: unknown, place: string): readonly Example[] {
  if (typeof node !== 'object' || node === null || place === '/components/examples') return [];
  const below = Object.entries(node).flatMap(([key, child]) => findExamples(child, `${place}/${escapePointer(key)}`));
  return [...examplesOf(node, place), ...below];
}

function examplesOf(node: object, place: string): readonly Example[] {
  if ('schema' in node) return valuesOf(node).map((value) => ({ place, schema: `${place}/schema`, value }));
  const isSchema = /^\/components\/schemas\/\w+$/.test(place);
  return isSchema && 'example' in node ? [{ place, schema: place, value: node.example }] : [];
}

function valuesOf(node: object): readonly unknown[] {
  const single = 'example' in node ? [node.example] : [];
  const several = 'examples' in node && typeof node.examples === 'object' ? Object.values(node.examples ?? {}) : [];
  return [...single, ...several.map(valueOfExample)];
}

function valueOfExample(example: { readonly $ref?: string; readonly value?: unknown }): unknown {
  if (example.$ref === undefined) return example.value;
  const name = example.$ref.split('/').at(-1) ?? '';
  const found = document.components.examples[name];
  expect(found, example.$ref).not.to.equal(undefined);
  return found?.value;
}

function escapePointer(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}

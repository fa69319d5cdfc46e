import { expect } from 'chai';
import { defineObject, type FieldSpec, type Input, type Inputs, inputs } from '../../../src/connector/index.ts';
import { print } from '../../../src/where/print.ts';
import { prepareQuery } from '../../../src/where/query.ts';

const RANGE = { '=': 'exact', '<': 'exact', '<=': 'exact', '>': 'exact', '>=': 'exact' } as const;

const FIELDS: Readonly<Record<string, FieldSpec>> = {
  status: { type: 'string', filter: { '=': 'exact', IN: 'exact' } },
  day: { type: 'date', filter: { '=': 'exact', '<=': 'exact', '>=': 'exact' }, domain: { step: 'day' } },
  at: { type: 'datetime', filter: RANGE },
  amount: { type: 'number', filter: RANGE },
  name: { type: 'string', native: 'customer.name', filter: { '=': 'exact', '!=': 'exact' }, nullable: false },
};

const TABLE: Readonly<Record<string, Input>> = {
  status: 'state',
  day: { from: 'since', to: 'until' },
  at: { by: { '=': 'at', '<': 'at[lt]', '<=': 'at[lte]', '>': 'at[gt]', '>=': 'at[gte]' } },
  amount: { by: { '=': 'amount', '<': 'below', '<=': 'max', '>': 'above', '>=': 'min' } },
  name: { repeated: 'filter', text: (native, operator, value) => `${native}${operator}${value}` },
};

function planOf(where: string, translator = inputs(TABLE)) {
  const object = defineObject<Inputs>({ fields: FIELDS, translator, shape: { kind: 'and' } });
  const { native, residual, queries } = prepareQuery({ where }, object).plan;
  return { native, residual: residual && print(residual), calls: queries.length };
}

describe('a filter of query parameters', () => {
  for (const [where, native] of [
    ["status = 'open'", { state: 'open' }],
    ["status IN ('open', 'closed')", { state: 'open,closed' }],
    ['day = 2026-01-31', { since: '2026-01-31', until: '2026-01-31' }],
    // A day is a step, so that inclusive bounds say strict ones as well.
    ['day > 2026-01-31 AND day < 2026-03-01', { since: '2026-02-01', until: '2026-02-28' }],
    [
      'at > 2026-01-31 AND at <= 2026-02-01T12:00:00Z',
      { 'at[gt]': '2026-01-31T00:00:00Z', 'at[lte]': '2026-02-01T12:00:00Z' },
    ],
    ["name = 'a' AND name != 'b' AND status = 'x'", { filter: ['customer.name=a', 'customer.name!=b'], state: 'x' }],
  ] as const) {
    it(`is set from its table: ${where}`, () => {
      expect(planOf(where)).to.deep.equal({ native, residual: undefined, calls: 1 });
    });
  }

  it('takes the narrower of two bounds, numbers by their value and instants by theirs', () => {
    expect(planOf('amount >= 9 AND amount >= 10 AND amount < 10 AND amount < 9').native).to.deep.equal({
      min: '10',
      below: '9',
    });
    expect(planOf('at >= 2026-01-31T00:00:00Z AND at >= 2026-01-31T00:00:00.5Z').native).to.deep.equal({
      'at[gte]': '2026-01-31T00:00:00.5Z',
    });
  });

  it('leaves the second of two wants for one parameter to be checked here', () => {
    const both = planOf('amount = 1 AND amount = 2');
    expect(both).to.deep.equal({ native: { amount: '1' }, residual: 'amount = 2', calls: 1 });
    const lists = planOf("status IN ('a', 'b') AND status = 'b'");
    expect(lists).to.deep.equal({ native: { state: 'b' }, residual: "status IN ('a', 'b')", calls: 1 });
    expect(planOf("status IN ('a', 'b') AND status IN ('a', 'b')").residual).to.equal(undefined);
  });

  it('writes values and lists as the provider has them', () => {
    const translator = inputs(TABLE, ';', {
      text: (value) =>
        value.kind === 'datetime' ? String(value.epochMs) : 'value' in value ? String(value.value) : value.text,
    });
    expect(planOf('at >= 2026-01-31', translator).native).to.deep.equal({ 'at[gte]': '1769817600000' });
    expect(planOf("status IN ('a', 'b')", translator).native).to.deep.equal({ state: 'a;b' });
  });

  it('refuses an operator that a field declares and the table lacks', () => {
    expect(() => planOf("name = 'x'", inputs({ status: 'state' }))).to.throw(
      "The field 'name' declares =, but has no query parameter for it.",
    );
    expect(() => planOf('day >= 2026-01-31', inputs({ day: 'day' }))).to.throw(
      "The field 'day' declares >=, but has no query parameter for it.",
    );
  });
});

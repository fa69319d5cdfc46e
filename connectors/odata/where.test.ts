import { expect } from 'chai';
import type { Config, ObjectSpec } from '#connector';
import { parseODataFilter } from '#connector/simulator';
import { discoverAll, fieldOf } from '#connector/testing';
import { prepareQuery } from '../../src/where/query.ts';
import { literalOf } from './literals.ts';
import { discoverObjects } from './objects.ts';
import { METADATA } from './simulator/schema.ts';
import { translator } from './where.ts';

async function discoverProducts(config: Config = {}): Promise<ObjectSpec> {
  const { Products } = await discoverAll(discoverObjects, {
    config,
    signal: new AbortController().signal,
    send: async () => ({ status: 200, headers: {}, body: METADATA }),
  });
  if (Products === undefined) throw new Error('There are no products.');
  return Products;
}

type Case = readonly [where: string, filter: string];

const PRECISE: readonly Case[] = [
  ['Stock = 5', 'Stock eq 5'],
  ['Stock != 5', '(Stock ne null and Stock ne 5)'],
  ['Id != 5', 'Id ne 5'],
  ['Stock in (1, 2)', '(Stock eq 1 or Stock eq 2)'],
  ['Stock not in (1, 2)', '(Stock ne null and Stock ne 1 and Stock ne 2)'],
  ['Stock in (1)', 'Stock eq 1'],
  ['Stock is null', 'Stock eq null'],
  ['Stock is not null', 'Stock ne null'],
  ['Stock > 32767', 'Stock gt 32767'],
  ['Stock < 32768', 'Stock ne null'],
  ['Price < 12.50', 'Price lt 12.5'],
  ['Price >= 1.2345678901234567', 'Price gt 1.23456789012345'],
  ['Price <= -1.2345678901234567', 'Price le -1.23456789012346'],
  ['Views = 9223372036854775807', 'Views eq 9223372036854775807'],
  ['ReleasedOn <= 2026-01-31', 'ReleasedOn le 2026-01-31'],
  ['ChangedAt > 2026-01-31T08:30:00+02:00', 'ChangedAt gt 2026-01-31T06:30:00Z'],
  ['ChangedAt > 2026-01-31', 'ChangedAt gt 2026-01-31T00:00:00Z'],
  ['Active = true', 'Active eq true'],
  ["Category = 'Book'", "Category eq Demo.Category'Book'"],
  ['Package.Height > 1', 'Package/Height gt 1'],
  ['Stock = 1 and Price = 2 or Active = true', '((Stock eq 1 and Price eq 2) or Active eq true)'],
  ['Stock = 1 and (Price = 2 or Active = true)', '(Stock eq 1 and (Price eq 2 or Active eq true))'],
  ['not (Stock = 1 or Price < 2)', '(Stock ne null and Stock ne 1 and Price ge 2)'],
];

const WIDENED: readonly Case[] = [
  ['Weight < 1.5', 'Weight le 1.50000000000001'],
  ['Weight <= 1.5', 'Weight le 1.50000000000001'],
  ['Weight > 1.5', 'Weight ge 1.49999999999999'],
  ['Weight >= -1.5', 'Weight ge -1.50000000000001'],
  ['Weight = 1.5', '(Weight ge 1.49999999999999 and Weight le 1.50000000000001)'],
  ['Weight = 123456789012345.7', '(Weight ge 123456789012344 and Weight le 123456789012347)'],
  ['Weight != 1.5', 'Weight ne null'],
  ["Name = 'it''s'", "Name eq 'it''s'"],
  ["Name != 'x'", 'Name ne null'],
  ["Name not in ('x', 'y')", 'Name ne null'],
  ["Name like 'a%'", "startswith(Name,'a')"],
  ["Name like '%a'", "endswith(Name,'a')"],
  ["Name like '%a%'", "contains(Name,'a')"],
  ["Name like 'a'", "Name eq 'a'"],
  ["Name like '%a_c%'", "contains(Name,'a')"],
  ["Name like 'a\\\\bcd%'", "contains(Name,'bcd')"],
  ["Name like 'abc\\\\d'", "Name eq 'abc\\d'"],
  ["Description like '%x%'", "(Description ne null and contains(Description,'x'))"],
  ["Description = '2024-01-01T00:00:00Z'", "(Description ne null and startswith(Description,'2024-01-01'))"],
  ["Name not like '%a%'", 'Name ne null'],
  ["Name = '2024-01-01T00:00:00Z'", "startswith(Name,'2024-01-01')"],
  ["Name like '%2024-01-01T00:00:00Z'", "contains(Name,'2024-01-01')"],
];

const LITERAL_TEXT: readonly Case[] = [
  ["Name = 'x'", "Name eq 'x'"],
  ["Name != 'x'", "Name ne 'x'"],
  ["Description != 'x'", "(Description ne null and Description ne 'x')"],
  ["Description not like '%x%'", "(Description ne null and not contains(Description,'x'))"],
  ["Description like 'x%'", "(Description ne null and startswith(Description,'x'))"],
];

/** Conditions with backslashes, whatever the service's comparison of text is. */
const BACKSLASHES: readonly Case[] = [
  ["Name like '%back\\\\slash'", "contains(Name,'slash')"],
  ["Name like 'longer\\\\x%'", "contains(Name,'longer')"],
];

describe('OData $filter', () => {
  const groups: readonly (readonly [string, readonly Case[], Config, 'full' | 'partial'])[] = [
    ['precisely', PRECISE, {}, 'full'],
    ['widely', WIDENED, {}, 'partial'],
    ['precisely, text being compared literally,', LITERAL_TEXT, { 'text.binary': true }, 'full'],
    ['widely, text being compared literally,', BACKSLASHES, { 'text.binary': true }, 'partial'],
  ];
  for (const [how, cases, config, pushdown] of groups) {
    for (const [where, filter] of cases) {
      it(`says ${where} ${how} as ${filter}`, async () => {
        const { plan } = prepareQuery({ where }, await discoverProducts(config));
        expect(plan.native).to.equal(filter);
        expect(plan.pushdown).to.equal(pushdown);
        expect(() => parseODataFilter(filter)).to.not.throw();
      });
    }
  }

  for (const where of ['Stock > 32768', 'Price = 1.2345678901234567', "Category = 'No such member'"]) {
    it(`answers ${where} without the service`, async () => {
      const { plan } = prepareQuery({ where }, await discoverProducts());
      expect([plan.holds, plan.queries]).to.deep.equal(['never', []]);
    });
  }

  for (const where of ["Name < 'x'", "OpensAt = '08:30:00'"]) {
    it(`does not say ${where}`, async () => {
      expect(prepareQuery({ where }, await discoverProducts()).plan.pushdown).to.equal('none');
    });
  }

  it('says what falls between two milliseconds to a service that knows no finer', async () => {
    const changedAt = fieldOf(await discoverProducts(), 'ChangedAt');
    const value = {
      kind: 'datetime',
      text: '2026-01-31T08:30:00.1234Z',
      epochMs: 1769848200123,
      nanos: 400_000,
    } as const;
    const says = (operator: '<' | '>=') => translator.compare?.(changedAt, operator, value);
    expect(says('<')).to.equal('(ChangedAt lt 2026-01-31T08:30:00.1234Z or ChangedAt eq 2026-01-31T08:30:00.123Z)');
    expect(says('>=')).to.equal('(ChangedAt ge 2026-01-31T08:30:00.1234Z and ChangedAt ne 2026-01-31T08:30:00.123Z)');
  });

  it('never lets a value become syntax', () => {
    for (const text of ['1) or (1 eq 1', '1 or true', 'null', "x'y", '08:30:00 or true', '']) {
      for (const type of ['Edm.Int32', 'Edm.Guid', 'Edm.Date', 'Edm.Boolean', 'Edm.DateTimeOffset', 'Edm.Duration']) {
        expect(literalOf(type, text), `${type} ${text}`).to.equal(undefined);
      }
    }
    expect(literalOf('S.Hue', "Red' or true or S.Hue'Red")).to.equal(undefined);
    expect(literalOf('Edm.String', "a' or 'b")).to.equal("'a'' or ''b'");
  });
});

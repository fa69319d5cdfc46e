import { expect } from 'chai';
import type { SqlQueryable } from '../../src/where/index.ts';
import { prepareSql } from '../../src/where/query.ts';
import { toSql } from '../../src/where/sql.ts';
import { faultOf } from './faults.ts';
import { conditionOf } from './people.ts';

const TABLE: SqlQueryable = {
  fields: {
    name: { type: 'string' },
    title: { type: 'string', collation: 'ci' },
    'config.url': { type: 'string' },
    count: { type: 'integer' },
    price: { type: 'number' },
    active: { type: 'boolean' },
    born: { type: 'date' },
    created: { type: 'datetime' },
  },
  columns: {
    name: 'name',
    title: 'title',
    'config.url': "t.config->>'url'",
    count: 'count',
    price: 'price',
    active: 'active',
    born: 'born',
    created: 'created_at',
  },
};

const ALL = '(created_at) is not null';

describe('a filter as SQL', () => {
  for (const [where, sql, bindings] of [
    ["name = 'x'", '(name) collate "C" = ?::text', ['x']],
    ["`config.url` != 'x'", '(t.config->>\'url\') collate "C" != ?::text', ['x']],
    ["title = 'xY1'", 'translate((title), ?::text, ?::text) collate "C" = ?::text', ['XY', 'xy', 'xy1']],
    ["title = '1'", '(title) collate "C" = ?::text', ['1']],
    [
      "title IN ('a', 'B')",
      'translate((title), ?::text, ?::text) collate "C" = any(?::text[])',
      ['AB', 'ab', ['a', 'b']],
    ],
    ['count >= 5', '(count) >= ?::bigint', ['5']],
    ['count >= 99999999999999999999', '(count) >= ?::numeric', ['99999999999999999999']],
    ['count IN (1, 99999999999999999999)', '(count) = any(?::numeric[])', [['1', '99999999999999999999']]],
    ['count NOT IN (1, 2)', '(count) <> all(?::bigint[])', [['1', '2']]],
    ['price < 0.1', '(price) < ?::numeric', ['0.1']],
    ['active = TRUE', '(active) = ?::boolean', ['true']],
    ['born = 2024-02-29', '(born) = ?::date', ['2024-02-29']],
    ['born < 0000-02-29', '(born) < ?::date', ['0001-02-29 BC']],
    ['created = 2026-01-31T08:30:00.5+02:00', '(created_at) = ?::timestamptz', ['2026-01-31 06:30:00.5+00']],
    ['created >= 0000-01-01', '(created_at) >= ?::timestamptz', ['0001-01-01 00:00:00+00 BC']],
    ["name LIKE '50\\%%'", '(name) collate "C" like ?::text escape \'\\\'', ['50\\%%']],
    ["name NOT LIKE 'a\\'", '(name) collate "C" not like ?::text escape \'\\\'', ['a\\\\']],
    [
      "title LIKE 'É_'",
      'translate((title), ?::text, ?::text) collate "C" like ?::text escape \'\\\'',
      ['É', 'é', 'é_'],
    ],
    ['name IS NULL', '(name) is null', []],
    ['name IS NOT NULL', '(name) is not null', []],
    [
      "count = 1 AND (name = 'a' OR price > 2)",
      '((count) = ?::bigint and ((name) collate "C" = ?::text or (price) > ?::numeric))',
      ['1', 'a', '2'],
    ],
    ['NOT (count = 1 OR price > 2)', '((count) != ?::bigint and (price) <= ?::numeric)', ['1', '2']],
    // Finer than a timestamptz can be.
    ['created = 2026-01-31T00:00:00.0000001Z', 'false', []],
    ['created != 2026-01-31T00:00:00.0000001Z', ALL, []],
    ['created < 2026-01-31T00:00:00.0000001Z', '(created_at) <= ?::timestamptz', ['2026-01-31 00:00:00.000000+00']],
    ['created >= 2026-01-31T00:00:00.0000001Z', '(created_at) > ?::timestamptz', ['2026-01-31 00:00:00.000000+00']],
    ['created IN (2026-01-31T00:00:00.0000001Z)', 'false', []],
    ['created NOT IN (2026-01-31T00:00:00.0000001Z, 2026-01-31T00:00:00.0000002Z)', ALL, []],
    // PostgreSQL's text cannot have a NUL.
    ["name = 'a\0b'", 'false', []],
    ["name != 'a\0b'", '(name) is not null', []],
    ["name <= 'a\0b'", '(name) collate "C" <= ?::text', ['a']],
    ["name > 'a\0b'", '(name) collate "C" > ?::text', ['a']],
    ["name IN ('a\0b', 'c')", '(name) collate "C" = any(?::text[])', [['c']]],
    ["name LIKE 'a\0%'", 'false', []],
    ["name NOT LIKE 'a\0%'", '(name) is not null', []],
  ] as const) {
    it(JSON.stringify(where), () => {
      expect(prepareSql(where, TABLE)).to.deep.equal({ sql, bindings });
    });
  }

  it('orders text without cases by the whole folding, and by lower where all is ASCII', () => {
    const { sql, bindings = [] } = prepareSql("title < 'B'", TABLE) ?? {};
    expect(sql).to.equal(
      'case when octet_length((title)) = length((title)) then lower((title) collate "C") else ' +
        'translate((title), ?::text, ?::text) end collate "C" < ?::text',
    );
    expect(bindings).to.have.length(3);
    expect(bindings[2]).to.equal('b');
  });

  it('has as many question marks as bindings, whatever the values', () => {
    const where = "name = '?' AND name LIKE '%??%' OR `config.url` IN ('?', '\\?', ':a', '$1')";
    const { sql = '', bindings = [] } = prepareSql(where, TABLE) ?? {};
    expect(sql.match(/\?/g)).to.have.length(bindings.length);
  });

  it('keeps every value out of the text', () => {
    const hostile = ["'; drop table x; --", '\\', '"', '{}', '$$', "\\'"];
    for (const value of hostile) {
      const { sql } = prepareSql(`name = '${value.replaceAll("'", "''")}'`, TABLE) ?? {};
      expect(sql).to.equal('(name) collate "C" = ?::text');
    }
  });

  it('refuses what any filter refuses', () => {
    expect(faultOf(() => prepareSql('nam = 1', TABLE), 'WHERE_INVALID').message).to.equal(
      "Unknown field 'nam'. Did you mean 'name'?",
    );
    expect(faultOf(() => prepareSql('name =', TABLE), 'WHERE_SYNTAX').message).to.contain('Expected a value');
  });

  it('is undefined for parameters alone', () => {
    const withParameter: SqlQueryable = { ...TABLE, parameters: { q: { type: 'string', description: 'Searches.' } } };
    expect(prepareSql("q = 'x'", withParameter)).to.equal(undefined);
  });

  it('fails for a field without a column: that is a fault of ours', () => {
    expect(() => toSql(conditionOf("name = 'x'"), {})).to.throw("The field 'name' has no column.");
    const fields: SqlQueryable['fields'] = { constructor: { type: 'string' as const } };
    const inherited = conditionOf("constructor = 'x'", { fields });
    expect(() => toSql(inherited, {})).to.throw("The field 'constructor' has no column.");
  });
});

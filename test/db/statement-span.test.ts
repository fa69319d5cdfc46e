import { expect } from 'chai';
import { describeStatement } from '../../src/db/statement-span.ts';

describe('the span of a statement', () => {
  const cases: readonly (readonly [sql: string, name: string, collection?: string])[] = [
    ['select "id" from "instance" where "id" = $1', 'SELECT instance', 'instance'],
    ['select extract(epoch from expires_at) from oauth_token', 'SELECT oauth_token', 'oauth_token'],
    ['insert into event (id) select id from other', 'INSERT event', 'event'],
    ['update delivery d set due = (select now() from other)', 'UPDATE delivery', 'delivery'],
    ['delete from "poll_seen"', 'DELETE poll_seen', 'poll_seen'],
    ['with gone as (delete from delivery returning id) insert into history select id from gone', 'INSERT'],
    ['\n  with recursive hop as (select 1) select * from hop', 'SELECT'],
    ['BEGIN;', 'BEGIN'],
    ['select pg_notify($1, $2)', 'SELECT'],
    ['', 'postgresql'],
  ];
  for (const [sql, name, collection] of cases) {
    it(`is ${name} for ${JSON.stringify(sql)}`, () => {
      const described = describeStatement({}, { sql });
      expect(described.name).to.equal(name);
      expect(described.attributes['db.collection.name']).to.equal(collection);
      expect(described.attributes['db.query.text']).to.equal(sql);
    });
  }

  it('has the name of a statement that has one, and where it went', () => {
    const connection = { host: 'db.internal', port: 5432, database: 'causeway' };
    const query = { sql: 'with fresh as (select $1) select 1', options: { name: 'accept-events' } };
    const { name, attributes } = describeStatement(connection, query);
    expect(name).to.equal('accept-events');
    expect(attributes).to.include({
      'db.query.summary': 'accept-events',
      'db.namespace': 'causeway',
      'server.address': 'db.internal',
      'server.port': 5432,
    });
  });
});

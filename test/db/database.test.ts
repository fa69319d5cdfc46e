import { expect } from 'chai';
import { openDatabase } from '../../src/db/database.ts';
import { DatabaseUnavailableError } from '../../src/db/unavailable.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { anyFailureOf } from '../support/failures.ts';

describe('openDatabase', () => {
  const database = useDatabase({ migrated: false });

  async function select(expression: string): Promise<unknown> {
    const { rows } = await database.knex.raw(`select ${expression} as value`);
    return rows[0].value;
  }

  it('reads a bigint as a number', async () => {
    expect(await select('9007199254740991::bigint')).to.equal(Number.MAX_SAFE_INTEGER);
    expect(await select('(-42)::bigint')).to.equal(-42);
  });

  it('refuses a bigint that a JSON integer cannot carry', async () => {
    const error = await anyFailureOf(select('9007199254740992::bigint'));
    expect(error).to.be.instanceOf(RangeError);
    expect(String(error)).to.contain('The bigint 9007199254740992 is beyond the integers JSON can carry');
  });

  it('reads an array of bigints as numbers', async () => {
    expect(await select("'{1,NULL,-3}'::bigint[]")).to.deep.equal([1, null, -3]);
    expect(await select("'{}'::bigint[]")).to.deep.equal([]);
  });

  it('reads a timestamptz as the same instant, whatever zone it was written in', async () => {
    const value = await select("'2026-03-01T12:00:00.123+05:30'::timestamptz");
    expect(value).to.be.instanceOf(Date);
    expect(value).to.deep.equal(new Date('2026-03-01T06:30:00.123Z'));
  });

  it('reads a date as text, since a calendar day is no instant', async () => {
    expect(await select("'2026-03-01'::date")).to.equal('2026-03-01');
  });

  it('does not quote the values of a failed query', async () => {
    const error = await anyFailureOf(database.knex.raw('select ?::text, 1 / 0', ['canary-value']));
    expect(error).to.be.instanceOf(Error);
    expect(String(error)).to.contain('division by zero').and.not.contain('canary-value');
  });

  it('tells a connection that broke from a query that failed', async () => {
    const opened = openDatabase({ url: database.url, poolSize: 2, log: silentLog });
    const terminated = await anyFailureOf(opened.knex.raw('select pg_terminate_backend(pg_backend_pid())'));
    expect(terminated).to.be.instanceOf(DatabaseUnavailableError);
    expect(terminated).to.have.nested.property('cause.code', '57P01');
    const broken = await anyFailureOf(
      opened.knex.transaction(async (trx) => {
        const client = await trx.client.acquireConnection();
        client.connection.stream.destroy();
        await trx.raw('select 1');
      }),
    );
    expect(broken).to.be.instanceOf(DatabaseUnavailableError);
    expect(await anyFailureOf(opened.knex.raw('select 1 / 0'))).not.to.be.instanceOf(DatabaseUnavailableError);
    expect((await opened.knex.raw('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    await opened.close();
  });

  it('repeats a statement that the database ends because of others, unless it is part of a transaction', async () => {
    await database.knex.raw('create sequence given_up_runs');
    const endTwice = `do $$ begin
      if nextval('given_up_runs') <= 2 then raise exception 'ended' using errcode = '40P01'; end if;
    end $$`;
    const runs = async () => (await database.knex('given_up_runs').first('last_value')).last_value;
    await database.knex.raw(endTwice);
    expect(await runs()).to.equal(3);
    await database.knex.raw("select setval('given_up_runs', 1, false)");
    const inTransaction = database.knex.transaction((via) => via.raw(endTwice));
    expect(await inTransaction.catch((error: Error) => error)).to.have.property('code', '40P01');
    expect(await runs()).to.equal(1);
    await database.knex.raw('drop sequence given_up_runs');
  });

  it('tells that no connection could be had', async () => {
    const opened = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', poolSize: 2, log: silentLog });
    const refused = await anyFailureOf(opened.knex.raw('select 1'));
    expect(refused).to.be.instanceOf(DatabaseUnavailableError);
    expect(refused).to.have.nested.property('cause.code', 'ECONNREFUSED');
    expect(String(refused)).to.equal(
      'DatabaseUnavailableError: The service could not connect to the database: connect ECONNREFUSED 127.0.0.1:1',
    );
    await opened.close();
  });

  it('says that the database is reachable', async () => {
    const opened = openDatabase({ url: database.url, poolSize: 2, log: silentLog });
    expect(await opened.isReachable(AbortSignal.timeout(5000))).to.equal(true);
    await opened.close();
  });

  it('says that could not reach the database when nothing listens', async () => {
    const opened = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', poolSize: 2, log: silentLog });
    expect(await opened.isReachable(AbortSignal.timeout(5000))).to.equal(false);
    await opened.close();
  });

  it('does not wait longer for the database than the signal lets it', async () => {
    const opened = openDatabase({ url: database.url, poolSize: 2, log: silentLog });
    expect(await opened.isReachable(AbortSignal.abort(new Error('too late')))).to.equal(false);
    await opened.close();
  });
});

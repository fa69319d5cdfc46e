import { expect } from 'chai';
import { HOSTILE_TEXTS, pick } from '#connector/simulator';
import { describeSubject } from '#connector/suite';
import { type Connection, connect } from '#connector/testing';
import { hasEveryLiteral, isChosen } from '../../suite/effort.ts';
import { predicatesFor } from '../../suite/filters.ts';
import { NOWHERE } from '../../suite/literals.ts';
import { assertFilter, assertSound, measureClaims } from '../../suite/soundness.ts';
import { type Subject, startSubject } from '../../suite/subject.ts';
import requesttracker from './index.ts';
import { tickets, transactions } from './objects.ts';
import { WRITES } from './simulator/samples.ts';

/** URL of a real server without data. `.ci/with-requesttracker` starts one. */
const { REQUESTTRACKER_URL: url } = process.env;

const CONFIGURATION = { url, username: 'root', password: 'password' };
const TICKETS = 72;
/** CI tries little where neither the connector nor the kit changed, and one literal of each operator where the connector did not. */
const IS_WHOLE = isChosen(process.env, requesttracker.key);
/** Numbers of random filters. */
const FILTERS = IS_WHOLE ? { tickets: 100, transactions: 50 } : { tickets: 12, transactions: 6 };
const CLAIMS = {
  claims: IS_WHOLE ? Number.POSITIVE_INFINITY : 20,
  literalsPerClaim: hasEveryLiteral(process.env, requesttracker.key) ? 2 : 1,
};

if (url === undefined) {
  it('skipped: Request Tracker is tested live where REQUESTTRACKER_URL names a server');
} else {
  describe('requesttracker on a real server', function suite() {
    this.timeout(900_000);
    const connection = connect(requesttracker, { config: CONFIGURATION });
    before(() => seed(connection));

    describeSubject('requesttracker on a real server', async () => ({
      connector: requesttracker,
      samples: { configuration: CONFIGURATION, writes: WRITES },
    }));

    describe('with many filters', () => {
      let subject: Subject | undefined;
      before(async () => {
        subject = await startSubject({ connector: requesttracker, samples: { configuration: CONFIGURATION } });
      });
      after(() => subject?.target.stop());

      const listingOf = (name: string) => {
        const listing = subject?.listings.find((each) => each.name === name);
        if (subject === undefined || listing === undefined) throw new Error(`There are no ${name}.`);
        return { target: subject.target, listing };
      };

      for (const [name, filters] of Object.entries(FILTERS)) {
        it(`answers ${filters} random filters on ${name}, and declared operators, with the rows that they mean`, async () => {
          const { target, listing } = listingOf(name);
          // These run concurrently, because the server has several processes.
          const [faults] = await Promise.all([
            measureClaims(target, listing, CLAIMS),
            assertSound(target, listing, { filters, seed: Date.now() % 2 ** 30 }),
          ]);
          if (faults.length > 0) throw new Error(faults.join('\n'));
        });
      }

      it('finds every subject by the text that it shows', async () => {
        const { target, listing } = listingOf('tickets');
        const texts = [...new Set(listing.rows.map((row) => String(row.subject)))];
        expect(texts).to.include('\ufffd');
        const literals = texts.map((text) => ({ kind: 'string', text, loc: NOWHERE }) as const);
        await Promise.all(
          predicatesFor('=', 'subject', literals).map((filter) => assertFilter(target, listing, filter)),
        );
      });
    });
  });
}

const STATUSES = ['new', 'open', 'stalled', 'resolved', 'rejected'];
const INSTANTS = ['2024-02-29T08:30:00Z', '2026-03-08T07:30:00Z', '2026-11-01T05:30:00Z', '1999-12-31T23:59:59Z', null];
/** Texts, including some that Request Tracker would read as a column, as a special status or as a pattern. */
const TEXTS = [
  ...HOSTILE_TEXTS,
  'CF.{Severity}',
  'cf.x',
  'NULL',
  'id',
  'ABC',
  'abc',
  'a\\%b',
  '__Active__',
  '__Bookmarked__',
];

/**
 * Creates tickets with every hostile subject, in two queues and with several owners, and comments. One ticket is deleted, and one is merged
 * into another.
 */
async function seed(connection: Connection): Promise<void> {
  const { send } = connection.context;
  await send({ method: 'POST', path: '/queue', json: { Name: "Köln & O'Neil" } });
  const ids: string[] = [];
  for (let index = 0; index < TICKETS; index++) {
    const made = await connection.run(tickets.create, { values: ticketOf(index), fields: [] });
    ids.push(String(Reflect.get(Object(made), 'id')));
  }
  for (const [index, id] of ids.slice(0, 8).entries()) {
    const values = {
      ObjectId: id,
      Type: pick(['Comment', 'Correspond'], index),
      Content: pick(TEXTS, index + 1),
      TimeTaken: index,
    };
    await connection.run(transactions.create, { values, fields: [] });
    const change = { Subject: pick(TEXTS, index * 5), Due: '2026-05-06 07:08:09', Status: pick(STATUSES, index) };
    await connection.run(tickets.update, { id, values: change, fields: [] });
  }
  const [deleted = '', merged = '', kept = ''] = ids.slice(-3);
  await connection.run(tickets.remove, { id: deleted });
  await send({ method: 'PUT', path: `/ticket/${merged}`, json: { MergeInto: kept } });
}

function ticketOf(index: number) {
  const instant = (shift: number) =>
    pick(INSTANTS, index + shift)
      ?.replace('T', ' ')
      .replace('Z', '') ?? '';
  return {
    Queue: 1 + Number(index % 4 === 3),
    Subject: pick(TEXTS, index),
    // A new ticket accepts only these statuses.
    Status: pick(['new', 'open', 'resolved'], index),
    Owner: pick(['Nobody', 'root', 'Nobody'], index),
    Priority: pick([0, 5, 100, -1, 2_147_483_647], index),
    FinalPriority: index % 7,
    TimeWorked: index % 3,
    Due: instant(0),
    Starts: instant(2),
    ...(index % 4 === 0 && { Requestor: [`person${index % 6}@example.com`] }),
    ...(index % 12 === 0 && { Content: pick(TEXTS, index + 3) || 'text' }),
  };
}

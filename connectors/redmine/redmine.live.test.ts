import { HOSTILE_TEXTS, pick } from '#connector/simulator';
import { describeSubject } from '#connector/suite';
import { type Connection, connect } from '#connector/testing';
import { hasEveryLiteral, isChosen } from '../../suite/effort.ts';
import { assertSound, measureClaims } from '../../suite/soundness.ts';
import { type Subject, startSubject } from '../../suite/subject.ts';
import redmine from './index.ts';
import { issues, timeEntries } from './objects.ts';
import { WRITES } from './simulator/samples.ts';

/** URL and key of a real server in the state in which live.rb leaves it. `.ci/with-redmine` starts one. */
const { REDMINE_URL: url, REDMINE_KEY: key } = process.env;

const CONFIGURATION = { url, 'api.key': key };
/** CI tries little where neither the connector nor the kit changed, and two literals of each operator where the connector did not. */
const [FILTERS, CLAIMS] = isChosen(process.env, redmine.key) ? [100, Number.POSITIVE_INFINITY] : [12, 20];
const ISSUES = 70;

if (url === undefined || key === undefined) {
  it('skipped: Redmine is tested live where REDMINE_URL and REDMINE_KEY name a server and a key');
} else {
  describe('redmine on a real server', function suite() {
    this.timeout(900_000);
    const connection = connect(redmine, { config: CONFIGURATION });
    before(() => seed(connection));

    describeSubject('redmine on a real server', async () => ({
      connector: redmine,
      samples: { configuration: CONFIGURATION, writes: WRITES },
    }));

    describe('with many filters', () => {
      let subject: Subject;
      before(async () => {
        subject = await startSubject({ connector: redmine, samples: { configuration: CONFIGURATION } });
      });
      after(() => subject.target.stop());

      for (const name of ['issues', 'time-entries']) {
        it(`answers ${FILTERS} random filters on ${name}, and declared operators, with the rows that they mean`, async () => {
          const listing = subject.listings.find((each) => each.name === name);
          if (listing === undefined) throw new Error(`There are no ${name}.`);
          await assertSound(subject.target, listing, { filters: FILTERS, seed: Date.now() % 2 ** 31 });
          const effort = { claims: CLAIMS, literalsPerClaim: hasEveryLiteral(process.env, redmine.key) ? 4 : 2 };
          const faults = await measureClaims(subject.target, listing, effort);
          if (faults.length > 0) throw new Error(faults.join('\n'));
        });
      }
    });
  });
}

const DAYS = ['2024-02-29', '2026-03-08', '2026-11-01', '2030-12-31', null];
/** Texts, including some that the short form of a filter would read as operators, values or names. */
const TEXTS = [
  ...HOSTILE_TEXTS,
  '~x',
  '!*',
  '*',
  'a|b',
  '>=5',
  'me',
  'mine',
  'ABC',
  'abc',
  '"one two" three',
  'x "y',
].filter((text) => text.trim() !== '' && text.length <= 255);

/** Creates issues with every hostile subject in two projects, changes and closes some of them, and adds time entries. */
async function seed(connection: Connection): Promise<void> {
  const ids: string[] = [];
  for (let index = 0; index < ISSUES; index++) {
    const made = await connection.run(issues.create, { values: issueOf(index), fields: [] });
    ids.push(String(Reflect.get(Object(made), 'id')));
  }
  for (const [index, id] of ids.slice(0, 40).entries()) {
    const values = {
      issue: { id: Number(id) },
      activity: { id: 8 + (index % 2) },
      hours: pick([0.1, 0.25, 1.005, 2, 33.33], index),
      comments: index % 5 === 4 ? null : pick(TEXTS, index),
      spent_on: pick(DAYS, index) ?? '2026-11-22',
    };
    await connection.run(timeEntries.create, { values, fields: [] });
  }
  for (const [index, id] of ids.slice(0, 12).entries()) {
    const values = { subject: pick(TEXTS, index * 5), status: { id: 1 + (index % 6) }, notes: pick(TEXTS, index) };
    await connection.run(issues.update, { id, values, fields: [] });
  }
}

function issueOf(index: number) {
  const project = 1 + Number(index % 4 === 3);
  return {
    project: { id: project },
    tracker: { id: 1 + (index % 3) },
    subject: pick(TEXTS, index),
    description: index % 6 === 5 ? null : pick(['', ...TEXTS], index + 3),
    status: { id: 1 + (index % 6) },
    priority: { id: 1 + (index % 5) },
    assigned_to: { id: pick([null, 1, 5, 6], index) },
    fixed_version: { id: index % 5 === 0 ? project : null },
    start_date: index % 7 === 6 ? null : '2024-01-01',
    due_date: pick(DAYS, index),
    done_ratio: 10 * (index % 11),
    estimated_hours: pick([null, 0, 0.1, 1.5, 2.567, 1_234_567.89], index),
    is_private: index % 9 === 8,
    custom_fields: [{ id: 1, value: pick(TEXTS, index + 9) }],
  };
}

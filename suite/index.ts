import type { Connector } from '#connector';
import { CHECKS } from './checks.ts';
import { FULL, readEffort } from './effort.ts';
import { findUndeclared, measureObject } from './measure.ts';
import type { CreateSimulator } from './served.ts';
import { type Samples, type Subject, type SubjectOptions, startSubject } from './subject.ts';
import { connect } from './testing.ts';

/** The suite that every connector must pass, as `#connector/suite`: tests for mocha. */

export { CHECKS, type Check } from './checks.ts';
export { type Effort, FULL, QUICK, SMOKE, THOROUGH } from './effort.ts';
export { describeRecorded } from './recorded.ts';
export type { CreateSimulator } from './served.ts';
export { loggedIn, type Samples, type Subject, type SubjectOptions, startSubject } from './subject.ts';
export type { WriteSample } from './writes.ts';

/**
 * Tests a connector on its simulator. It starts a whole service with the connector. Then it lists, filters, pages, sorts and writes every
 * object through the API, and the simulator causes every kind of trouble.
 */
export function describeConnector(connector: Connector, createSimulator: CreateSimulator, samples: Samples): void {
  describeSubject(connector.key, async () => ({ connector, createSimulator, samples }));
}

/**
 * Tests a connector on a provider that must be started first, such as a real server. `stop` is called at the end.
 * @param name begins with the key of the connector
 * @param checks fewer than all of them for a variant of a provider that only some checks can notice
 */
export function describeSubject(
  name: string,
  prepare: () => Promise<SubjectOptions & { readonly stop?: () => Promise<void> }>,
  checks = CHECKS,
): void {
  const effort = readEffort(process.env, name.split(' ')[0] ?? name);
  const isWhole = effort.literalsPerClaim >= FULL.literalsPerClaim;
  describe(`${name} keeps what connectors promise`, function suite() {
    // A long time-out, because other work on the machine is no fault of the connector.
    this.timeout(900_000);
    let subject: Subject;
    let stop: (() => Promise<void>) | undefined;

    before(async () => {
      const { stop: stopProvider, ...options } = await prepare();
      stop = stopProvider;
      subject = await startSubject(options);
    });
    after(async () => {
      await subject?.target.stop();
      await stop?.();
    });

    for (const { name: check, find } of checks) {
      it(check, async () => assertNone(await find(subject)));
    }

    // Improvements are reported, not required: some rows and literals do not prove how a provider treats others. The report is for those who
    // change the connector, and takes a tenth of the time.
    if (!isWhole || checks !== CHECKS) return;
    it('is compared with the abilities of its provider', async () => {
      const { provider } = subject.target;
      assertNone(provider?.takeContradictions() ?? []);
      for (const line of await findBetter(subject)) console.log(`      note: ${line}`);
      // The description may not have what is not declared.
      provider?.takeContradictions();
    });
  });
}

/** Maximum number of operators on fields, for all listings together. */
const CLAIMS_COMPARED = 200;
const LITERALS_COMPARED = 2;

async function findBetter({ target, large }: Subject): Promise<readonly string[]> {
  const { connector, configuration, provider } = target;
  const simulatorsUrl = provider?.simulatorsUrl;
  const connection = connect(connector, {
    config: configuration,
    ...(simulatorsUrl !== undefined && { simulatorsUrl }),
  });
  const lines: string[] = [];
  for (const listing of large.filter(({ path }) => !path.slice(1).includes('/'))) {
    const claims = Math.ceil(CLAIMS_COMPARED / large.length);
    const options = { literals: LITERALS_COMPARED, rows: Number.POSITIVE_INFINITY, skipsExact: true, claims };
    lines.push(...findUndeclared(await measureObject(connection, listing, options)));
  }
  return lines;
}

const MOST_SHOWN = 20;

function assertNone(faults: readonly string[]): void {
  const more = faults.length > MOST_SHOWN ? `\n… and ${faults.length - MOST_SHOWN} more` : '';
  if (faults.length > 0) throw new Error(`${faults.slice(0, MOST_SHOWN).join('\n')}${more}`);
}

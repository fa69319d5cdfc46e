import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Context } from 'mocha';

/**
 * Appends the CPU seconds of each test file, including its loading, to the file that TEST_TIMES names: `mocha --require
 * test/support/cpu-times.ts`.
 */
let spent = 0;

export const mochaHooks = {
  // In parallel, mocha calls this once per file.
  afterAll(this: Context): void {
    const { user, system } = process.cpuUsage();
    const total = (user + system) / 1e6;
    const root = this.test?.parent;
    const file = root?.suites[0]?.file ?? root?.tests[0]?.file ?? 'none';
    const line = `${(total - spent).toFixed(2)}\t${process.pid}\t${relative(process.cwd(), file)}\n`;
    appendFileSync(process.env.TEST_TIMES ?? 'test-times.tsv', line);
    spent = total;
  },
};

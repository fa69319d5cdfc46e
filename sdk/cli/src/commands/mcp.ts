import type { AddCommands } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { NotReadyError } from '../failures.js';
import { forwardMessages } from '../mcp-bridge.js';
import type { Session } from '../session.js';

export const addMcp: AddCommands = (program, run) => {
  program
    .command('mcp')
    .description('serve an agent over standard input and output, with CAUSEWAY_URL and CAUSEWAY_KEY')
    .action(run(serve));
};

/** Forwards messages until the input ends. @throws NotReadyError without an access key */
async function serve(session: Session): Promise<void> {
  const { CAUSEWAY_URL: url, CAUSEWAY_KEY: key } = session.environment;
  if (!url || !key) {
    throw new NotReadyError(
      `Agents need an access key. Set CAUSEWAY_URL and CAUSEWAY_KEY. Create a key: ${CAUSEWAY} keys create <name>`,
    );
  }
  await forwardMessages({
    input: process.stdin,
    write: (line) => void process.stdout.write(`${line}\n`),
    url: new URL('/mcp', url),
    key: session.keep(key),
    signal: session.signal,
  });
}

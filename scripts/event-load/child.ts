import { type ChildMessage, type ParentMessage, SETUP_VARIABLE } from './messages.ts';

export function readSetup<Setup>(): Setup {
  return JSON.parse(process.env[SETUP_VARIABLE] ?? 'null');
}

export function tell(message: ChildMessage): void {
  if (process.connected) process.send?.(message);
}

/** Responds to the commands of the parent. Ends when the parent ends. */
export function serve<Command>(handle: (command: Command) => Promise<unknown> | unknown): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ id, command }: Omit<ParentMessage, 'command'> & { readonly command: Command }) => {
    answer(id, command).catch((error) => tell({ kind: 'failure', id, message: String(error?.stack ?? error) }));
  });

  async function answer(id: number, command: Command): Promise<void> {
    tell({ kind: 'answer', id, value: await handle(command) });
  }
}

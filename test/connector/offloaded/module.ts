/** What tests run in a thread; the text says what it does. */
export default function act(text: string): unknown {
  const [word = '', amount = ''] = text.split(' ');
  const actions: Readonly<Record<string, () => unknown>> = {
    echo: () => new Map([['length', text.length]]),
    spin: () => {
      for (;;);
    },
    grow: () => {
      const grown: unknown[] = [];
      for (;;) grown.push({ grown: [grown.length] });
    },
    repeat: () => 'x'.repeat(Number(amount)),
    end: () => process.exit(3),
  };
  const action = actions[word];
  if (action === undefined) throw new Error(`There is no '${word}'.`);
  return action();
}

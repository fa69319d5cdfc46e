import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { SchemaChange, SchemaWatch } from '@causeway/client';
import { Command } from 'commander';
import { addSchema } from '../../src/commands/schema.js';
import { type Format, Output } from '../../src/output.js';
import type { Session } from '../../src/session.js';

const WATCH = {
  objectName: 'employees',
  state: 'watched',
  requested: true,
  polls: ['employees'],
  mappings: ['people'],
  formulas: [{ formulaId: 1, formulaName: 'Sync', formulaInstanceId: 2, formulaInstanceName: 'Acme' }],
  fieldCount: 93,
  failures: 0,
} as unknown as SchemaWatch;

const CHANGE = {
  id: 5,
  objectName: 'employees',
  added: ['shirtSize'],
  removed: ['nickname', '\u001b[2Jcity'],
  changed: [{ field: 'costCenter', from: { type: 'number' }, to: { type: 'string' } }],
  breaks: {
    mappings: [{ objectName: 'people', fields: ['nickname'], mappedFields: ['short'] }],
    polls: [{ resource: 'employees', fields: ['city'] }],
    formulas: [],
  },
} as unknown as SchemaChange;

/** Runs `schema` with a session that sends nothing, for an instance with these watches and changes. */
async function schema(
  args: readonly string[],
  { watches = [WATCH], changes = [CHANGE, CHANGE], format = 'table' }: Service = {},
) {
  const asked: object[] = [];
  const note = (name: string) => async (query: object) => {
    asked.push({ [name]: query });
    return { objectName: 'employees' };
  };
  const [screen, beside] = [new PassThrough(), new PassThrough()];
  const session = {
    signal: new AbortController().signal,
    instanceId: async () => 12,
    output: new Output(format, { out: screen, err: beside }),
    platform: async () => ({
      all: (read: (page: object) => Promise<readonly object[]>) => pages(read),
      instances: {
        listSchemaWatchesRaw: async (query: object) => {
          asked.push({ list: query });
          return watches;
        },
        listSchemaChangesRaw: async (query: object) => {
          asked.push({ list: query });
          return changes;
        },
        watchSchema: note('watch'),
        unwatchSchema: note('unwatch'),
      },
    }),
    // The parts of a session that the command uses.
  } as unknown as Session;
  const program = new Command();
  addSchema(
    program,
    (action) =>
      (...given) =>
        action(session, ...given),
  );
  await program.parseAsync(['schema', ...args], { from: 'user' });
  screen.end();
  beside.end();
  return { asked, out: await text(screen), err: await text(beside) };
}

interface Service {
  readonly watches?: readonly SchemaWatch[];
  readonly changes?: readonly SchemaChange[];
  readonly format?: Format;
}

async function* pages(read: (page: object) => Promise<readonly object[]>): AsyncGenerator<object, void> {
  yield* await read({ nextPage: 'a' });
}

describe('causeway schema', () => {
  it('lists the watched objects with what uses them', async () => {
    const { asked, out } = await schema([]);
    assert.deepEqual(asked, [{ list: { id: 12, nextPage: 'a' } }]);
    assert.match(out, /employees +watched +a request, poll employees, mapping people, formula Sync +93/);
    const none = await schema([], { watches: [] });
    assert.match(none.err, /Nothing is watched\. Watch an object: \S.* schema watch <object>/);
  });

  it('lists as many changes as asked for, with what they break, and no character that commands a terminal', async () => {
    const { asked, out } = await schema(['changes', '--where', "objectName = 'employees'", '--limit', '1']);
    assert.deepEqual(asked, [{ list: { id: 12, where: "objectName = 'employees'", nextPage: 'a' } }]);
    assert.match(out, /5 +employees +nickname, .*city +costCenter +shirtSize +mapping people, poll employees/);
    assert.equal(out.split('\n').filter((line) => line.includes('employees')).length, 1);
    assert.ok(!out.includes('\u001b'));
    const json = await schema(['changes'], { format: 'json' });
    assert.deepEqual(JSON.parse(json.out).length, 2);
  });

  it('begins and ends a watch', async () => {
    const begun = await schema(['watch', 'employees']);
    assert.deepEqual(begun, {
      asked: [{ watch: { id: 12, objectName: 'employees' } }],
      out: 'Watching employees.\n',
      err: '',
    });
    const ended = await schema(['unwatch', 'employees']);
    assert.deepEqual(ended, {
      asked: [{ unwatch: { id: 12, objectName: 'employees' } }],
      out: 'The watch of employees has ended.\n',
      err: '',
    });
  });
});

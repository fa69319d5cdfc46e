import { textOf } from '../arguments.ts';
import { inputSchema, OBJECT, outputSchema, TEXT } from '../schemas.ts';
import { toRecord } from './reading.ts';
import { type AgentTool, INSTANCE, memberOf, OBJECT_NAME, pathOf } from './tool.ts';

const RECORD = outputSchema({ record: OBJECT }, ['record']);

const createRecord: AgentTool = {
  name: 'create_record',
  description: 'Creates a record at the provider, and returns it.',
  operation: 'createRecord',
  kind: 'create',
  input: inputSchema({ ...INSTANCE, object: OBJECT_NAME, record: OBJECT }, ['object', 'record']),
  output: RECORD,
  run: async ({ api, args, instance }) => {
    const path = pathOf(textOf(args, 'object') ?? '');
    return toRecord((await api.json({ method: 'POST', path, body: args.record, instance })).body);
  },
};

const updateRecord: AgentTool = {
  name: 'update_record',
  description: 'Changes the named fields of a record, and returns it.',
  operation: 'updateRecord',
  kind: 'update',
  input: inputSchema({ ...INSTANCE, object: OBJECT_NAME, id: TEXT, changes: OBJECT }, ['object', 'id', 'changes']),
  output: RECORD,
  run: async ({ api, args, instance }) => {
    const path = pathOf(textOf(args, 'object') ?? '', textOf(args, 'id') ?? '');
    return toRecord((await api.json({ method: 'PATCH', path, body: args.changes, instance })).body);
  },
};

const deleteRecord: AgentTool = {
  name: 'delete_record',
  description: 'Deletes a record at the provider.',
  operation: 'deleteRecord',
  kind: 'delete',
  input: inputSchema({ ...INSTANCE, object: OBJECT_NAME, id: TEXT }, ['object', 'id']),
  output: outputSchema({ deleted: TEXT }, ['deleted']),
  run: async ({ api, args, instance }) => {
    const id = textOf(args, 'id') ?? '';
    const { body } = await api.json({ method: 'DELETE', path: pathOf(textOf(args, 'object') ?? '', id), instance });
    return { data: { deleted: String(memberOf(body, 'id') ?? id) } };
  },
};

export const WRITING_TOOLS: readonly AgentTool[] = [createRecord, updateRecord, deleteRecord];

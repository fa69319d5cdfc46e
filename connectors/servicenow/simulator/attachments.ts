import { type Call, empty, type Routes, type TableRow, typed } from '#connector/simulator';
import { noRecord, refusal, reply } from './fault.ts';
import { presenter } from './present.ts';
import { contentOf } from './rows.ts';
import type { Store } from './store.ts';

/** The Attachment API: a record for each file, and its bytes. */
export function attachmentRoutes(root: string, store: Store, files: Map<string, Buffer>): Routes {
  const table = store.table('sys_attachment');
  const find = ({ params: { id = '' } }: Call): TableRow => {
    const row = table?.find(id);
    if (row === undefined) throw noRecord();
    return row;
  };
  const show = (row: TableRow, call: Call) => attachmentPresenter(store, call)(row);
  return {
    [`GET ${root}/attachment/{id}`]: (call) => reply({ result: show(find(call), call) }),
    [`GET ${root}/attachment/{id}/file`]: (call) => {
      const row = find(call);
      const metadata = { 'x-attachment-metadata': asciiOf(JSON.stringify(show(row, call))) };
      const id = String(row.sys_id);
      return typed(String(row.content_type), files.get(id) ?? contentOf(id), 200, metadata);
    },
    [`PATCH ${root}/attachment/{id}`]: (call) => {
      const { file_name } = call.body.object();
      if (typeof file_name !== 'string' || file_name === '') throw refusal(400, 'Missing file_name');
      const row = table?.update(String(find(call).sys_id), { file_name });
      return reply({ result: show(row ?? {}, call) });
    },
    [`DELETE ${root}/attachment/{id}`]: (call) => {
      table?.remove(String(find(call).sys_id));
      return empty();
    },
    [`POST ${root}/attachment/file`]: (call) => {
      const row = table?.insert(readUpload(store, call)) ?? {};
      files.set(String(row.sys_id), call.body.bytes);
      const location = `${call.origin}${root}/attachment/${row.sys_id}`;
      return reply({ result: show(row, call) }, 201, { location });
    },
  };
}

export function attachmentPresenter(store: Store, call: Call): (row: TableRow) => Readonly<Record<string, unknown>> {
  const [root = ''] = /^\/api\/now(?:\/v\d)?/.exec(call.path) ?? [];
  const present = presenter(store, 'sys_attachment', call);
  return (row) => ({ ...present(row), download_link: `${call.origin}${root}/attachment/${row.sys_id}/file` });
}

/** @throws Fault 400 where something is missing, 404 where there is no record to attach it to */
function readUpload(store: Store, { query, body, headers }: Call): TableRow {
  const name = (parameter: string) => {
    const value = query.get(parameter);
    if (value === null || value === '') throw refusal(400, `Missing required parameter: ${parameter}`);
    return value;
  };
  const [table, id, file] = [name('table_name'), name('table_sys_id'), name('file_name')];
  const type = headers['content-type'];
  if (type === undefined) throw refusal(400, 'Missing Content-Type');
  if (store.find(table, id) === undefined) throw noRecord();
  const size = body.bytes.length;
  return {
    file_name: file.slice(0, 100),
    content_type: type,
    size_bytes: String(size),
    size_compressed: String(Math.ceil(size * 0.7)),
    table_name: table,
    table_sys_id: id,
  };
}

/** Headers are ASCII. */
function asciiOf(text: string): string {
  return text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

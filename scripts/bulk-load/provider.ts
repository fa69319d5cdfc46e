/**
 * The provider of measurements of bulk jobs, a process of its own: rows of 20 fields by offset, printed as fast as can be. What is written is
 * counted and given back, and not kept.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const WORDS = ['Book', 'Ulm, "Donau"', 'Straße 12', 'northern', 'open', 'x', 'a longer text of some words', '', 'é😀'];

function printRow(id: number): string {
  let row = `{"id":${id}`;
  for (let at = 0; at < 9; at++)
    row += `,"text${at}":${JSON.stringify(`${WORDS[(id + at) % WORDS.length]} ${id % 97}`)}`;
  for (let at = 0; at < 5; at++) row += `,"number${at}":${(id % (1000 + at)) / 4}`;
  for (let at = 0; at < 3; at++) row += `,"flag${at}":${(id + at) % 2 === 0}`;
  return `${row},"created":"2026-01-01T00:00:00.000Z","updated":"2026-02-01T00:00:00.000Z"}`;
}

/** To print them takes longer than all the rest. */
const PRINTED = Array.from({ length: 5000 }, (_, id) => printRow(id).slice(`{"id":${id}`.length));

let written = 0;

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  response.setHeader('content-type', 'application/json');
  if (pathname === '/me') return response.end('{}');
  if (pathname === '/written') return response.end(`${written}`);
  if (request.method !== 'GET') {
    const values = JSON.parse(await text(request));
    written++;
    return response.end(JSON.stringify({ id: pathname.split('/').at(-1), ...values }));
  }
  const total = Number(request.headers['x-rows']);
  const offset = Number(searchParams.get('offset') ?? 0);
  const end = Math.min(total, offset + Number(searchParams.get('limit')));
  let body = '';
  for (let id = offset; id < end; id++) body += `${id === offset ? '' : ','}{"id":${id}${PRINTED[id % PRINTED.length]}`;
  return response.end(`{"rows":[${body}]}`);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit(0));

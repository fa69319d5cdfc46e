import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import { type ApiAnswer, useApp } from '../support/app.ts';
import { type AskedOperationId, RECIPES, requestOf } from './support/access-recipes.ts';
import { expectProblem } from './support/expect-problem.ts';
import { fillFirstPlace, type Place } from './support/places.ts';

type Json = Readonly<Record<string, unknown>>;
/** Where a text stands in a body; an empty name stands for a member of any name. */
type Location = readonly (string | number)[];

const NUL = 'a\0b';
const HALF_A_PAIR = 'a\ud800b';

/** Where a text has a language of its own, one that is right but for the character. */
const IN_LANGUAGE: Readonly<Record<string, (text: string) => string>> = {
  where: (text) => `Code = '${text}'`,
  callbackUrl: (text) => `https://app.example.com/${text}`,
};
const MOST_DEPTH = 6;

const document: Json = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));

const members = (node: unknown): Json => (typeof node === 'object' && node !== null ? { ...node } : {});
const list = (node: unknown): readonly unknown[] => (Array.isArray(node) ? node : []);

function resolve(node: unknown): Json {
  const { $ref } = members(node);
  if (typeof $ref !== 'string') return members(node);
  return resolve(
    $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((found, name) => members(found)[name], document),
  );
}

/** The places of a schema that may hold a text. */
function textsOf(schema: unknown, depth = 0): readonly Location[] {
  const node = resolve(schema);
  if (depth > MOST_DEPTH) return [];
  const below = (name: string | number, child: unknown) => textsOf(child, depth + 1).map((rest) => [name, ...rest]);
  const alternatives = ['allOf', 'oneOf', 'anyOf'].flatMap((word) => list(node[word]));
  const { properties, additionalProperties, items, type } = node;
  const isAny = type === undefined && properties === undefined && alternatives.length === 0;
  return [
    ...(isAny || [type].flat().includes('string') ? [[]] : []),
    ...Object.entries(members(properties)).flatMap(([name, child]) => below(name, child)),
    ...(additionalProperties === undefined || additionalProperties === false ? [] : below('', additionalProperties)),
    ...(items === undefined ? [] : below(0, items)),
    ...alternatives.flatMap((one) => textsOf(one, depth + 1)),
  ];
}

/** The same value with a text put in; what is on the way there is made. */
function withText(value: unknown, [name, ...rest]: Location, text: string): unknown {
  if (name === undefined) return text;
  if (typeof name === 'number') return [withText(list(value)[name], rest, text)];
  const key = name === '' ? 'x' : name;
  const given = rest.length === 0 ? textOf(key, text) : text;
  return { ...members(value), [key]: withText(members(value)[key], rest, given) };
}

const textOf = (name: string, text: string) => IN_LANGUAGE[name]?.(text) ?? text;

/** The texts of its body are stored nowhere, or as JSON. */
const TAKES_ANY_TEXT: readonly string[] = ['explainQuery', 'sendTestEvent', 'testSubscription'];

const takesAnyText = (id: OperationId) =>
  TAKES_ANY_TEXT.includes(id) || OPERATIONS[id].scopes.some((scope) => scope === 'record');

interface Given {
  readonly query: readonly string[];
  readonly path: readonly string[];
  readonly body: readonly Location[];
}

function givenOf(id: OperationId): Given {
  const { path, method } = OPERATIONS[id];
  const item = members(members(document.paths)[path]);
  const operation = members(item[method]);
  const parameters = [...list(item.parameters), ...list(operation.parameters)].map(resolve);
  const named = (place: string) => parameters.filter((one) => one.in === place).map(({ name }) => String(name));
  const media = members(members(resolve(operation.requestBody).content)['application/json']);
  const locations = media.schema === undefined ? [] : textsOf(media.schema);
  return {
    query: named('query'),
    path: named('path'),
    body: [...new Map(locations.map((location) => [location.join('/'), location])).values()],
  };
}

describe('a text that cannot be stored', function unstorable() {
  this.timeout(120_000);
  const service = useApp({ ROLE: 'api', RATE_LIMIT_USER: 'off', RATE_LIMIT_ACCOUNT: 'off' });
  let own: Place;

  before(async () => {
    own = await fillFirstPlace(service, 'own-place');
  });

  async function ask(
    id: AskedOperationId,
    change: { path?: string; query?: string; body?: (body: unknown) => unknown },
  ) {
    const { call, params } = await requestOf(id, RECIPES[id], { place: own, caller: service });
    const { path: template } = OPERATIONS[id];
    const given = change.path === undefined ? params : { ...params, [change.path]: NUL };
    return service.call(
      template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(given[name] ?? '')),
      {
        ...call,
        query: { ...call.query, ...(change.query !== undefined && { [change.query]: textOf(change.query, NUL) }) },
        ...(change.body !== undefined && { body: change.body(call.body) }),
      },
    );
  }

  const isPassed = (id: string) => OPERATIONS[id as OperationId].tag === ('passthrough' as string);
  for (const id of (Object.keys(RECIPES) as AskedOperationId[]).filter((one) => !isPassed(one))) {
    const given = givenOf(id);
    it(`is refused, and is no failure here: ${id}`, async () => {
      const wrong: string[] = [];
      const note = (where: string, { status, body }: ApiAnswer, isRefused = false) => {
        if (status >= (isRefused ? 400 : 200) && status < 500) return;
        wrong.push(`${where}: ${status} ${JSON.stringify(body)}`);
      };
      for (const name of given.query) note(`query ${name}`, await ask(id, { query: name }));
      for (const name of given.path) note(`path ${name}`, await ask(id, { path: name }));
      for (const location of given.body) {
        for (const text of [NUL, HALF_A_PAIR]) {
          const body = (value: unknown) => withText(value, location, text);
          const where = `body ${location.join('/')} ${JSON.stringify(text)}`;
          note(where, await ask(id, { body }), !takesAnyText(id));
        }
      }
      expect(wrong).to.deep.equal([]);
    });
  }

  /** Pages, the callbacks of providers, and what is called with the key of a connect session. */
  const open = (Object.keys(OPERATIONS) as OperationId[]).filter((id) =>
    OPERATIONS[id].scopes.some((scope) => scope === 'root' || scope === 'connect'),
  );
  for (const id of open) {
    it(`is no failure outside of what needs a secret: ${id}`, async () => {
      const { method, path, scopes } = OPERATIONS[id];
      const base = scopes.some((scope) => scope === 'root') ? service.app.url : service.app.baseUrl;
      const given = givenOf(id);
      const filled = (name?: string) =>
        base + path.replace(/\{(\w+)\}/g, (_, param) => encodeURIComponent(param === name ? NUL : 'x'));
      const urls = [
        ...given.path.map((name) => filled(name)),
        ...given.query.map((name) => `${filled()}?${new URLSearchParams({ [name]: NUL })}`),
        `${filled()}?${new URLSearchParams(Object.fromEntries(given.query.map((name) => [name, NUL])))}`,
      ];
      for (const url of urls) {
        const body = method === 'get' ? null : JSON.stringify({ x: NUL });
        const headers = { 'content-type': 'application/json', authorization: `Connect ${'x'.repeat(43)}` };
        const { status } = await fetch(url, { method: method.toUpperCase(), headers, body, redirect: 'manual' });
        expect(status, url).to.be.below(500);
      }
    });
  }

  describe('of a bulk job', () => {
    const STORED = 'contains a character that cannot be stored: NUL, or half of a surrogate pair.';
    const STATEMENT = `SELECT * FROM Orders WHERE Code = '${NUL}'`;

    const REFUSED: Readonly<Record<string, { query?: Record<string, string>; body?: unknown }>> = {
      'body.where': { body: { objectName: 'Orders', where: `Code = '${NUL}'` } },
      'body.fileName': { body: { objectName: 'Orders', fileName: HALF_A_PAIR } },
      'query.q': { query: { q: STATEMENT } },
    };
    for (const [place, { query = {}, body = {} }] of Object.entries(REFUSED)) {
      it(`is refused, and the error says where: ${place}`, async () => {
        const { token = '' } = await own.find('instance');
        const response = await service.send('POST', '/bulk/query', body, { query, token });
        expectProblem(response, 'REQUEST_INVALID', `${place} ${STORED}`);
        expect(response.body.details[0].path).to.equal(`/${place.replace('.', '/')}`);
      });
    }

    it('is refused in the instructions of an upload', async () => {
      const { token = '' } = await own.find('instance');
      const body = new FormData();
      body.append('metaData', JSON.stringify({ format: 'csv', action: 'create', identifierFieldName: NUL }));
      body.append('file', new Blob(['Code,CustomerId\nA,B\n']), 'a.csv');
      const response = await service.send('POST', '/bulk/Orders', body, { token });
      expectProblem(response, 'REQUEST_INVALID', `metaData: 'identifierFieldName' ${STORED}`);
    });
  });
});

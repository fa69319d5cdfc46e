import type { ListRequest } from '../../resources/index.ts';
import { parseFieldList, parseOrderBy, parseWhere } from '../../where/index.ts';
import { type DateTemplate, parseDateTemplate } from './date-template.ts';

/** Query of a configured URL: a list of the instance's own records. */
export interface PollQuery {
  /** Scheme and host of the URL; undefined for a path. */
  readonly origin: string | undefined;
  /** The URL without its host and the base path of the API. */
  readonly local: string;
  /** Hub in the path; undefined for a path without one. */
  readonly hub: string | undefined;
  readonly objectName: string;
  /** Parent record and name of the child list; undefined for a list of the object itself. */
  readonly child: { readonly id: string; readonly name: string } | undefined;
  /** The query of the URL, for the time from which changes are wanted. */
  readonly parametersAt: (sinceMs: number) => Pick<ListRequest, 'where' | 'orderBy' | 'fields'>;
  readonly pageSize: number | undefined;
  /** The precision of the time in the URL, see `DateTemplate`. Undefined: the URL does not depend on the time. */
  readonly granularityMs: number | undefined;
}

/** Parameters that may contain placeholders, each with its parser. */
const READERS = { where: parseWhere, orderBy: parseOrderBy, fields: parseFieldList } as const;
const TEMPLATES = ['where', 'orderBy', 'fields'] as const;
const PARAMETERS: readonly string[] = [...TEMPLATES, 'pageSize'];
/** Maximum number of rows per page. */
export const MOST_ROWS = 5000;
const HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;
/** The base path of the API, possibly after another path, which a reverse proxy may add. */
const BASE_PATH = /^[^?]*?\/elements\/api-v2(?=\/)/;

/**
 * Reads a platform path such as `/hubs/crm/contacts?where=…`, with or without the host and base path of the API.
 * @param namesOfTwoWords objects whose names have a slash
 * @throws Error that says what is wrong
 */
export function parsePollUrl(text: string, zone: string, namesOfTwoWords: readonly string[] = []): PollQuery {
  const [host] = HOST.exec(text) ?? [];
  const local = text.slice(host?.length ?? 0).replace(BASE_PATH, '');
  const mark = local.indexOf('?');
  const path = mark < 0 ? local : local.slice(0, mark);
  const [hub, objectName, ...below] = namesIn(path, namesOfTwoWords);
  const [id, child, ...more] = below;
  const isWhole = objectName !== undefined && more.length === 0 && (id === undefined) === (child === undefined);
  if (!isWhole) {
    throw new Error(
      `'${path}' is not the path of a list. Expected: /{objectName}, /{objectName}/{objectId}/{childObjectName}, or the same below /hubs/{hub}.`,
    );
  }
  const query = parametersIn(mark < 0 ? '' : local.slice(mark + 1));
  const templates = TEMPLATES.flatMap((name): [string, DateTemplate][] => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, readTemplate(name, value, zone)]];
  });
  const pageSize = query.get('pageSize') ?? '';
  if (pageSize !== '' && !isPageSize(pageSize)) {
    throw new Error(`Its pageSize must be from 1 to ${MOST_ROWS}, not '${pageSize}'.`);
  }
  const granularities = templates.flatMap(([, { granularityMs }]) => granularityMs ?? []);
  return {
    origin: host === undefined ? undefined : originOf(host),
    local,
    hub,
    objectName,
    child: id === undefined || child === undefined ? undefined : { id, name: child },
    parametersAt: (sinceMs) => Object.fromEntries(templates.map(([name, { render }]) => [name, render(sinceMs)])),
    pageSize: pageSize === '' ? undefined : Number(pageSize),
    granularityMs: granularities.length === 0 ? undefined : Math.max(...granularities),
  };
}

/** @throws Error when one is unknown or there twice */
function parametersIn(text: string): URLSearchParams {
  const query = new URLSearchParams(text);
  const names = [...query.keys()];
  const unknown = names.find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw new Error(`Unknown parameter '${unknown}'. Known parameters: ${PARAMETERS.join(', ')}.`);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new Error(`It has the parameter '${repeated}' more than once.`);
  return query;
}

function isPageSize(text: string): boolean {
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= MOST_ROWS;
}

/** @throws Error also for what can only be wrong at each poll: how it reads with a time put in */
function readTemplate(name: keyof typeof READERS, text: string, zone: string): DateTemplate {
  const template = parseDateTemplate(text, zone);
  READERS[name](template.render(0));
  return template;
}

/** @throws Error for what is no address */
function originOf(host: string): string {
  const url = URL.parse(host);
  if (url === null) throw new Error(`'${host}' is not an address.`);
  // A scheme that is not the web's has no origin.
  return url.origin === 'null' ? host : url.origin;
}

/** Returns the names in a path: the hub, if there is one, and the names below it. */
function namesIn(path: string, namesOfTwoWords: readonly string[]): readonly (string | undefined)[] {
  const names = path
    .replace(/^\//, '')
    .split('/')
    .map((name) => decode(name));
  if (names.some((name) => name === '')) return [];
  const [hub, ...below] = names[0] === 'hubs' ? names.slice(1) : [undefined, ...names];
  const joined = below.slice(0, 2).join('/');
  return [hub, ...(namesOfTwoWords.includes(joined) ? [joined, ...below.slice(2)] : below)];
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return '';
  }
}

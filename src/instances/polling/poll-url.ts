import type { ListRequest } from '../../resources/index.ts';
import { type DateTemplate, parseDateTemplate } from './date-template.ts';

/** What a configured URL asks for: a list of the instance's own records. */
export interface PollQuery {
  /** Undefined: the path names no hub. */
  readonly hub: string | undefined;
  readonly objectName: string;
  /** Of a list below a record. */
  readonly child: { readonly id: string; readonly name: string } | undefined;
  /** The query of the URL, for the time from which changes are wanted. */
  readonly parametersAt: (sinceMs: number) => Pick<ListRequest, 'where' | 'orderBy' | 'fields'>;
  readonly pageSize: number | undefined;
  /** See `DateTemplate`. Undefined: the URL asks for the same at any time. */
  readonly granularityMs: number | undefined;
}

const PARAMETERS = ['where', 'orderBy', 'fields', 'pageSize'] as const;
const BASE_PATHS = ['/elements/api-v2'];

/**
 * Reads a platform path such as `/hubs/crm/contacts?where=…`, with or without the host and base path of the API.
 * @throws Error that says what is wrong
 */
export function parsePollUrl(text: string, zone: string): PollQuery {
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  const [hub, objectName, ...below] = namesIn(path);
  const [id, child, ...more] = below;
  const isWhole = objectName !== undefined && more.length === 0 && (id === undefined) === (child === undefined);
  if (!isWhole) {
    throw new Error(
      `'${path}' is no path of a list: expected /{objectName}, /{objectName}/{objectId}/{childObjectName}, or the same below /hubs/{hub}.`,
    );
  }
  const query = new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1));
  const unknown = [...query.keys()].find((name) => !PARAMETERS.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`It takes no parameter '${unknown}', only ${PARAMETERS.join(', ')}.`);
  const templates = ['where', 'orderBy', 'fields'].flatMap((name): [string, DateTemplate][] => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, parseDateTemplate(value, zone)]];
  });
  const pageSize = query.get('pageSize') ?? '';
  if (pageSize !== '' && !/^[1-9]\d{0,3}$/.test(pageSize)) throw new Error(`Its pageSize '${pageSize}' is none.`);
  const granularities = templates.flatMap(([, { granularityMs }]) => granularityMs ?? []);
  return {
    hub,
    objectName,
    child: id === undefined || child === undefined ? undefined : { id, name: child },
    parametersAt: (sinceMs) => Object.fromEntries(templates.map(([name, { render }]) => [name, render(sinceMs)])),
    pageSize: pageSize === '' ? undefined : Number(pageSize),
    granularityMs: granularities.length === 0 ? undefined : Math.max(...granularities),
  };
}

/** Of the hub, if there is one, and of what is below it. */
function namesIn(path: string): readonly (string | undefined)[] {
  const local = URL.canParse(path) ? new URL(path).pathname : path;
  const base = BASE_PATHS.find((prefix) => local.startsWith(`${prefix}/`)) ?? '';
  const names = local
    .slice(base.length)
    .replace(/^\//, '')
    .split('/')
    .map((name) => decode(name));
  if (names.some((name) => name === '')) return [];
  return names[0] === 'hubs' ? names.slice(1) : [undefined, ...names];
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return '';
  }
}

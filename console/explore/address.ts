/** A query as the address of the page has it. Its empty texts are not part of the address. */
export interface WrittenQuery {
  readonly where: string;
  readonly orderBy: string;
  readonly fields: string;
  readonly pageSize: number;
}

export const PAGE_SIZES = [25, 100, 500] as const;
const PAGE_SIZE = PAGE_SIZES[0];

/** The instance and the object that the page shows. */
export interface Explored {
  readonly instanceId: number | undefined;
  readonly objectName: string | undefined;
}

/** Reads the instance and the object from an address. The name of an object can contain slashes. */
export function readPosition(below: string | undefined): Explored {
  const [id = '', ...names] = (below ?? '').split('/');
  const objectName = names.join('/');
  return {
    instanceId: /^[1-9]\d*$/.test(id) ? Number(id) : undefined,
    objectName: objectName === '' ? undefined : objectName,
  };
}

export function readWrittenQuery(query: Readonly<Record<string, string>>): WrittenQuery {
  const { where = '', orderBy = '', fields = '', pageSize } = query;
  return { where, orderBy, fields, pageSize: PAGE_SIZES.find((size) => String(size) === pageSize) ?? PAGE_SIZE };
}

export function pathOf(instanceId?: number, objectName?: string): string {
  const segments = [instanceId, objectName].filter((segment) => segment !== undefined);
  return ['/console/explore', ...segments.map(encodeURIComponent)].join('/');
}

export function addressOf(path: string, { where, orderBy, fields, pageSize }: WrittenQuery): string {
  const written = { where, orderBy, fields, pageSize: pageSize === PAGE_SIZE ? '' : String(pageSize) };
  const parameters = new URLSearchParams(Object.entries(written).filter(([, value]) => value !== ''));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

/** Returns the texts of a query without those that are empty. */
export function textsOf({ where, orderBy, fields }: WrittenQuery) {
  return { ...(where !== '' && { where }), ...(orderBy !== '' && { orderBy }), ...(fields !== '' && { fields }) };
}

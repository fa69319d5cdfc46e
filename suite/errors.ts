import type { FieldSpec } from '#connector';
import type { ApiAnswer } from '../test/support/app.ts';
import { idOf, type Listing, type Target } from './target.ts';

const NO_VALUES: Readonly<Partial<Record<FieldSpec['type'], string>>> = {
  number: "'twelve'",
  integer: '1.5',
  boolean: "'perhaps'",
  date: "'2024-02-30'",
  datetime: "'yesterday'",
  string: '12',
  array: "'x'",
  object: "'x'",
};

/**
 * Sends faulty queries. Each must be rejected with a 400 that names the fault and its position.
 * @returns the faults
 */
export async function makeMistakes(target: Target, listing: Listing): Promise<readonly string[]> {
  const faults: string[] = [];
  const [name = ''] = Object.keys(listing.object.fields).filter((field) => /^[A-Za-z]\w+$/.test(field));
  const misspelt = `${name}x`;
  const check = async (where: string, isRight: (response: ApiAnswer) => boolean) => {
    const response = await target.call(listing.path, { query: { where } });
    if (response.status === 400 && isRight(response)) return;
    faults.push(`${listing.name} where ${where} returned ${response.status} ${JSON.stringify(response.body)}`);
  };
  await check(`${misspelt} IS NULL AND nosuchfieldatall = 1`, ({ body }) => {
    const [first, second] = body.details ?? [];
    const isFound = first?.position === 0 && first?.nearest !== undefined && body.message.includes(misspelt);
    return body.code === 'WHERE_INVALID' && isFound && second?.position === misspelt.length + 13;
  });
  for (const [field, { type }] of Object.entries(listing.object.fields)) {
    const where = `\`${field}\` = ${NO_VALUES[type]}`;
    await check(where, ({ body }) => body.code === 'WHERE_INVALID' && body.details?.[0]?.position === field.length + 5);
  }
  await check(`${name} = `, ({ body }) => body.code === 'WHERE_SYNTAX');
  return faults;
}

/**
 * Requests names and ids that do not exist. Each must be rejected with a 404.
 * @returns the faults
 */
export async function askForNothing(target: Target, listings: readonly Listing[]): Promise<readonly string[]> {
  const faults: string[] = [];
  const expectNotFound = async (path: string, statuses = [404]) => {
    const response = await target.call(path);
    if (!statuses.includes(response.status)) {
      faults.push(`GET ${path} returned ${response.status} ${JSON.stringify(response.body).slice(0, 300)}`);
    }
    return response;
  };
  for (const [name, object] of Object.entries(target.objects)) {
    const response = await expectNotFound(`/${encodeURIComponent(name)}x`);
    if (response.body.details?.[0]?.nearest === undefined) faults.push(`GET /${name}x suggests no name`);
    await expectNotFound(`/objects/${name}x/metadata`);
    const listing = listings.find(({ path }) => path === `/${name}`);
    const [first] = listing?.rows ?? [];
    if (object.get === undefined || listing === undefined || first === undefined) continue;
    await expectNotFound(`/${name}/${encodeURIComponent(unknownId(idOf(listing, first)))}`);
    await expectNotFound(`/${name}/${encodeURIComponent(idOf(listing, first))}/nosuchchild`);
    // A provider may report that such an id is invalid.
    for (const id of STRANGE_IDS) await expectNotFound(`/${name}/${encodeURIComponent(id)}`, [404, 422]);
  }
  return faults;
}

const STRANGE_IDS = ["no'such", 'a/b', '%2e%2e', 'x?y=1#z', "')", 'directory', '$metadata', '😀', '-1'];

/** Returns an id of the same form that no record has. */
function unknownId(id: string): string {
  if (/^\d+$/.test(id)) return '99999999';
  if (/^[0-9a-f-]{36}$/i.test(id)) return 'ffffffff-ffff-4fff-8fff-ffffffffffff';
  return id.includes("='") ? id.replace(/'[^']*'/, "'nobody'") : 'nobody';
}

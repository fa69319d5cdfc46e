import type { MappedType } from './values.ts';

/** A field of the provider that can be mapped. */
export interface VendorField {
  readonly path: string;
  /** Type of the field in the metadata or, without metadata, of its value in an example. */
  readonly type: string;
}

/** A field of a definition for which a field of the provider is searched. */
export interface OurField {
  readonly path: string;
  readonly type: MappedType;
}

/** Words with the same meaning, without punctuation and in lower case. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['id', 'key', 'identifier', 'recordid'],
  ['firstname', 'givenname', 'forename'],
  ['lastname', 'familyname', 'surname'],
  ['name', 'fullname', 'displayname', 'label'],
  ['email', 'mail', 'emailaddress', 'workemail', 'emailaddressesemail'],
  ['phone', 'phonenumber', 'telephone', 'tel', 'workphone', 'phonenumbersnumber'],
  ['mobile', 'mobilephone', 'cellphone', 'mobilenumber'],
  ['created', 'createdat', 'createddate', 'createdtime', 'createtime', 'creationdate', 'datecreated'],
  [
    ...['updated', 'updatedat', 'updateddate', 'updatedtime', 'updatetime', 'lastupdated', 'lastupdatedtime'],
    ...['changed', 'changedat', 'lastchanged', 'modified', 'modifiedat', 'modifieddate', 'lastmodified'],
    ...['lastmodifieddate', 'lastmodifiedtime', 'dateupdated', 'datemodified'],
  ],
  ['street', 'line1', 'addressline1', 'address1'],
  ['city', 'locality', 'town'],
  ['region', 'state', 'province'],
  ['postalcode', 'zip', 'zipcode', 'postcode'],
  ['country', 'countrycode'],
  ['company', 'companyname', 'organization', 'organisation', 'accountname'],
  ['title', 'jobtitle', 'position'],
  ['birthdate', 'birthday', 'dateofbirth'],
  ['website', 'url', 'homepage'],
  ['description', 'notes', 'comment', 'comments'],
  ['owner', 'ownerid', 'assignedto'],
];
const GROUP_OF = new Map(SYNONYMS.flatMap((words, group) => words.map((word): [string, number] => [word, group])));

/** Words that mean nothing without the word before them: `company.id` is a different field than `id`. */
const VAGUE = new Set(['id', 'key', 'name', 'type', 'value', 'label', 'title', 'state', 'status', 'code', 'number']);

const KINDS: Readonly<Record<string, MappedType>> = { integer: 'number', datetime: 'date' };

/** The kinds of provider fields that fit a field of each type. */
const TAKES: Readonly<Record<MappedType, readonly string[]>> = {
  string: ['string', 'number', 'boolean', 'date'],
  number: ['number', 'string'],
  boolean: ['boolean', 'string'],
  date: ['date', 'string'],
  array: ['array'],
  object: ['object'],
};

function kindOf({ type }: VendorField): string {
  return KINDS[type] ?? type;
}

function takes(ours: OurField, vendor: VendorField): boolean {
  return TAKES[ours.type].includes(kindOf(vendor));
}

/** Returns a path without punctuation and in lower case: `email_addresses[0].email` becomes `emailaddressesemail`. */
function normalise(path: string): string {
  return path
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}

function lastOf(path: string): string {
  return normalise(
    path
      .replaceAll(/\[[^\]]*\]/g, '')
      .split('.')
      .at(-1) ?? '',
  );
}

function isSame(one: string, other: string): boolean {
  const group = GROUP_OF.get(one);
  return group !== undefined && group === GROUP_OF.get(other);
}

/** Returns how alike two names are, from 4 for the same name to 0 for names that have nothing in common. */
function likenessOf(ours: string, vendor: string): number {
  const [one, other] = [normalise(ours), normalise(vendor)];
  if (one === other) return 4;
  if (isSame(one, other)) return 3;
  const [oneEnd, otherEnd] = [lastOf(ours), lastOf(vendor)];
  if (VAGUE.has(oneEnd) || VAGUE.has(otherEnd)) return 0;
  if (oneEnd === otherEnd) return 2;
  return isSame(oneEnd, otherEnd) ? 1 : 0;
}

/** Returns a number that is higher for a better match: the names decide, then the types. */
function scoreOf(ours: OurField, vendor: VendorField): number {
  const isSameKind = kindOf(vendor) === ours.type;
  return likenessOf(ours.path, vendor.path) * 4 + (isSameKind ? 2 : 0) + (takes(ours, vendor) ? 1 : 0);
}

/** Returns the fields of the provider for one of ours, best match first: by name, then by type, then in their own order. */
export function rankFields(ours: OurField, vendor: readonly VendorField[]): readonly VendorField[] {
  return vendor
    .map((field) => ({ field, score: scoreOf(ours, field) }))
    .toSorted((one, other) => other.score - one.score)
    .map(({ field }) => field);
}

/**
 * Suggests a field of the provider for each of ours, as far as the names are alike and the types fit. The best pairs are made first, and no
 * field of the provider is suggested twice.
 * @returns paths of the provider by our paths
 */
export function suggestPairs(
  ours: readonly OurField[],
  vendor: readonly VendorField[],
): ReadonlyMap<string, VendorField> {
  const pairs = ours
    .flatMap((one) => vendor.map((other) => ({ one, other, score: scoreOf(one, other) })))
    .filter(({ one, other }) => likenessOf(one.path, other.path) > 0 && takes(one, other))
    .toSorted((a, b) => b.score - a.score);
  const found = new Map<string, VendorField>();
  const taken = new Set<string>();
  for (const { one, other } of pairs) {
    if (found.has(one.path) || taken.has(other.path)) continue;
    found.set(one.path, other);
    taken.add(other.path);
  }
  return found;
}

/** Returns the type of a mapped field for a field of the provider. */
export function mappedTypeOf(vendor: VendorField): MappedType {
  const kind = kindOf(vendor);
  return Object.keys(TAKES).includes(kind) ? (kind as MappedType) : 'string';
}

/** Returns a name in our style for a path of the provider: `email_addresses[0].email` becomes `email`. */
export function nameFor(vendorPath: string): string {
  const last =
    vendorPath
      .replaceAll(/\[[^\]]*\]/g, '')
      .split('.')
      .at(-1) ?? '';
  const words = last.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  return words
    .map((word, index) =>
      index === 0 ? word.replace(/^\p{Lu}+(?!\p{Ll})|^\p{Lu}/u, (start) => start.toLowerCase()) : capitalise(word),
    )
    .join('');
}

function capitalise(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

import type { ApiAnswer, ApiCall } from '../../support/app.ts';

type Call = (path: string, call?: ApiCall) => Promise<ApiAnswer>;

/** What a request about definitions or transformations finds: nothing, a definition of its level, or a transformation as well. */
type Prepared = 'nothing' | 'definition' | 'transformation';

interface OfMappings {
  readonly verb: string;
  readonly level: string;
  readonly kind: string;
}

const OPERATION =
  /^(list|get|create|replace|rename|delete)(?:This)?(Organization|OwnAccount|Account|Instance)(Definition|Transformation)s?$/;

/** Reads what an operation on one level does; undefined for other operations. */
export function readOperation(id: string): OfMappings | undefined {
  const [, verb = '', level = '', kind = ''] = OPERATION.exec(id) ?? [];
  return verb === '' ? undefined : { verb, level, kind };
}

const OTHERS: Readonly<Record<string, Prepared>> = {
  putTransformation: 'definition',
  getCommonResource: 'transformation',
  renameCommonResource: 'transformation',
  deleteCommonResource: 'definition',
  listCommonResourceUsages: 'definition',
  getVdr: 'transformation',
  deleteVdr: 'definition',
  exportVdr: 'definition',
  cloneVdr: 'nothing',
};

/** Returns what has to be there for an operation to succeed and, unless it only reads, to change something. */
function neededBy(id: string): Prepared | undefined {
  const { verb = '', kind = '' } = readOperation(id) ?? {};
  if (kind === '') return OTHERS[id];
  if (kind === 'Definition') return verb === 'create' ? 'nothing' : 'definition';
  return verb === 'create' ? 'definition' : 'transformation';
}

/** The paths of the levels of an account, and of its transformations for OData services. */
function levelsOf(instanceId: number) {
  return {
    Organization: ['/organizations', '/organizations/elements/odata'],
    OwnAccount: ['/accounts', '/accounts/elements/odata'],
    Account: ['/accounts', '/accounts/elements/odata'],
    Instance: [`/instances/${instanceId}`, `/instances/${instanceId}`],
  } as const;
}

/** Removes all definitions and transformations of all levels, and makes what an operation needs. Nothing for others than those of mappings. */
export async function prepareMappings(
  call: Call,
  id: string,
  { instanceId, objectName }: { readonly instanceId: number; readonly objectName: string },
): Promise<void> {
  const needed = neededBy(id);
  if (needed === undefined) return;
  const levels = levelsOf(instanceId);
  const lowestFirst = [levels.Instance, levels.Account, levels.Organization];
  for (const [, elements] of lowestFirst) await ask(`${elements}/transformations`, { method: 'DELETE' });
  for (const [base] of lowestFirst) await ask(`${base}/objects/definitions`, { method: 'DELETE' });
  const { level = 'Organization' } = readOperation(id) ?? {};
  const [base, elements] = levels[level as keyof typeof levels];
  if (needed === 'nothing') return;
  const fields = [{ path: 'key', type: 'string' }];
  await ask(`${base}/objects/${objectName}/definitions`, { method: 'POST', body: { fields } });
  if (needed === 'definition') return;
  const body = { vendorName: 'Orders', fields: [{ path: 'key', vendorPath: 'Code' }] };
  await ask(`${elements}/transformations/${objectName}`, { method: 'POST', body });

  async function ask(path: string, options: ApiCall): Promise<void> {
    const { status, body: answer } = await call(path, options);
    if (status !== 200) throw new Error(`${options.method} ${path}: ${status} ${JSON.stringify(answer)}`);
  }
}

import {
  type ConnectorContext,
  defineObject,
  type Fields,
  isNotFound,
  type ListInput,
  type ListPage,
  type ObjectSpec,
  type Operation,
  type ProviderResponse,
  path,
} from '#connector';
import { getArray, getObject, type Json } from './answer.ts';
import { cursorAt, takePage } from './paging.ts';
import { readBoolean, readInstant, readInteger } from './values.ts';

const FIELDS: Fields = {
  id: { type: 'integer', nullable: false, read: readInteger },
  name: { type: 'string' },
  originalFileName: { type: 'string' },
  size: { type: 'integer', label: 'Size in bytes', read: readInteger },
  categoryId: { type: 'integer', read: readInteger },
  categoryName: { type: 'string' },
  dateCreated: { type: 'datetime', read: readInstant },
  createdBy: { type: 'string', label: 'Full name of the uploader' },
  canRenameFile: { type: 'boolean', read: readBoolean },
  canDeleteFile: { type: 'boolean', read: readBoolean },
};

const SHARED = { type: 'boolean', read: readBoolean } as const;

/** Files of the company. */
export const companyFiles = createFiles({
  label: 'Company files',
  fields: { ...FIELDS, shareWithEmployees: SHARED },
  operation: { request: () => ({ path: '/api/v1/files/view' }), read: readFiles },
});

/** Files of one employee. */
export const employeeFiles = createFiles({
  label: 'Files of the employee',
  fields: { ...FIELDS, shareWithEmployee: SHARED },
  operation: { run: listEmployeeFiles },
});

/** "Not found, or the employee has no accessible file categories" is one answer: whether there is such an employee tells another call. */
async function listEmployeeFiles({ send }: ConnectorContext, input: ListInput<never>): Promise<ListPage> {
  const employee = path`/api/v1/employees/${input.parentId ?? ''}`;
  try {
    return readFiles(await send({ path: `${employee}/files/view` }), input);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await send({ path: employee });
    return { records: [], total: 0 };
  }
}

interface FilesOptions {
  readonly label: string;
  readonly fields: Fields;
  readonly operation: Operation<ListInput<never>, ListPage>;
}

function createFiles({ label, fields, operation }: FilesOptions): ObjectSpec {
  return defineObject<never>({
    label,
    native: 'files',
    fields,
    list: { ...operation, maxPageSize: 5000, cursorAt },
  });
}

/** Categories with files in them → files with their category. */
function readFiles({ body }: ProviderResponse, input: ListInput<never>): ListPage {
  const what = 'the file categories';
  const categories = getArray(getObject(body, what).categories, what).map((category) => getObject(category, what));
  return takePage(categories.flatMap(readCategory), input);
}

function readCategory({ id, name, files }: Json): readonly Json[] {
  return getArray(files ?? [], 'the files of a category').map((file) => ({
    ...getObject(file, 'a file'),
    categoryId: id,
    categoryName: name,
  }));
}

import {
  defineObject,
  type Fields,
  type ListInput,
  type ListPage,
  type ObjectSpec,
  type ProviderRequest,
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
  request: () => ({ path: '/api/v1/files/view' }),
});

/** Files of one employee. BambooHR answers 404 for an employee without a category that the caller may see. */
export const employeeFiles = createFiles({
  label: 'Files of the employee',
  fields: { ...FIELDS, shareWithEmployee: SHARED },
  request: ({ parentId }) => ({ path: path`/api/v1/employees/${parentId ?? ''}/files/view` }),
});

interface FilesOptions {
  readonly label: string;
  readonly fields: Fields;
  readonly request: (input: ListInput<never>) => ProviderRequest;
}

function createFiles({ label, fields, request }: FilesOptions): ObjectSpec {
  return defineObject<never>({
    label,
    native: 'files',
    fields,
    list: { request, read: readFiles, maxPageSize: 5000, cursorAt },
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

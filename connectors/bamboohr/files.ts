import {
  type ConnectorContext,
  codec,
  defineObject,
  type Fields,
  isNotFound,
  json,
  type ListInput,
  type ListPage,
  list,
  path,
} from '#connector';

const INTEGER = { type: 'integer', ...codec.blank(codec.integer) } as const;
const BOOLEAN = { type: 'boolean', ...codec.blank(codec.flag('yes', 'no')) } as const;

const FIELDS: Fields = {
  id: { ...INTEGER, nullable: false },
  name: { type: 'string' },
  originalFileName: { type: 'string' },
  size: { ...INTEGER, label: 'Size in bytes' },
  categoryId: INTEGER,
  categoryName: { type: 'string' },
  dateCreated: { type: 'datetime', ...codec.blank(codec.instant(3)) },
  createdBy: { type: 'string', label: 'Full name of the uploader' },
  canRenameFile: BOOLEAN,
  canDeleteFile: BOOLEAN,
};

export const companyFiles = defineObject<never>({
  label: 'Company files',
  native: 'files',
  fields: { ...FIELDS, shareWithEmployees: BOOLEAN },
  list: list({ request: () => ({ path: '/api/v1/files/view' }), rows: readFiles, paging: { kind: 'whole' } }),
});

const listOfEmployee = list<never>({
  request: ({ parentId = '' }) => ({ path: path`/api/v1/employees/${parentId}/files/view` }),
  rows: readFiles,
  paging: { kind: 'whole' },
});

export const employeeFiles = defineObject<never>({
  label: 'Files of the employee',
  native: 'files',
  fields: { ...FIELDS, shareWithEmployee: BOOLEAN },
  list: { ...listOfEmployee, run: listEmployeeFiles },
});

/**
 * Lists the files of an employee. "Not found, or the employee has no accessible file categories" is one response, so another call checks
 * whether the employee exists.
 */
async function listEmployeeFiles({ send, config }: ConnectorContext, input: ListInput<never>): Promise<ListPage> {
  try {
    return listOfEmployee.read(await send(listOfEmployee.request(input, config)), input);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await send({ path: path`/api/v1/employees/${input.parentId ?? ''}` });
    return { records: [], total: 0 };
  }
}

/** Returns the files of all categories, each with its category. */
function readFiles(body: unknown): readonly unknown[] {
  return json
    .objects(json.at(body, 'categories'), 'the file categories')
    .flatMap(({ id, name, files }) =>
      json
        .objects(files ?? [], 'the files of a category')
        .map((file) => ({ ...file, categoryId: id, categoryName: name })),
    );
}

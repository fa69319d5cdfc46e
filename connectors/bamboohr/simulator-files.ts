import type { Row } from './simulator-data.ts';
import { type Answer, json, Refusal } from './simulator-http.ts';

const COMPANY_FILES = [
  companyFile(470, 'Employee Handbook', 'handbook.pdf', 'yes'),
  companyFile(471, 'Men\'s "dress" code \\ 2025', 'Über uns – 👔.docx', 'no'),
];

function companyFile(id: number, name: string, originalFileName: string, shareWithEmployees: 'yes' | 'no') {
  return {
    id,
    name,
    originalFileName,
    // Text here, a number in the files of an employee.
    size: String(id * 1000),
    dateCreated: '2025-02-11T22:30:07+0000',
    createdBy: "Pat O'Brien",
    shareWithEmployees,
    canRenameFile: 'yes',
    canDeleteFile: 'no',
  };
}

export function listCompanyFiles(): Answer {
  return json({
    categories: [
      { id: 112, name: 'New Hire Docs', canUploadFiles: 'yes', files: COMPANY_FILES },
      { id: 113, name: 'Empty', canUploadFiles: 'no', files: [] },
    ],
  });
}

/** One employee in three has files. */
export function listEmployeeFiles(rows: ReadonlyMap<number, Row>, id: string): Answer {
  if (!rows.has(Number(id))) throw new Refusal(404, 'Employee not found');
  if (Number(id) % 3 !== 0) throw new Refusal(404, 'The employee has no accessible file categories');
  return json({ employee: { id: Number(id) }, categories: createCategories(Number(id)) });
}

function createCategories(id: number) {
  const files = [1, 2].map((number) => ({
    id: id * 10 + number,
    name: `Contract ${number}`,
    originalFileName: `contract-${number}.pdf`,
    size: 1000 * number,
    dateCreated: `2024-01-1${number}T23:59:59+0000`,
    createdBy: 'Ashley Smith',
    shareWithEmployee: number === 1 ? 'yes' : 'no',
    canRenameFile: 'yes',
    canDeleteFile: 'yes',
    canChangeShareWithEmployeeFieldValue: 'yes',
  }));
  const rights = { canRenameCategory: 'yes', canDeleteCategory: 'no', canUploadFiles: 'yes', displayIfEmpty: 'yes' };
  return [
    { id: 12, name: 'Signed Documents', ...rights, files: files.slice(0, 1) },
    { id: 13, name: 'Tasklist Attachments', ...rights, files: files.slice(1) },
  ];
}

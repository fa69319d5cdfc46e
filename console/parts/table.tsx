import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Whether the column has numbers, which are aligned to the right. */
  readonly isNumber?: boolean;
  /** Whether the column is hidden on narrow pages. */
  readonly isMinor?: boolean;
  /** The action of a click on the title, and the current order by this column. */
  readonly sort?: ColumnSort;
}

export interface ColumnSort {
  readonly direction: 'ascending' | 'descending' | undefined;
  readonly toggle: () => void;
}

interface TableProps<Row> {
  /** Name of the table for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** Returns the path of the row's page, for the link in its first cell. */
  readonly linkOf?: (row: Row) => string;
  /** Returns the class of a row. */
  readonly markOf?: ((row: Row) => string | undefined) | undefined;
}

export function Table<Row>({ label, columns, rows, keyOf, linkOf, markOf }: TableProps<Row>) {
  const classOf = ({ isNumber, isMinor }: Column<Row>) =>
    [isNumber && 'number', isMinor && 'minor'].filter(Boolean).join(' ') || undefined;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="table" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)} aria-sort={column.sort?.direction}>
                <Title column={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={markOf?.(row)}>
              {columns.map((column, index) => (
                <td key={column.title} class={classOf(column)}>
                  {index === 0 && linkOf !== undefined ? (
                    <a href={linkOf(row)}>{column.cell(row)}</a>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const ARROWS = { ascending: '↑', descending: '↓' };

function Title<Row>({ column: { title, sort } }: { readonly column: Column<Row> }) {
  if (sort === undefined) return <>{title}</>;
  return (
    <button type="button" class="sort" onClick={sort.toggle}>
      {title} <span aria-hidden="true">{sort.direction === undefined ? '↕' : ARROWS[sort.direction]}</span>
    </button>
  );
}

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Column, Table } from '../parts/table.tsx';
import { draw, type PlotOptions, sayTime } from './plot.ts';
import { type Series, totalOf } from './series.ts';

interface ChartProps extends Omit<PlotOptions, 'onPoint'> {
  readonly title: string;
  /** Text that is shown if there is nothing to draw. */
  readonly nothing: string;
  readonly children?: ComponentChildren;
}

/** Shows a chart, and the same numbers as a table. */
export function Chart({ title, nothing, children, ...plot }: ChartProps) {
  const { points, series, print } = plot;
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  return (
    <section class="card stack tight" aria-label={title}>
      <header class="row apart">
        <h2>{title}</h2>
        {children}
      </header>
      {isEmpty ? (
        <p class="soft">{nothing}</p>
      ) : (
        <>
          <Plot title={title} {...plot} />
          <details>
            <summary>Show the numbers</summary>
            <Table
              label={`${title}: the numbers`}
              columns={columnsOf(points, series, print)}
              rows={points.map((_, at) => at).filter((at) => series.some(({ values }) => values[at]))}
              keyOf={(at) => at}
            />
          </details>
        </>
      )}
    </section>
  );
}

function columnsOf(
  points: readonly number[],
  series: readonly Series[],
  print: (value: number) => string,
): readonly Column<number>[] {
  const columns = series.map(
    ({ label, values }): Column<number> => ({
      title: label,
      isNumber: true,
      cell: (at) => {
        const value = values[at];
        return value === null || value === undefined ? '–' : print(value);
      },
    }),
  );
  return [{ title: 'From (UTC)', cell: (at) => sayTime(points[at] ?? 0) }, ...columns];
}

/** Draws a chart as wide as its container. It is drawn again when the theme or the width changes. */
function Plot({ title, ...options }: Omit<PlotOptions, 'onPoint'> & { readonly title: string }) {
  const [at, setAt] = useState<number>();
  const element = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const key = JSON.stringify([options.points, options.series, theme]);
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    if (element.current === null) return;
    const room = element.current;
    const plot = draw(room, { ...latest.current, onPoint: setAt });
    const watch = new ResizeObserver(() => plot.setSize({ width: room.clientWidth, height: plot.height }));
    watch.observe(room);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [key]);
  return (
    <>
      <div
        class="chart"
        ref={element}
        role="img"
        aria-label={`${title}, as a chart. A table with its numbers follows.`}
      />
      <Legend at={at} {...options} />
    </>
  );
}

/** Shows the meaning of the colours, with the values at the pointer or, without a pointer, the totals or the last values. */
function Legend({
  at,
  points,
  series,
  isStacked,
  print,
}: Omit<PlotOptions, 'onPoint'> & { readonly at: number | undefined }) {
  const time = at === undefined ? undefined : points[at];
  const numberOf = (each: Series) => {
    if (at !== undefined) return each.values[at];
    return isStacked ? totalOf(each) : each.values.findLast((value) => value !== null);
  };
  return (
    <ul class="legend">
      <li class="soft">{time === undefined ? (isStacked ? 'in all' : 'last') : sayTime(time)}</li>
      {series.map((each) => {
        const value = numberOf(each);
        return (
          <li key={each.label}>
            <span class="swatch" style={{ background: `var(--${each.colour})` }} />
            {each.label} <span class="strong">{value === null || value === undefined ? '–' : print(value)}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** Returns a text that changes whenever the colours of the theme change. */
function useTheme(): string {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const read = () => `${document.documentElement.dataset.theme ?? ''} ${dark.matches}`;
  const [theme, setTheme] = useState(read);
  useEffect(() => {
    const change = () => setTheme(read());
    const watch = new MutationObserver(change);
    watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    dark.addEventListener('change', change);
    return () => {
      watch.disconnect();
      dark.removeEventListener('change', change);
    };
  }, []);
  return theme;
}

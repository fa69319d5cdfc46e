import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Colour, Series } from './series.ts';

export interface PlotOptions {
  readonly points: readonly number[];
  readonly series: readonly Series[];
  /** Whether the series are counts, which are stacked as bars. Other series are lines. */
  readonly isStacked: boolean;
  readonly print: (value: number) => string;
  /** Receives the index of the point under the pointer, or undefined if there is none. */
  readonly onPoint: (at: number | undefined) => void;
}

const HEIGHT = 230;
const FONT = '12px system-ui, sans-serif';

/** Draws a chart into an element, in the current colours of the theme. */
export function draw(element: HTMLElement, { points, series, isStacked, print, onPoint }: PlotOptions): uPlot {
  const colours = createColours(element);
  // Later series cover earlier ones, so the tallest is drawn first.
  const shown = isStacked ? series.toReversed() : series;
  const heights = isStacked ? stack(series).toReversed() : series.map(({ values }) => [...values]);
  const axis: uPlot.Axis = {
    stroke: colours.read('soft'),
    grid: { stroke: colours.read('line'), width: 1 },
    ticks: { stroke: colours.read('line'), width: 1 },
    font: FONT,
  };
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
    cursor: { drag: { x: false, y: false } },
    legend: { show: false },
    hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? undefined)] },
    scales: {
      // The last interval needs space for its bar too.
      x: { range: (_plot, first, last) => [first, last + stepOf(points) / 1000] },
      y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
    },
    axes: [
      { ...axis, values: (_plot, ticks) => sayTicks(ticks) },
      { ...axis, size: 64, values: (_plot, ticks) => ticks.map(print) },
    ],
    series: [
      {},
      ...shown.map(({ label, colour, values }): uPlot.Series => {
        const stroke = colours.read(colour);
        return {
          label,
          stroke,
          width: isStacked ? 0 : 2,
          ...(isStacked && { fill: stroke, paths: bars }),
          points: { show: !isStacked && values.filter((value) => value !== null).length < 40, size: 5 },
        };
      }),
    ],
  };
  colours.close();
  return new uPlot(options, [points.map((ms) => ms / 1000), ...heights], element);
}

const bars: uPlot.Series.PathBuilder = (plot, ...more) =>
  uPlot.paths.bars?.({ size: [0.8, 40], align: 1 })(plot, ...more) ?? null;

/** Returns the heights of stacked bars: each is the sum of its own value and those of the series before it. */
function stack(series: readonly Series[]): (number | null)[][] {
  const heights: (number | null)[][] = [];
  for (const { values } of series) {
    const below = heights.at(-1);
    heights.push(values.map((value, at) => (value ?? 0) + (below?.[at] ?? 0)));
  }
  return heights;
}

/** Returns the current colours of the design, because a canvas cannot read CSS variables. */
function createColours(element: HTMLElement) {
  const probe = document.createElement('span');
  element.append(probe);
  return {
    read: (name: Colour | 'line'): string => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    },
    close: () => probe.remove(),
  };
}

function stepOf([first = 0, second = first]: readonly number[]): number {
  return second - first;
}

/** Returns the labels of the time axis: hours and minutes, with the day below the first label and below the first one of each day. */
function sayTicks(seconds: readonly number[]): string[] {
  const texts = seconds.map((each) => sayTime(each * 1000));
  const areDays = texts.every((text) => text.endsWith('00:00'));
  return texts.map((text, index) => {
    const [day = '', time = ''] = text.split(' ');
    if (areDays) return day.slice(5);
    return day === texts[index - 1]?.slice(0, 10) ? time : `${time}\n${day.slice(5)}`;
  });
}

/** Formats a time in UTC, to the minute. */
export function sayTime(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16).replace('T', ' ');
}

import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const STEP = 1.25;
const LEAST = 0.2;
const MOST = 2;
/** Minimum scale at which a graph is first shown. Smaller boxes are hard to read, so a wide graph scrolls instead. */
const LEAST_FIRST = 0.65;

/** The scale of a drawing in its frame. Ctrl and the mouse wheel change it too. */
export interface Zoom {
  readonly scale: number;
  readonly zoomIn: () => void;
  readonly zoomOut: () => void;
  /** Sets the scale at which the whole width is visible. */
  readonly fit: () => void;
}

export function useZoom(frame: RefObject<HTMLElement | null>, width: number): Zoom {
  const [scale, setScale] = useState(1);
  const change = (factor: number) => setScale((last) => Math.min(MOST, Math.max(LEAST, last * factor)));
  const fitFrom = (least: number) => {
    const room = (frame.current?.clientWidth ?? 0) - 2;
    if (room > 0 && width > 0) setScale(Math.min(1, Math.max(least, room / width)));
  };
  useEffect(() => fitFrom(LEAST_FIRST), [width]);
  useEffect(() => {
    const shown = frame.current;
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      change(event.deltaY < 0 ? STEP : 1 / STEP);
    };
    shown?.addEventListener('wheel', turn, { passive: false });
    return () => shown?.removeEventListener('wheel', turn);
  }, []);
  return { scale, zoomIn: () => change(STEP), zoomOut: () => change(1 / STEP), fit: () => fitFrom(LEAST) };
}

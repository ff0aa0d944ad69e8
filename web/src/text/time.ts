/** Times in words: how long until or since, and the instant itself in the viewer's zone. */
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `2d 4h`, `3m 12s`, `850ms`: the two largest units. */
export function span(ms: number): string {
  const abs = Math.abs(ms);
  if (abs < SECOND) return `${Math.round(abs)}ms`;
  const units: [string, number][] = [
    ['d', DAY],
    ['h', HOUR],
    ['m', MINUTE],
    ['s', SECOND],
  ];
  const parts: string[] = [];
  let rest = Math.floor(abs / SECOND) * SECOND;
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** `in 2d 4h`, `3m 12s ago`, `now`. */
export function relative(instant: string | number, now: number): string {
  const ms = (typeof instant === 'number' ? instant : Date.parse(instant)) - now;
  if (Math.abs(ms) < SECOND) return 'now';
  return ms > 0 ? `in ${span(ms)}` : `${span(ms)} ago`;
}

const absolute = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
const clockTime = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayTime = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});
const dayOnly = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const hourMinute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

export const full = (instant: string | number): string => absolute.format(new Date(instant));

/** Short, beside a relative time: the clock if it is near, else the day, too. */
export function short(instant: string | number, now: number): string {
  const at = new Date(instant);
  return Math.abs(at.getTime() - now) < 12 * HOUR ? clockTime.format(at) : dayTime.format(at);
}

/** A mark of an axis that spans this long. */
export function tick(at: number, spanMs: number): string {
  const date = new Date(at);
  if (spanMs <= 2 * MINUTE) return clockTime.format(date);
  if (spanMs <= 2 * DAY) return hourMinute.format(date);
  return spanMs <= 8 * DAY ? dayTime.format(date) : dayOnly.format(date);
}

/** For `<input type="datetime-local">`, in the viewer's zone, to the second. */
export function toLocalInput(ms: number): string {
  const at = new Date(ms);
  const local = new Date(ms - at.getTimezoneOffset() * MINUTE);
  return local.toISOString().slice(0, 19);
}

export const fromLocalInput = (text: string): Date | null => {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? null : at;
};

/** Millionths of a unit of money, as many digits as say something. */
export const money = (micros: number): string =>
  (micros / 1e6).toLocaleString(undefined, { maximumSignificantDigits: 4 });

const number = new Intl.NumberFormat();
export const count = (value: number): string => number.format(value);

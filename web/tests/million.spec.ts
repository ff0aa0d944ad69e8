/**
 * The lists with very many runs: what one waits for is there in half a second. Needs a store that has them, because making
 * one takes a minute: `abide bench sleepers --folder F`, then `ABIDE_WEB_STORE=F/bench.db`.
 */
import { expect, test } from './server';

const STORE = process.env['ABIDE_WEB_STORE'];
const LIMIT_MS = 500;
const AGAIN = 5;

/** A page, and what of it is made of data. */
const PAGES: [string, string][] = [
  ['/', '.figure:not(:empty)'],
  ['/?span=year', 'svg[role=application] rect.time'],
  ['/waits', 'tbody tr'],
  ['/waits?kind=DELAY', 'tbody tr'],
  ['/runs', 'tbody tr'],
  ['/runs?status=WAITING', 'tbody tr'],
  ['/definitions', 'tbody tr'],
];

test.skip(!STORE, 'no store with very many runs was given');

test('with a million runs each page shows its data in half a second', async ({ page, server }) => {
  const overview = await server.call('GET', '/overview');
  const waiting = overview.json.runs.find((one: { status: string }) => one.status === 'WAITING').count as number;
  expect(waiting).toBeGreaterThanOrEqual(1_000_000);
  const slow: string[] = [];
  for (const [path, selector] of PAGES) {
    const times: number[] = [];
    for (let time = 0; time < AGAIN; time += 1) {
      await page.goto(server.url + path, { waitUntil: 'commit' });
      const shown = await page.waitForFunction(
        (wanted) => {
          const found = document.querySelector(wanted);
          return found && found.textContent !== '–' ? performance.now() : null;
        },
        selector,
        { polling: 'raf' },
      );
      times.push((await shown.jsonValue()) ?? Infinity);
    }
    times.sort((one, other) => one - other);
    const middle = times[Math.floor(AGAIN / 2)] ?? Infinity;
    console.log(`${path}: ${middle.toFixed(0)} ms (${times.map((one) => one.toFixed(0)).join(', ')})`);
    if (middle > LIMIT_MS) slow.push(`${path}: ${middle.toFixed(0)} ms`);
  }
  expect(slow).toEqual([]);
});

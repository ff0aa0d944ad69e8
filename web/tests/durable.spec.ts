import type { Locator } from '@playwright/test';
import { violations } from './axe';
import { expect, test, type Server } from './server';

const LONG = 'archive-the-whole-correspondence-WITH-THE-CUSTOMER';
const refunds = (name: string): object => ({
  name,
  steps: [
    { type: 'task', name: 'desk', handler: `desk of ${name}` },
    { type: 'task', name: LONG, handler: 'archive-correspondence-in-the-cold-storage-of-the-company' },
  ],
});

/** A run whose handler has fetched an order, has failed to charge once, and waits for this. */
async function waiting(server: Server, name: string, wait: object): Promise<string> {
  await server.deploy(refunds(name));
  const id = await server.run(name);
  const failed = {
    type: 'retry',
    name: 'charge#retry-1',
    call: 'charge',
    attempt: 1,
    maxAttempts: 8,
    message: 'no way',
  };
  const entries = [{ name: 'order', result: { sku: 'kettle' } }];
  await server.work(`desk of ${name}`, 'suspend', { entries, waits: [{ ...failed, retryAfterMs: 86_400_000 }] });
  const { json } = await server.call('GET', `/waitpoints?runId=${id}&status=PENDING`);
  await server.call('POST', `/waitpoints/${json.data[0].id}/complete`, { payload: null });
  await server.work(`desk of ${name}`, 'suspend', { entries: [{ name: 'charge', result: 'paid' }], waits: [wait] });
  await server.settled(id, 'WAITING');
  return id;
}

test('durable calls have names, bars and lines of their own wherever a run is shown', async ({ page, server }) => {
  const id = await waiting(server, 'refunds', { type: 'sleep', name: 'cooling-off', duration: '2d' });
  await page.goto(`${server.url}/waits?runId=${id}`);
  await expect(page.getByRole('link', { name: 'refunds · desk › cooling-off' })).toBeVisible();
  await expect(page.getByRole('checkbox', { name: 'Pick the wait of desk › cooling-off' })).toBeVisible();
  await page.goto(`${server.url}/runs/${id}?step=desk`);
  await expect(
    page.locator('section', { hasText: 'Waits for' }).getByRole('link', { name: 'desk › cooling-off' }),
  ).toBeVisible();
  const timeline = page.getByRole('group', { name: /Timeline of 1 step and 3 durable calls/ });
  for (const name of ['order', 'charge', 'cooling-off']) {
    await expect(timeline.getByRole('link', { name: `Durable call desk › ${name}` })).toBeVisible();
  }
  await expect(timeline.locator('rect.failed title')).toHaveText(/desk › charge: failed: no way/);
  const journal = page.locator('section', { has: page.getByRole('heading', { name: 'Journal' }) });
  const lines = journal.getByRole('listitem').filter({ has: page.locator('strong') });
  await expect(lines).toHaveText([
    /completed\s*order\s*run/,
    /completed\s*charge\s*run.*2 attempts/,
    /pending\s*cooling-off\s*sleep/,
  ]);
  expect(await violations(page)).toEqual([]);
});

test('the history is told in sentences, with the fields behind each', async ({ page, server }) => {
  const id = await waiting(server, 'returns', {
    type: 'event',
    name: 'parcel',
    eventId: 'parcel.returned',
    timeout: '14d',
  });
  await page.goto(`${server.url}/runs/${id}`);
  const history = page.locator('section', { has: page.getByRole('heading', { name: 'History' }) });
  const line = (text: string | RegExp): Locator => history.getByRole('listitem').filter({ hasText: text });
  await expect(line('desk › order is recorded')).toBeVisible();
  await expect(line(/desk › charge failed \(attempt 1 of 8\): no way; tried again at/)).toBeVisible();
  await expect(line(/desk › parcel waits for event parcel\.returned, until/)).toBeVisible();
  await server.call('POST', '/events', { eventId: 'parcel.returned', eventData: { order: 7 } });
  const ended = line('desk › parcel was ended by event parcel.returned');
  await expect(ended).toBeVisible();
  await expect(ended.getByText('order')).toBeHidden();
  await ended.getByText('wait resolved').click();
  await expect(ended.getByText('order')).toBeVisible();
  await line('desk › order is recorded').getByRole('link', { name: 'desk › order' }).click();
  await expect(page).toHaveURL(/step=desk/);
});

test('an approval is decided, not woken', async ({ page, server }) => {
  const id = await waiting(server, 'reviews', { type: 'approval', name: 'review', content: 'x', approvers: ['ana'] });
  await page.goto(`${server.url}/runs/${id}`);
  const decide = page.getByRole('link', { name: 'Decide…' });
  await expect(decide).toBeVisible();
  await expect(page.getByRole('button', { name: 'Wake…' })).toHaveCount(0);
  await page.goto(`${server.url}/waits?kind=APPROVAL&runId=${id}`);
  await expect(page.getByRole('link', { name: 'Decide' })).toBeVisible();
  await expect(page.getByRole('button', { name: /Wake/ })).toHaveCount(0);
});

for (const width of [1280, 390]) {
  test(`long names stay inside their boxes, ${width} pixels wide`, async ({ page, server }) => {
    await page.setViewportSize({ width, height: 800 });
    const name = `the-customer-has-confirmed-${'that-the-money-arrived-'.repeat(6)}at-last`;
    const match = 'event.amount == input.order and event.currency == "EUR" and event.bank == "the receiving bank"';
    const id = await waiting(server, `long-${width}`, { type: 'event', name, eventId: name, match });
    /** What is wider than the page, and is not cut or scrolled by what it is in. */
    const wide = (): Promise<string[]> =>
      page.evaluate(() => {
        const { clientWidth, scrollWidth } = document.documentElement;
        const beyond = [...document.querySelectorAll('main *')].filter(
          (node) => node.getBoundingClientRect().right > clientWidth + 1,
        );
        return scrollWidth <= clientWidth ? [] : beyond.map((node) => `${node.tagName} ${node.className}`).slice(0, 8);
      });
    await page.goto(`${server.url}/runs/${id}?step=desk`);
    const box = page
      .getByRole('group', { name: `Steps of long-${width}` })
      .locator('g', { hasText: LONG.slice(0, 9) })
      .last();
    await expect(box.locator('title').first()).toHaveText(LONG);
    const [outer, ...inner] = await box.evaluate((node) =>
      [...node.querySelectorAll('rect, .name, .about')].map((part) => (part as SVGGraphicsElement).getBBox().width),
    );
    for (const text of inner) expect(text).toBeLessThan(outer!);
    const row = page.getByRole('link', { name: `Durable call desk › ${name}` });
    await expect(row.locator('title')).toHaveText(`Durable call desk › ${name}`);
    await expect(row.locator('text')).toHaveText(/^› the-cus[^ ]*…/);
    expect(await wide()).toEqual([]);
    await page.goto(`${server.url}/waits?runId=${id}`);
    await expect(page.getByTitle(`long-${width} · desk › ${name}`)).toBeVisible();
    expect(await wide()).toEqual([]);
  });
}

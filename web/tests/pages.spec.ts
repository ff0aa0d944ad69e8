/** Every page, in both colours and on a phone: reachable by machine-checked rules, without a scroll bar to the side. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { violations } from './axe';
import { expect, Server, test } from './server';

/** Something of everything. */
async function scene(server: Server): Promise<Record<string, string>> {
  await server.deploy({
    name: 'drip',
    version: '2',
    description: 'Letters, days apart.',
    steps: [
      { type: 'wait', name: 'three-days', duration: '3d' },
      { type: 'task', name: 'second-letter', handler: 'send-email' },
    ],
  });
  await server.deploy({
    name: 'drip',
    version: '3',
    description: 'Letters, days apart, until somebody answers.',
    steps: [
      { type: 'wait', name: 'two-days', duration: '2d' },
      { type: 'task', name: 'second-letter', handler: 'send-email' },
      { type: 'external_event', name: 'answer', signalType: 'answered', timeout: '10d', onTimeout: 'continue' },
    ],
  });
  await server.deploy({
    name: 'till',
    steps: [{ type: 'task', name: 'card', handler: 'charge-card', retry: { maxAttempts: 2, backoffMs: 100 } }],
  });
  await server.deploy({
    name: 'offer',
    steps: [
      { type: 'task', name: 'draft', handler: 'draft', saveAs: 'offer' },
      {
        type: 'approval',
        name: 'review',
        contentKey: 'offer',
        prompt: 'Send this offer to Northwind?',
        timeout: '2d',
        quorum: 2,
      },
    ],
  });
  for (const [index, hours] of [1, 3, 4, 5, 5, 6, 8, 9, 9, 9, 12, 13, 15, 18, 20, 21].entries()) {
    await server.run('tea-order', { order: index }, { runAt: new Date(Date.now() + hours * 3_400_000).toISOString() });
  }
  for (let order = 20; order < 26; order += 1) await server.run('tea-order', { order }, { tags: ['shop'] });
  await server.run('payment', { orderId: 'A-7' }, { tags: ['shop', 'vip'] });
  await server.run('drip');
  await server.run('parcel', { parcelId: 'P-1' });
  const lead = await server.run('lead-routing', { employees: 250 });
  const charged = await server.run('till');
  await server.work('charge-card', 'fail', { message: 'the bank does not answer', code: 'BANK' });
  await server.work('charge-card', 'fail', { message: 'the card was declined', code: 'DECLINED' });
  const pipeline = await server.run('rate-limited-pipeline');
  const offer = await server.run('offer', {}, { tags: ['northwind'] });
  await server.work('draft', 'complete', {
    output: {
      to: 'ann@northwind.example',
      subject: 'Your offer',
      text: 'Dear Ann,\n\nforty crates of tea, at 12.50 each.\n\nYours',
      total: 500,
    },
  });
  await server.settled(charged, 'FAILED');
  await server.settled(offer, 'WAITING');
  const tea = await server.run('tea-order', { order: 7 }, { tags: ['shop'] });
  await server.settled(tea, 'WAITING');
  const waits = await server.call('GET', `/waitpoints?runId=${tea}&status=PENDING`);
  await server.call('POST', `/waitpoints/${waits.json.data[0].id}/complete`, {});
  await server.call('POST', '/events', { eventId: 'order.packed', eventData: { order: 7, parcel: 'P-7' } });
  await server.call('POST', '/events', { eventId: 'parcel.delivered', eventData: { parcelId: 'P-0' } });
  const request = await server.call('GET', `/approval-requests?runId=${offer}`);
  await server.call('POST', '/tasks/poll', { handlers: ['charge-card', 'draft'], workerId: 'till-2', waitMs: 0 });
  await server.call('POST', '/schedules', {
    name: 'tea at nine',
    definition: 'tea-order',
    cron: '0 9 * * 1-5',
    timezone: 'Europe/Berlin',
    input: { order: 1 },
  });
  await server.call('POST', '/schedules', { name: 'pipeline', definition: 'rate-limited-pipeline', every: '15m' });
  // Nobody listens there: its deliveries fail, and are seen to.
  const hook = { url: 'http://127.0.0.1:9/hook', events: ['workflow.failed', 'workflow.cancelled'] };
  const webhook = await server.call('POST', '/webhooks', hook);
  await server.call('POST', `/workflow-runs/${await server.run('payment')}/cancel`, { reason: 'a mistake' });
  await server.call('POST', '/keys', { name: 'shop', scopes: ['run', 'worker'] });
  await server.call('POST', '/keys', { name: 'ann', scopes: ['approve', 'read'] });
  return {
    waits: '/waits',
    runs: '/runs',
    run: `/runs/${pipeline}`,
    'run-tea': `/runs/${tea}?step=packed`,
    'run-lead': `/runs/${lead}?step=is-hot`,
    'run-failed': `/runs/${charged}?step=card`,
    approvals: `/approvals/${request.json.data[0].id}`,
    events: '/events?eventId=order.packed',
    definitions: '/definitions',
    definition: '/definitions/drip?against=2',
    'definition-form': '/definitions/tea-order',
    schedules: '/schedules',
    webhooks: `/webhooks/${webhook.json.id}`,
    workers: '/workers',
    settings: '/settings',
    // The last, because its charts need a while.
    now: '/',
  };
}

const settled = async (page: Page): Promise<void> => {
  await page.waitForLoadState('load');
  await expect(page.getByRole('status').filter({ hasText: 'Loading' })).toHaveCount(0);
  await expect(page.locator('h1').first()).toBeVisible();
};

test('every page is sound in light and dark and on a phone', async ({ page, server }) => {
  test.setTimeout(300_000);
  const places = await scene(server);
  const pictures = process.env['ABIDE_SCREENSHOTS'];
  if (pictures) mkdirSync(pictures, { recursive: true });
  for (const [name, path] of Object.entries(places)) {
    for (const colours of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: colours, reducedMotion: 'reduce' });
      await page.setViewportSize({ width: 1280, height: 860 });
      await page.goto(server.url + path);
      await settled(page);
      expect(await violations(page), `${name} in ${colours}`).toEqual([]);
      if (pictures) await page.screenshot({ path: join(pictures, `${name}-${colours}.png`), fullPage: true });
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(server.url + path);
    await settled(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow, `${name} on a phone`).toBeLessThanOrEqual(0);
    expect(await violations(page), `${name} on a phone`).toEqual([]);
    if (pictures) await page.screenshot({ path: join(pictures, `${name}-phone.png`), fullPage: true });
  }
});

test('the palette finds a run by its id and a workflow by a part of its name', async ({ page, server }) => {
  const id = await server.run('payment');
  await page.goto(server.url);
  await settled(page);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill(id);
  await expect(page.getByRole('option').first()).toContainText('payment');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${server.url}/runs/${id}`);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('rate-lim');
  await expect(page.getByRole('option').first()).toContainText('rate-limited-pipeline');
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${server.url}/definitions/rate-limited-pipeline`);
});

test('keys lead from page to page, and the timeline is read with arrows', async ({ page, server }) => {
  await page.goto(server.url);
  await settled(page);
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await expect(page).toHaveURL(`${server.url}/waits`);
  await page.goBack();
  await page.getByRole('application').focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.getByText(/wakes?, .* from/)).toBeVisible();
  await page.keyboard.press('+');
  await expect(page).toHaveURL(/from=.*until=/);
  await page.getByRole('link', { name: 'Back to all' }).click();
  await expect(page).toHaveURL(`${server.url}/`);
});

test('a path that is no page of the dashboard says so, to people and to programs', async ({ page, server }) => {
  await page.goto(`${server.url}/waits/no/such`);
  await expect(page.getByRole('heading', { name: 'Waits' })).toBeVisible();
  const answer = await page.request.get(`${server.url}/nowhere`);
  expect(answer.status()).toBe(404);
  expect(((await answer.json()) as { code: string }).code).toBe('NOT_FOUND');
});

import { Server, expect, test as base } from './server';

const FLOW = {
  name: 'patience',
  steps: [
    { type: 'wait', name: 'cooling-off', duration: '30d' },
    { type: 'wait_for_event', name: 'parcel', eventId: 'parcel.returned', timeout: '14d', onTimeout: 'continue' },
    { type: 'external_event', name: 'word', signalType: 'word' },
  ],
};

/** What `abide dev` and `--test-clock` serve is the same to the page. */
const test = base.extend<object, { dev: Server; still: Server }>({
  dev: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const server = await new Server([], 'dev').start();
      await use(server);
      await server.stop();
    },
    { scope: 'worker' },
  ],
  still: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const server = await new Server(['--test-clock']).start();
      await use(server);
      await server.stop();
    },
    { scope: 'worker' },
  ],
});

test('in development every wait of a run is skipped by one click', async ({ page, dev }) => {
  await dev.deploy(FLOW);
  const id = await dev.run('patience');
  await page.goto(`${dev.url}/runs/${id}`);
  const waits = page.getByRole('region', { name: 'Waits for' });
  await waits.getByRole('button', { name: 'Skip this wait' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByText('1 wait woken').first()).toBeVisible();
  await waits.getByRole('button', { name: 'Time it out' }).click();
  await expect(page.getByText('1 wait timed out')).toBeVisible();
  await waits.getByRole('button', { name: 'Wake it' }).click();
  await dev.settled(id, 'COMPLETED');
  await expect(page.getByText('workflow completed')).toBeVisible();
});

test('with a test clock, too, on the page of all waits', async ({ page, still }) => {
  await still.deploy(FLOW);
  const id = await still.run('patience');
  await page.goto(`${still.url}/waits?runId=${id}`);
  await page
    .getByRole('row')
    .filter({ hasText: 'cooling-off' })
    .getByRole('button', { name: 'Skip this wait' })
    .click();
  await page
    .getByRole('row')
    .filter({ hasText: 'parcel.returned' })
    .getByRole('button', { name: 'Time it out' })
    .click();
  await expect(page.getByRole('button', { name: 'Wake it' })).toBeVisible();
});

test('elsewhere nobody skips a wait without being asked', async ({ page, server }) => {
  await server.deploy(FLOW);
  const id = await server.run('patience');
  await page.goto(`${server.url}/runs/${id}`);
  await expect(page.getByRole('button', { name: 'Reschedule…' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Skip this wait' })).toHaveCount(0);
});

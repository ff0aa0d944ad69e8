/** Limits: keys by pressure, who has room and who waits, and what an operator sets. */
import { expect, test } from './server';

test('a limit is found by its pressure, shown with its line, and raised', async ({ page, server }) => {
  await server.deploy({
    name: 'sync',
    limits: [{ name: 'crm', scope: 'workspace', key: '{{ input.account }}', concurrency: 1, holds: 'run' }],
    steps: [{ type: 'external_event', name: 'answer', signalType: 'go' }],
  });
  for (const account of ['acme', 'acme', 'acme', 'globex']) await server.run('sync', { account });
  await page.goto(`${server.url}/limits`);
  const row = page.getByRole('row', { name: /acme/ });
  await expect(row).toContainText('2');
  await expect(page.getByRole('row', { name: /globex/ })).toHaveCount(0);
  await row.getByRole('link', { name: 'crm' }).click();
  await expect(page.getByRole('region', { name: 'The line' }).getByRole('row')).toHaveCount(3);
  await expect(page.getByRole('region', { name: 'Who has room' }).getByRole('row')).toHaveCount(2);
  await page.getByRole('button', { name: 'Change…' }).click();
  await page.getByLabel('At once, or none').fill('2');
  await page.getByRole('button', { name: 'Set it' }).click();
  await expect(page.getByRole('region', { name: 'Who has room' }).getByRole('row')).toHaveCount(3);
  await page.getByRole('button', { name: 'Pause…' }).click();
  await page.getByRole('button', { name: 'Pause it' }).click();
  await expect(page.getByText('paused, 2 at once')).toBeVisible();
  const waiting = page.getByRole('region', { name: 'The line' }).getByRole('link').first();
  await waiting.click();
  await expect(page.getByText('place 1 of 1')).toBeVisible();
});

import { expect, Server, test } from './server';

test('a list changes as runs do', async ({ page, server }) => {
  await page.goto(`${server.url}/runs?tag=seen`);
  await expect(page.getByText('No run is like that')).toBeVisible();
  const id = await server.run('payment', {}, { tags: ['seen'] });
  const row = page.getByRole('row').filter({ hasText: id.slice(-8) });
  await expect(row).toContainText('waiting');
  await server.call('POST', `/workflow-runs/${id}/cancel`, {});
  await expect(row).toContainText('cancelled');
});

test('the page goes on after its server was killed and is back', async ({ page }) => {
  const server = await new Server().start();
  try {
    const id = await server.run('payment');
    await page.goto(`${server.url}/runs/${id}`);
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await server.kill();
    await expect(page.getByText('Connection lost; trying again')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'payment' })).toBeVisible();
    await server.start(Number(new URL(server.url).port));
    await server.call('POST', `/workflow-runs/${id}/resume`, {
      signalType: 'payment.received',
      payload: { amount: 9 },
    });
    await expect(page.getByText('workflow completed')).toBeVisible();
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
  } finally {
    await server.stop();
  }
});

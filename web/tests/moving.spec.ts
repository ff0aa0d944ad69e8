import { expect, test } from './server';

const NAP = { type: 'wait', name: 'nap', duration: '30d' };
const WORD = { type: 'external_event', name: 'word', signalType: 'word' };

test('a run is moved to another version when its past fits, and it is said why when it does not', async ({
  page,
  server,
}) => {
  await server.deploy({ name: 'movable', version: '1', steps: [NAP] });
  const id = await server.run('movable');
  await server.deploy({ name: 'movable', version: '2', steps: [NAP, WORD] });
  await server.deploy({ name: 'movable', version: '3', steps: [WORD] });
  await page.goto(`${server.url}/runs/${id}`);
  await page.getByRole('button', { name: 'Move…' }).click();
  const dialog = page.getByRole('dialog');
  const move = dialog.getByRole('button', { name: /^Move/ });
  await expect(move).toBeDisabled();

  await dialog.getByLabel('Version').selectOption('3');
  await expect(dialog.getByRole('alert')).toContainText('nap');
  await expect(move).toBeDisabled();

  await dialog.getByLabel('Version').selectOption('2');
  await expect(dialog.getByRole('status')).toContainText('fits version 2');
  await expect(page.getByText('version 1', { exact: true })).toBeVisible();
  await move.click();
  await expect(page.getByText('version 2', { exact: true })).toBeVisible();
  await expect(page.getByText('0 of 2 done')).toBeVisible();
});

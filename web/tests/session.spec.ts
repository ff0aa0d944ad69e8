import { expect, Server, test as base } from './server';

const test = base.extend<object, { locked: Server }>({
  locked: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const server = await new Server(['--auth', 'required']).start();
      await use(server);
      await server.stop();
    },
    { scope: 'worker' },
  ],
});

async function key(server: Server, name: string, scopes: string[]): Promise<string> {
  const made = await server.call('POST', '/keys', { name, scopes }, server.adminKey);
  return made.json.secret as string;
}

test('with a key that only reads, one sees everything and can do nothing', async ({ page, locked }) => {
  await locked.call('POST', '/workflow-runs', { name: 'payment', input: {} }, locked.adminKey);
  await page.goto(`${locked.url}/waits`);
  await page.getByLabel('API key').fill('abk_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toContainText('not known');
  await page.getByLabel('API key').fill(await key(locked, 'looker', ['read']));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { name: 'Waits' })).toBeVisible();
  await expect(page.getByText('payment.received')).toBeVisible();
  await expect(page.getByRole('button', { name: /Wake|Cancel|Reschedule/ })).toHaveCount(0);
  await page.reload();
  await expect(page.getByText('payment.received')).toBeVisible();
  await page.getByRole('table').getByRole('link', { name: /^…/ }).click();
  await expect(page.getByRole('heading', { name: 'Waits for' })).toBeVisible();
  await expect(page.getByRole('button', { name: /Cancel|Pause|Signal|Wake/ })).toHaveCount(0);
  // The page offers nothing; the server would refuse it, too.
  const status = await page.evaluate(async () => {
    const id = location.pathname.split('/')[2];
    const answer = await fetch(`/api/v1/workflow-runs/${id}/cancel`, { method: 'POST' });
    return { status: answer.status, code: ((await answer.json()) as { code: string }).code };
  });
  expect(status).toEqual({ status: 403, code: 'FORBIDDEN' });
  await page.goto(`${locked.url}/settings`);
  await expect(page.getByText('Keys and workspaces are for keys with the scope')).toBeVisible();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
});

test('no script can read the session, and it ends with its key', async ({ page, context, locked }) => {
  await page.goto(locked.url);
  await page.getByLabel('API key').fill(await key(locked, 'short', ['read']));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { name: 'Now', exact: true })).toBeVisible();
  expect(await page.evaluate(() => document.cookie)).toBe('');
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: 'abide_session', httpOnly: true, sameSite: 'Strict' });
  const keys = await locked.call('GET', '/keys', undefined, locked.adminKey);
  const { id } = keys.json.data.find((one: { name: string }) => one.name === 'short');
  await locked.call('DELETE', `/keys/${id}`, undefined, locked.adminKey);
  await page.reload();
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
});

test('an admin makes a key, sees it once, and revokes it', async ({ page, locked }) => {
  await page.goto(`${locked.url}/settings`);
  await page.getByLabel('API key').fill(locked.adminKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Name: whose it is').fill('shop');
  await page.getByRole('checkbox', { name: /^run/ }).check();
  await page.getByRole('button', { name: 'Make the key' }).click();
  const secret = await page.getByRole('dialog').locator('code').textContent();
  expect(secret).toMatch(/^abk_[0-9a-f]{64}$/);
  await page.reload();
  await expect(page.getByText(secret!)).toHaveCount(0);
  const row = page.getByRole('row').filter({ hasText: 'shop' });
  await row.getByRole('button', { name: 'Revoke…' }).click();
  await page.getByRole('button', { name: 'Revoke it' }).click();
  await expect(row.getByText('revoked')).toBeVisible();
  const refused = await locked.call('GET', '/workflow-runs', undefined, secret!);
  expect(refused.status).toBe(401);
});

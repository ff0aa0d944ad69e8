import { expect, test } from './server';

test('a run that sleeps is moved to now, and goes on before one’s eyes', async ({ page, server }) => {
  await server.deploy({
    name: 'nap',
    steps: [
      { type: 'wait', name: 'sleep', duration: '1h' },
      { type: 'task', name: 'ship', handler: 'ship-order' },
    ],
  });
  const id = await server.run('nap');
  await page.goto(`${server.url}/runs/${id}`);
  await expect(page.getByRole('heading', { name: 'nap' })).toBeVisible();
  await expect(page.getByText('59m').first()).toBeVisible();
  const step = (name: RegExp) => page.getByRole('group', { name: 'Steps of nap' }).getByRole('link', { name });
  await expect(step(/sleep.*wait 1h.*waiting/)).toBeVisible();
  await page.getByRole('button', { name: 'Reschedule…' }).click();
  await page.reload();
  await expect(step(/sleep.*wait 1h.*waiting/)).toBeVisible();
  await page.getByRole('button', { name: 'Reschedule…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('heading')).toHaveText('Reschedule 1 wait?');
  await dialog.getByRole('button', { name: 'Now' }).click();
  await dialog.getByRole('button', { name: 'Reschedule 1 wait' }).click();
  await expect(step(/sleep.*completed/)).toBeVisible();
  await expect(step(/ship.*completed/)).toBeVisible();
  await expect(page.getByText('completed').first()).toBeVisible();
  await expect(page.getByText('wait rescheduled')).toBeVisible();
});

test('an approval is edited, seen as a diff, and approved', async ({ page, server }) => {
  await server.deploy({
    name: 'letter',
    steps: [
      { type: 'task', name: 'draft', handler: 'draft', saveAs: 'letter' },
      { type: 'approval', name: 'review', contentKey: 'letter', prompt: 'Send this letter?', timeout: '2d' },
    ],
  });
  const id = await server.run('letter');
  await server.work('draft', 'complete', { output: { to: 'Ann', text: 'Helo Ann' } });
  await server.settled(id, 'WAITING');
  await page.goto(`${server.url}/approvals`);
  await page.getByRole('link', { name: /Send this letter\?/ }).click();
  await expect(page.getByText('Helo Ann')).toBeVisible();
  await page.reload();
  await page.getByRole('button', { name: 'Edit…' }).click();
  const edit = page.getByRole('textbox', { name: 'The content as it should be' });
  await edit.fill('{"to": "Ann", ');
  await expect(page.getByRole('button', { name: 'Approve with this edit' })).toBeVisible();
  await edit.fill(JSON.stringify({ to: 'Ann', text: 'Hello Ann' }, null, 2));
  await expect(page.getByRole('listitem').filter({ hasText: 'added "text": "Hello Ann"' })).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: 'removed "text": "Helo Ann"' })).toBeVisible();
  await page.getByRole('textbox', { name: 'Comment (optional)' }).fill('a typo');
  await page.getByRole('button', { name: 'Approve with this edit' }).click();
  await expect(page.getByText('Decided; the run goes on')).toBeVisible();
  await server.settled(id, 'COMPLETED');
  await page.goto(`${server.url}/runs/${id}`);
  await expect(page.getByText('"Hello Ann"').first()).toBeVisible();
  await page.goto(`${server.url}/approvals?show=decided`);
  await expect(page.getByRole('link', { name: /Send this letter\?/ })).toBeVisible();
});

test('an event is tried first, and then wakes whom it said it would', async ({ page, server }) => {
  await server.deploy({
    name: 'listen',
    steps: [
      { type: 'wait_for_event', name: 'heard', eventId: 'bell', match: 'event.floor == input.floor', timeout: '1d' },
    ],
  });
  const ids = await Promise.all([1, 1, 2].map((floor) => server.run('listen', { floor })));
  await page.goto(`${server.url}/events`);
  await page.getByRole('link', { name: 'bell' }).click();
  await expect(page.getByText('event.floor == input.floor')).toHaveCount(3);
  await page.reload();
  await expect(
    page.getByRole('textbox', { name: 'Event id' }).or(page.getByRole('combobox', { name: 'Event id' })),
  ).toHaveValue('bell');
  await page.getByRole('textbox', { name: 'Data' }).fill('{"floor": 1}');
  await page.getByRole('button', { name: 'Whom would it wake?' }).click();
  await expect(page.getByText('Would wake 2 runs.')).toBeVisible();
  await server.settled(ids[0]!, 'WAITING');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByText('Sent; it woke 2 runs')).toBeVisible();
  await expect(page.getByText('event.floor == input.floor')).toHaveCount(1);
  await page.getByRole('button', { name: 'Whom it woke' }).click();
  await expect(page.getByText('Woke 2:')).toBeVisible();
  await server.settled(ids[0]!, 'COMPLETED');
  await server.settled(ids[2]!, 'WAITING');
});

test('a run is started from the form of its input schema', async ({ page, server }) => {
  await server.deploy({
    name: 'booking',
    inputSchema: {
      type: 'object',
      required: ['guest', 'nights'],
      properties: {
        guest: { type: 'string', description: 'Who comes.' },
        nights: { type: 'integer', minimum: 1 },
        room: { enum: ['small', 'large'], default: 'small' },
        breakfast: { type: 'boolean' },
        extras: { type: 'array', items: { type: 'string' } },
      },
    },
    steps: [{ type: 'external_event', name: 'arrived', signalType: 'arrival', timeout: '30d' }],
  });
  await page.goto(`${server.url}/definitions`);
  await page.getByRole('link', { name: 'booking' }).click();
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toBeDisabled();
  await page.reload();
  await page.getByLabel('guest').fill('Ann');
  await page.getByLabel('nights').fill('2');
  await page.getByLabel('room').selectOption('large');
  await page.getByLabel('breakfast').check();
  await page.getByRole('button', { name: 'Add one' }).click();
  await page.getByLabel('extras 1').fill('cot');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page).toHaveURL(/\/runs\/run_/);
  const id = new URL(page.url()).pathname.split('/')[2]!;
  await expect(page.getByRole('heading', { name: 'booking' })).toBeVisible();
  const { json } = await server.call('GET', `/workflow-runs/${id}`);
  expect(json.input).toEqual({ guest: 'Ann', nights: 2, room: 'large', breakfast: true, extras: ['cot'] });
  await page.getByRole('button', { name: 'Signal…' }).click();
  await page.getByRole('textbox', { name: 'Payload' }).fill('{"at": "noon"}');
  await page.getByRole('button', { name: 'Send the signal' }).click();
  await server.settled(id, 'COMPLETED');
  await expect(page.getByText('workflow completed')).toBeVisible();
});

test('what the server finds wrong with an input stands beside the form', async ({ page, server }) => {
  await page.goto(`${server.url}/definitions/booking`);
  await page.getByRole('button', { name: 'as JSON' }).click();
  await page.getByRole('textbox', { name: 'Input' }).fill('{"guest": 7}');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('INVALID_INPUT');
  await expect(page.getByRole('alert')).toContainText('/guest');
});

test('a failed run is found and tried again', async ({ page, server }) => {
  await server.deploy({
    name: 'charge',
    steps: [{ type: 'task', name: 'card', handler: 'charge-card', retry: { maxAttempts: 1 } }],
  });
  const id = await server.run('charge', {}, { tags: ['order-9'] });
  await server.work('charge-card', 'fail', { message: 'the card was declined', code: 'DECLINED' });
  await server.settled(id, 'FAILED');
  await page.goto(`${server.url}/`);
  await page
    .getByRole('link', { name: /failed/ })
    .first()
    .click();
  await expect(page).toHaveURL(/\/runs\?status=FAILED/);
  await page.getByRole('textbox', { name: 'Workflow' }).fill('charge');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/definition=charge/);
  await page.reload();
  await page
    .getByRole('table')
    .getByRole('link', { name: `…${id.slice(-8)}` })
    .click();
  await expect(page.getByText('the card was declined').first()).toBeVisible();
  await page.getByRole('button', { name: 'Retry…' }).click();
  await page.getByRole('button', { name: 'Retry 1 run' }).click();
  await server.work('charge-card', 'complete', { output: { receipt: 7 } });
  await expect(page.getByText('workflow completed')).toBeVisible();
  await page.getByRole('group', { name: 'Steps of charge' }).getByRole('link').click();
  await expect(page.getByRole('cell', { name: '1 (visit 2)' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('cell', { name: /the card was declined/ })).toBeVisible();
});

test('many waits are ended at once, after being told how many', async ({ page, server }) => {
  await server.deploy({
    name: 'idle',
    steps: [{ type: 'external_event', name: 'poke', signalType: 'poke', timeout: '9d' }],
  });
  const ids = await Promise.all(Array.from({ length: 5 }, () => server.run('idle')));
  await page.goto(`${server.url}/waits?signalType=poke`);
  await expect(page.getByRole('row')).toHaveCount(6);
  await page
    .getByRole('checkbox', { name: /Pick the wait/ })
    .first()
    .check();
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await page.getByRole('button', { name: 'Cancel 1 wait' }).click();
  await expect(page.getByRole('row')).toHaveCount(5);
  await page.getByRole('button', { name: 'Wake…' }).click();
  await expect(page.getByRole('dialog').getByRole('heading')).toHaveText('Wake 4 waits?');
  await page.reload();
  await page.getByRole('button', { name: 'Wake…' }).click();
  await page.getByRole('button', { name: 'Wake 4 waits' }).click();
  await expect(page.getByText('4 waits woken')).toBeVisible();
  await expect(page.getByText('No wait is like that')).toBeVisible();
  const statuses = await Promise.all(
    ids.map(async (id) => (await server.call('GET', `/workflow-runs/${id}`)).json.status),
  );
  expect(statuses.sort()).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED']);
});

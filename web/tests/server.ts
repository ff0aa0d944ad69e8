/** A server for one file of tests, on a port and a store of its own, and what a test needs to set the scene. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';

export interface Reply {
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json: any;
}

export class Server {
  /** Where the servers of these tests are. */
  static readonly urls = new Set<string>();

  url = '';
  /** Of a server that needs keys: it is in a file beside the store. */
  adminKey = '';
  readonly folder = mkdtempSync(join(tmpdir(), 'abide-web-'));
  #process: ChildProcess | null = null;
  #arguments: string[];
  #command: 'serve' | 'dev';

  constructor(more: string[] = [], command: 'serve' | 'dev' = 'serve') {
    this.#arguments = more;
    this.#command = command;
  }

  async start(port = 0): Promise<this> {
    const binary = process.env['ABIDE_BIN'];
    if (!binary) throw new Error('ABIDE_BIN must name the abide binary');
    const store = process.env['ABIDE_WEB_STORE'] ?? join(this.folder, 'abide.db');
    const place = ['--listen', `127.0.0.1:${port}`, '--store', `sqlite:${store}`];
    const given =
      this.#command === 'dev'
        ? ['dev', this.folder, ...place, ...this.#arguments]
        : ['serve', '--demo', ...place, '--allow-address', '127.0.0.1', ...this.#arguments];
    const child = spawn(binary, given, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' } });
    this.#process = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      const hear = (text: Buffer): void => {
        said += text.toString();
        const file = /The first key.* is in (\S+);/.exec(said)?.[1];
        if (file) this.adminKey ||= readFileSync(file, 'utf8').trim();
        const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
        if (url && !this.url) this.url = url;
        if (url) Server.urls.add(url);
        if (url && (this.adminKey || !this.#arguments.includes('required'))) resolve();
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.on('exit', () => reject(new Error(`the server ended:\n${said}`)));
    });
    return this;
  }

  /** Kills it; what it had acknowledged is in its store. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (!child) return;
    const gone = new Promise((resolve) => child.on('exit', resolve));
    child.removeAllListeners('exit');
    child.on('exit', () => undefined);
    child.kill('SIGKILL');
    await Promise.race([gone, new Promise((resolve) => child.once('close', resolve))]);
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async call(method: string, path: string, body?: unknown, key?: string): Promise<Reply> {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (key) headers['authorization'] = `Bearer ${key}`;
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text ? JSON.parse(text) : null };
  }

  async deploy(definition: object): Promise<void> {
    const reply = await this.call('POST', '/workflow-definitions', definition);
    expect(reply.status, JSON.stringify(reply.json)).toBeLessThan(300);
  }

  async run(name: string, input: unknown = {}, more: object = {}): Promise<string> {
    const reply = await this.call('POST', '/workflow-runs', { name, input, ...more });
    expect(reply.status, JSON.stringify(reply.json)).toBe(201);
    return reply.json.id as string;
  }

  /** Until the run is like this. */
  async settled(id: string, status: string): Promise<void> {
    await expect.poll(async () => (await this.call('GET', `/workflow-runs/${id}`)).json.status).toBe(status);
  }

  /** Takes one task of this handler and reports on it. */
  async work(handler: string, report: 'complete' | 'fail' | 'suspend', body: object): Promise<void> {
    const polled = await this.call('POST', '/tasks/poll', { handlers: [handler], workerId: 'tester', waitMs: 10_000 });
    const [task] = polled.json.tasks;
    const reply = await this.call('POST', `/tasks/${task.id}/${report}`, { leaseToken: task.leaseToken, ...body });
    expect(reply.status, JSON.stringify(reply.json)).toBe(200);
  }
}

/** While working on the page: takes its files from a folder (`ABIDE_WEB_FILES`) and not from the binary. */
async function takeFiles(page: Page): Promise<void> {
  const folder = process.env['ABIDE_WEB_FILES'];
  if (!folder) return;
  await page.route(/^[^?]*\/assets\//, (route) =>
    route.fulfill({ path: join(folder, new URL(route.request().url()).pathname) }),
  );
  await page.route(
    (url) => !/^\/(api|assets|icon|nowhere)/.test(url.pathname),
    async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: readFileSync(join(folder, 'index.html'), 'utf8') });
    },
  );
}

/** What must not happen on any page: an error in the console, something refused by the policy, a call elsewhere. */
export function watch(page: Page): string[] {
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // A refusal of the server is shown on the page; the browser also notes it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) wrong.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && !Server.urls.has(origin)) wrong.push(`asked ${request.url()}`);
  });
  return wrong;
}

export const test = base.extend<{ wrong: string[] }, { server: Server }>({
  server: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const server = await new Server().start();
      await use(server);
      await server.stop();
    },
    { scope: 'worker' },
  ],
  wrong: [
    async ({ page }, use) => {
      await takeFiles(page);
      const wrong = watch(page);
      await use(wrong);
      expect(wrong).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

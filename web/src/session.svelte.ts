/** Who looks, and what they may do. The server decides; the page only does not offer what would be refused. */
import { get, onUnauthenticated, post, remove } from './api/client';
import { live } from './live.svelte';
import type { Scope, Session } from './api/types';

class Current {
  session = $state.raw<Session | null>(null);
  /** A key is needed, and none was given. */
  signedOut = $state(false);

  async start(): Promise<void> {
    onUnauthenticated(() => {
      this.signedOut = true;
      live.stop();
    });
    await this.read();
  }

  async read(): Promise<void> {
    const session = await get<Session>('/session');
    this.session = session;
    this.signedOut = !session.caller;
    if (session.caller) live.start();
  }

  async signIn(key: string): Promise<void> {
    this.session = await post<Session>('/session', { key });
    this.signedOut = false;
    live.start();
  }

  async signOut(): Promise<void> {
    await remove('/session');
    live.stop();
    await this.read();
  }

  /** In development and in tests nobody wants to wait. */
  get skipsWaits(): boolean {
    return (this.session?.development ?? false) || (this.session?.testClock ?? false);
  }

  may(scope: Scope): boolean {
    const scopes = this.session?.caller?.scopes ?? [];
    return (
      scopes.includes('admin') ||
      scopes.includes(scope) ||
      (scope === 'read' && (scopes.includes('run') || scopes.includes('deploy')))
    );
  }
}

export const who = new Current();

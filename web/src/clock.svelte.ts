/** The time of the page, for countdowns: one timer for all of them, corrected by the server's clock. */
class Clock {
  /** Milliseconds since 1970, on the server. */
  now = $state(Date.now());
  #ahead = 0;

  start(): void {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now() + this.#ahead;
    }, 1000);
    document.addEventListener('visibilitychange', () => (this.now = Date.now() + this.#ahead));
  }

  /** The server's clock may differ from the viewer's. */
  correct(server: string): void {
    const ahead = Date.parse(server) - Date.now();
    // The way of an answer is no difference of clocks.
    this.#ahead = Math.abs(ahead) < 2000 ? 0 : ahead;
    this.now = Date.now() + this.#ahead;
  }
}

export const clock = new Clock();

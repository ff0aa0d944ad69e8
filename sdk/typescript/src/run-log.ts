/** Lines for a run's log, gathered for a moment and sent together. */
import type { Reports } from "./reports.js";
import type { LogLine } from "./wire.js";

/** What is kept of a line, and how many lines go into one report. */
const LINE_CHARS = 8_000;
const MOST_LINES = 500;
/** How long lines are gathered. */
const DELAY_MS = 200;

export class RunLog {
  private lines: LogLine[] = [];
  private sending: Promise<unknown> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly reports: Pick<Reports, "send">,
    private readonly leaseToken: string,
  ) {}

  write(level: LogLine["level"], message: string): void {
    this.lines.push({ level, message: message.slice(0, LINE_CHARS) } as LogLine);
    if (this.lines.length >= MOST_LINES) this.flush();
    this.timer ??= setTimeout(() => this.flush(), DELAY_MS);
  }

  /** What was written before is there before the task is over; what is left goes along with the last report. */
  async end(): Promise<void> {
    await this.sending;
    this.flush();
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const lines = this.lines.splice(0);
    if (lines.length === 0) return;
    // A line that is lost is no reason to fail.
    this.sending = this.reports.send({ type: "log", leaseToken: this.leaseToken, lines }).catch(() => {});
  }
}

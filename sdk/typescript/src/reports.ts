/** Reports on tasks, sent many at a time. What is reported while a request is under way goes into the next one. */
import { backoff, pauseFor } from "./duration.js";
import { Busy, Invalid, Problem, Unreachable } from "./problem.js";
import type { Transport } from "./transport.js";
import type { ReportDone, ReportedTasks, TaskReport } from "./wire.js";

/** The server takes 1,000 reports and 8 MiB in one request. */
const MOST_REPORTS = 1_000;
const MOST_BYTES = 7 * 1024 * 1024;
/** More would not be quicker: the server commits what comes together anyway. */
const REQUESTS_UNDER_WAY = 2;

interface Waiting {
  text: string;
  resolve: (done: ReportDone) => void;
  reject: (error: unknown) => void;
}

export class Reports {
  private queue: Waiting[] = [];
  private underWay = 0;
  private scheduled = false;

  constructor(
    private readonly transport: Transport,
    /** How long a server that does not answer is tried: the leases are lost by then. */
    private readonly patienceMs: number,
  ) {}

  send(report: TaskReport): Promise<ReportDone> {
    return new Promise((resolve, reject) => {
      this.queue.push({ text: JSON.stringify(report), resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.underWay >= REQUESTS_UNDER_WAY) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      if (this.queue.length > 0) void this.flush();
    });
  }

  private take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { text } of this.queue) {
      // A character has at most three bytes in UTF-8.
      bytes += text.length * 3 + 1;
      if (count > 0 && (count >= MOST_REPORTS || bytes > MOST_BYTES)) break;
      count += 1;
    }
    return this.queue.splice(0, count);
  }

  private async flush(): Promise<void> {
    const batch = this.take();
    this.underWay += 1;
    if (this.queue.length > 0) this.schedule();
    try {
      const { results } = await this.post(`{"reports":[${batch.map(({ text }) => text).join(",")}]}`);
      batch.forEach(({ resolve }, index) => resolve(results[index] ?? { ok: true }));
    } catch (error) {
      // One report that cannot be read must not take the others with it.
      if (batch.length > 1 && error instanceof Problem) await this.oneByOne(batch);
      else batch.forEach((waiting) => refuse(waiting, error));
    } finally {
      this.underWay -= 1;
      if (this.queue.length > 0) this.schedule();
    }
  }

  private async oneByOne(batch: Waiting[]): Promise<void> {
    for (const waiting of batch) {
      try {
        const { results } = await this.post(`{"reports":[${waiting.text}]}`);
        waiting.resolve(results[0] ?? { ok: true });
      } catch (error) {
        refuse(waiting, error);
      }
    }
  }

  private async post(text: string): Promise<ReportedTasks> {
    const until = Date.now() + this.patienceMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const request = { method: "POST", path: "/api/v1/tasks/report", text, repeatable: true };
        return await this.transport.json<ReportedTasks>(request);
      } catch (error) {
        const passing = error instanceof Unreachable || error instanceof Busy;
        if (!passing || Date.now() > until) throw error;
        await pauseFor(backoff(attempt, 100, 2_000));
      }
    }
  }
}

/** A report that the server cannot read is refused like one that it does not take: whoever sent it fails its task. */
function refuse({ resolve, reject }: Waiting, error: unknown): void {
  if (error instanceof Invalid) resolve({ ok: false, problem: error.body });
  else reject(error);
}

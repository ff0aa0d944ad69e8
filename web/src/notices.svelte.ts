/** What was done, said for a moment at the edge of the page. */
export interface Notice {
  id: number;
  text: string;
  bad: boolean;
}

const SHOWN_MS = 6000;

class Notices {
  all = $state<Notice[]>([]);
  #next = 1;

  say(text: string, bad = false): void {
    const id = this.#next;
    this.#next += 1;
    this.all.push({ id, text, bad });
    setTimeout(() => this.dismiss(id), SHOWN_MS);
  }

  dismiss(id: number): void {
    this.all = this.all.filter((notice) => notice.id !== id);
  }
}

export const notices = new Notices();

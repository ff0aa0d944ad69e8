/** Light, dark, or as the system has it. Remembered in this browser. */
export type Choice = 'system' | 'light' | 'dark';

const KEY = 'abide-theme';

class Theme {
  choice = $state<Choice>('system');

  start(): void {
    const kept = localStorage.getItem(KEY);
    if (kept === 'light' || kept === 'dark') this.choose(kept);
  }

  choose(choice: Choice): void {
    this.choice = choice;
    if (choice === 'system') {
      localStorage.removeItem(KEY);
      delete document.documentElement.dataset['theme'];
    } else {
      localStorage.setItem(KEY, choice);
      document.documentElement.dataset['theme'] = choice;
    }
  }

  next(): void {
    const order: Choice[] = ['system', 'light', 'dark'];
    this.choose(order[(order.indexOf(this.choice) + 1) % order.length] ?? 'system');
  }
}

export const theme = new Theme();

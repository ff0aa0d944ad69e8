/** The pages of the dashboard, as the navigation and the palette name them. */
export interface Place {
  path: string;
  name: string;
  about: string;
  /** Pressed after `g`. */
  key: string;
}

export const PLACES: Place[] = [
  { path: '/', name: 'Now', about: 'what waits, until when', key: 'n' },
  { path: '/waits', name: 'Waits', about: 'every pending wait', key: 'w' },
  { path: '/runs', name: 'Runs', about: 'all runs', key: 'r' },
  { path: '/approvals', name: 'Approvals', about: 'what people are asked', key: 'a' },
  { path: '/events', name: 'Events', about: 'send, and who waits', key: 'e' },
  { path: '/definitions', name: 'Workflows', about: 'definitions and their versions', key: 'd' },
  { path: '/schedules', name: 'Schedules', about: 'workflows that the clock starts', key: 'c' },
  { path: '/limits', name: 'Limits', about: 'who has room, and who waits for it', key: 'l' },
  { path: '/webhooks', name: 'Webhooks', about: 'outgoing messages and their deliveries', key: 'h' },
  { path: '/workers', name: 'Workers', about: 'who does the work', key: 'k' },
  { path: '/settings', name: 'Settings', about: 'keys and workspaces', key: 's' },
];

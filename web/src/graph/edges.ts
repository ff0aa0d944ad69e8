/** What leads to what in a workflow's document, as the engine reads it. */
export interface StepDocument {
  name: string;
  type: string;
  after?: string[];
  next?: string;
  trueStep?: string;
  falseStep?: string;
  onTimeout?: unknown;
  onReject?: unknown;
  /** Of a step that waits for several things: each of them by its name. */
  waits?: Record<string, WaitDocument>;
  /** Where the one that comes first leads, by its name. */
  goto?: Record<string, string>;
  [field: string]: unknown;
}

/** One of several waits of a step. */
export interface WaitDocument {
  type: string;
  signalType?: string;
  waits?: Record<string, WaitDocument>;
  [field: string]: unknown;
}

/** The types of steps that wait for several things at once. */
export const SEVERAL = new Set(['wait_any', 'wait_all', 'wait_some']);

/** The types of the signals that a step waits for, also among several things. */
export function signalTypes({ type, signalType, waits }: WaitDocument | StepDocument): string[] {
  const own = type === 'external_event' && typeof signalType === 'string' ? [signalType] : [];
  return [...own, ...Object.values(waits ?? {}).flatMap(signalTypes)];
}

export interface WorkflowDocument {
  name: string;
  version?: string;
  description?: string;
  inputSchema?: unknown;
  steps: StepDocument[];
}

export interface Edge {
  from: string;
  to: string;
  /** What leads there: the outcome of a condition, `too late`, `rejected`, or one of several waits by its name. */
  label?: string;
  /** It is not the usual way. */
  aside?: boolean;
}

/** If any step says `after`, the workflow is a graph; else its steps follow each other. */
export function edges(workflow: WorkflowDocument): Edge[] {
  const names = new Set(workflow.steps.map((step) => step.name));
  const found = workflow.steps.some((step) => step.after !== undefined) ? graph(workflow) : sequence(workflow);
  const known = found.filter((edge) => names.has(edge.to));
  const unique = new Map(known.map((edge) => [`${edge.from}\n${edge.to}\n${edge.label ?? ''}`, edge]));
  return [...unique.values()];
}

function sequence({ steps }: WorkflowDocument): Edge[] {
  return steps.flatMap((step, index): Edge[] => {
    const following = step.next ?? steps[index + 1]?.name;
    const out: Edge[] = [];
    if (step.type === 'condition') {
      out.push(...branch(step, following));
    } else if (following !== undefined && !alwaysJumps(step)) {
      out.push({ from: step.name, to: following });
    }
    return [...out, ...jumps(step)];
  });
}

function branch(step: StepDocument, otherwise: string | undefined): Edge[] {
  const [yes, no] = [step.trueStep ?? otherwise, step.falseStep ?? otherwise];
  const out: Edge[] = [];
  if (yes !== undefined) out.push({ from: step.name, to: yes, label: 'true' });
  if (no !== undefined) out.push({ from: step.name, to: no, label: 'false' });
  return out;
}

/** Whether each of several waits leads elsewhere than to the next step. */
function alwaysJumps({ type, waits = {}, goto = {}, onTimeout }: StepDocument): boolean {
  return SEVERAL.has(type) && onTimeout !== 'continue' && Object.keys(waits).every((name) => name in goto);
}

function jumps(step: StepDocument): Edge[] {
  const out = Object.entries(step.goto ?? {}).map(([label, to]): Edge => ({ from: step.name, to, label, aside: true }));
  const target = (value: unknown): string | undefined =>
    value !== null && typeof value === 'object' && 'goto' in value ? String(value.goto) : undefined;
  const [late, rejected] = [target(step.onTimeout), target(step.onReject)];
  if (late !== undefined) out.push({ from: step.name, to: late, label: 'too late', aside: true });
  if (rejected !== undefined) out.push({ from: step.name, to: rejected, label: 'rejected', aside: true });
  return out;
}

function graph({ steps }: WorkflowDocument): Edge[] {
  const groups = new Map(steps.filter((step) => SEVERAL.has(step.type)).map((step) => [step.name, step]));
  const conditions = new Map(steps.filter((step) => step.type === 'condition').map((step) => [step.name, step]));
  return steps.flatMap((step) =>
    (step.after ?? []).map((from): Edge => {
      const condition = conditions.get(from);
      if (condition?.trueStep === step.name) return { from, to: step.name, label: 'true' };
      if (condition?.falseStep === step.name) return { from, to: step.name, label: 'false' };
      const wait = Object.entries(groups.get(from)?.goto ?? {}).find(([, to]) => to === step.name)?.[0];
      return wait === undefined ? { from, to: step.name } : { from, to: step.name, label: wait, aside: true };
    }),
  );
}

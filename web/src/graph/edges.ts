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
  [field: string]: unknown;
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
  label?: 'true' | 'false' | 'too late' | 'rejected';
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
    } else if (following !== undefined) {
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

function jumps(step: StepDocument): Edge[] {
  const out: Edge[] = [];
  const target = (value: unknown): string | undefined =>
    value !== null && typeof value === 'object' && 'goto' in value ? String(value.goto) : undefined;
  const [late, rejected] = [target(step.onTimeout), target(step.onReject)];
  if (late !== undefined) out.push({ from: step.name, to: late, label: 'too late' });
  if (rejected !== undefined) out.push({ from: step.name, to: rejected, label: 'rejected' });
  return out;
}

function graph({ steps }: WorkflowDocument): Edge[] {
  const conditions = new Map(steps.filter((step) => step.type === 'condition').map((step) => [step.name, step]));
  return steps.flatMap((step) =>
    (step.after ?? []).map((from): Edge => {
      const condition = conditions.get(from);
      if (condition?.trueStep === step.name) return { from, to: step.name, label: 'true' };
      if (condition?.falseStep === step.name) return { from, to: step.name, label: 'false' };
      return { from, to: step.name };
    }),
  );
}

/**
 * What is wrong with the structure of a workflow, told when it is built: names, targets, order, bounds. The server checks all of
 * this and more (expressions, templates, schemas); `sdk/conformance/checks.json` holds both to the same answers.
 */

const END = "end";
const RESERVED = ["input", "state", "steps", "run", "event", "item", "index", "secret"];
const STEPS = 1000;
const STEP_NAME = 100;
const GROUPS = ["wait_any", "wait_all", "wait_some"];
const GROUP_WAITS = 100;
const TIMES = ["durationMs", "duration", "untilTimestamp", "cron"];
/** Lengths of time by field, with the least that makes sense in milliseconds. */
const LEAST_MS: Record<string, number> = { duration: 0, timeout: 1, heartbeat: 1, lookback: 0 };
const RETRY: Record<string, [number, number]> = {
  maxAttempts: [1, 20],
  backoffMs: [100, Infinity],
  maxBackoffMs: [100, Infinity],
  backoffMultiplier: [1, 10],
};

/** One thing that is wrong, and where: a JSON pointer into the document, and the server's code for it. */
export interface WorkflowProblem {
  pointer: string;
  code: string;
  message: string;
}

/** A workflow that the server would refuse. `problems` has all that is wrong. */
export class InvalidWorkflow extends Error {
  constructor(
    name: string,
    readonly problems: WorkflowProblem[],
  ) {
    const lines = problems.map(({ pointer, code, message }) => `  ${pointer}: ${message} [${code}]`);
    super(`the workflow \`${name}\` is not valid:\n${lines.join("\n")}`);
    this.name = "InvalidWorkflow";
  }
}

interface Jump {
  goto?: string;
}

/** The fields of a step that are looked at, and those of a workflow. */
interface Fields {
  name?: string;
  type?: string;
  after?: string[];
  next?: string;
  trueStep?: string;
  falseStep?: string;
  onTimeout?: Jump;
  onReject?: Jump;
  onFailure?: Fields;
  startOn?: Fields[];
  cancelOn?: Fields[];
  restartOn?: Fields[];
  eventId?: string;
  onCancel?: Fields;
  retry?: RetryFields;
  defaultRetry?: RetryFields;
  timezone?: string;
  cron?: string;
  timeout?: string;
  timeoutMs?: number;
  waits?: Record<string, Fields>;
  count?: number;
  goto?: Record<string, string>;
  steps?: Fields[];
  [field: string]: unknown;
}

interface RetryFields {
  backoffMs?: number;
  maxBackoffMs?: number;
  [field: string]: unknown;
}

/** Everything that is wrong with the structure, in the order of the document. */
export function problems(document: object): WorkflowProblem[] {
  const fields = document as Fields;
  const steps = Array.isArray(fields.steps) ? fields.steps : [];
  const found: WorkflowProblem[] = [];
  const tell = (pointer: string, code: string, message: string): void => {
    found.push({ pointer, code, message });
  };
  const index = new Map<string, number>();
  steps.forEach(({ name = "" }, at) => index.has(name) || index.set(name, at));
  const isGraph = steps.some(({ after }) => after != null);
  const after = steps.map((step, at) => {
    const named = [...new Set<string>(step.after ?? [])].map((name) => index.get(name));
    return named.filter((one): one is number => one !== undefined && one !== at);
  });

  const target = (at: number, place: string, name: string): void => {
    const to = index.get(name);
    if (name === END) return;
    if (to === undefined) tell(place, "UNKNOWN_STEP", `there is no step \`${name}\``);
    else if (isGraph && !after[to]!.includes(at)) tell(place, "BACKWARD_JUMP", `the target \`${name}\` must be after this step`);
    else if (!isGraph && to <= at) tell(place, "BACKWARD_JUMP", `the step \`${name}\` is not further down`);
  };

  const links = (at: number, step: Fields): void => {
    (step.after ?? []).forEach((name, entry, names) => {
      const place = `/steps/${at}/after/${entry}`;
      if (!index.has(name)) tell(place, "UNKNOWN_STEP", `there is no step \`${name}\``);
      else if (index.get(name) === at) tell(place, "CYCLE", `the step \`${name}\` cannot be after itself`);
      else if (names.indexOf(name) < entry) tell(place, "DUPLICATE_NAME", `\`${name}\` is named twice`);
    });
    if (step.next != null && isGraph) tell(`/steps/${at}/next`, "CONTRADICTION", "in a graph, a step does not say what comes next");
    else if (step.next != null) target(at, `/steps/${at}/next`, step.next);
    for (const field of ["trueStep", "falseStep"] as const) {
      if (step[field] != null) target(at, `/steps/${at}/${field}`, step[field]);
    }
    for (const field of ["onTimeout", "onReject"] as const) {
      if (step[field]?.goto != null) target(at, `/steps/${at}/${field}/goto`, step[field].goto);
    }
  };

  const several = (at: number, place: string, step: Fields): void => {
    if (step.onTimeout != null && step.timeout == null && step.timeoutMs == null) {
      tell(`${place}/onTimeout`, "CONTRADICTION", "the time is never over: there is no `timeout`");
    }
    for (const [wait, to] of Object.entries(step.goto ?? {})) {
      const there = `${place}/goto/${escaped(wait)}`;
      if (!Object.hasOwn(step.waits ?? {}, wait)) tell(there, "UNKNOWN_VALUE", `there is no wait \`${wait}\` in this step`);
      target(at, there, to);
    }
    const count = waits(place, step, 1, tell);
    if (count > GROUP_WAITS) {
      tell(`${place}/waits`, "LIMIT_EXCEEDED", `${count} waits are more than the limit of ${GROUP_WAITS}`);
    }
  };

  if (steps.length === 0) tell("/steps", "OUT_OF_RANGE", "a workflow has at least one step");
  if (steps.length > STEPS) tell("/steps", "LIMIT_EXCEEDED", `${steps.length} steps are more than the limit of ${STEPS}`);
  retry("/defaultRetry", fields.defaultRetry, tell);
  length("", fields, "timeout", tell);
  for (const hook of ["onFailure", "onCancel"] as const) {
    retry(`/${hook}/retry`, fields[hook]?.retry, tell);
    if (fields[hook]) length(`/${hook}`, fields[hook], "timeout", tell);
  }
  for (const on of ["startOn", "cancelOn", "restartOn"] as const) {
    fields[on]?.forEach(({ eventId }, index) => {
      const message = "there are no templates here: this text is taken as it stands";
      if (eventId?.includes("{{")) tell(`/${on}/${index}/eventId`, "BAD_TEMPLATE", message);
    });
  }
  steps.forEach((step, at) => {
    const place = `/steps/${at}`;
    stepName(`${place}/name`, step.name ?? "", tell);
    const first = index.get(step.name ?? "");
    if (first !== at) tell(`${place}/name`, "DUPLICATE_NAME", `the step ${first} has the name \`${step.name}\` too`);
    links(at, step);
    retry(`${place}/retry`, step.retry, tell);
    for (const field of Object.keys(LEAST_MS)) length(place, step, field, tell);
    if (step.type === "wait" || step.type === "sleep") times(place, step, tell);
    if (GROUPS.includes(step.type ?? "")) several(at, place, step);
  });
  for (const cycle of cycles(after)) {
    const names = [...cycle].reverse().map((at) => `\`${steps[at]!.name}\``);
    tell(`/steps/${Math.min(...cycle)}/after`, "CYCLE", `these steps wait for each other: ${names.join(" → ")}`);
  }
  return found.sort((a, b) => (a.pointer < b.pointer ? -1 : a.pointer > b.pointer ? 1 : 0));
}

type Tell = (pointer: string, code: string, message: string) => void;

function stepName(place: string, name: string, tell: Tell): void {
  const chars = [...name].length;
  if (name === END) tell(place, "RESERVED_NAME", "`end` as a target ends the run; a step cannot have this name");
  else if (RESERVED.includes(name)) tell(place, "RESERVED_NAME", `\`${name}\` has a meaning of its own in expressions`);
  else if (chars < 1 || chars > STEP_NAME) tell(place, "OUT_OF_RANGE", `a name has 1 to ${STEP_NAME} characters`);
  else if (name !== name.trim() || /[[\]\p{Cc}]/u.test(name)) {
    tell(place, "OUT_OF_RANGE", "a name has no brackets, no control characters, and no white space around it");
  }
}

/** A name as a segment of a JSON pointer. */
function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The waits of a group; gives how many there are, those of groups inside too. */
function waits(place: string, group: Fields, depth: number, tell: Tell): number {
  const members = Object.entries(group.waits ?? {});
  if (members.length === 0) tell(`${place}/waits`, "OUT_OF_RANGE", "there is nothing to wait for");
  const { count } = group;
  if (count != null && (count < 1 || (count > members.length && members.length > 0))) {
    tell(`${place}/count`, "OUT_OF_RANGE", `${count} of ${members.length} cannot come`);
  }
  let all = 0;
  for (const [name, wait] of members) {
    const there = `${place}/waits/${escaped(name)}`;
    const chars = [...name].length;
    if (chars < 1 || chars > STEP_NAME || name.startsWith("$") || name !== name.trim() || /[.\p{Cc}]/u.test(name)) {
      tell(there, "OUT_OF_RANGE", `a name has 1 to ${STEP_NAME} characters, without a dot`);
    }
    for (const field of ["duration", "lookback"]) length(there, wait, field, tell);
    if (wait.type === "wait" || wait.type === "sleep") times(there, wait, tell);
    if (!GROUPS.includes(wait.type ?? "")) all += 1;
    else if (depth > 1) tell(there, "LIMIT_EXCEEDED", "waits inside waits inside waits are one too deep");
    else all += waits(there, wait, depth + 1, tell);
  }
  return all;
}

/** Each cycle once: what is left when the steps that can run are taken away, again and again, and walked back. */
function cycles(after: number[][]): number[][] {
  const stuck = new Set(after.keys());
  for (let took = true; took; ) {
    const ready = [...stuck].filter((at) => !after[at]!.some((before) => stuck.has(before)));
    ready.forEach((at) => stuck.delete(at));
    took = ready.length > 0;
  }
  const walked = new Set<number>();
  const found: number[][] = [];
  for (const start of [...stuck].sort((a, b) => a - b)) {
    const path: number[] = [];
    let at = start;
    while (!walked.has(at)) {
      walked.add(at);
      path.push(at);
      at = after[at]!.find((before) => stuck.has(before))!;
    }
    if (path.includes(at)) found.push(path.slice(path.indexOf(at)));
  }
  return found;
}

function times(place: string, step: Fields, tell: Tell): void {
  const given = TIMES.filter((field) => step[field] != null);
  if (given.length !== 1) {
    tell(place, "CONTRADICTION", given.length ? `${given.join(" and ")} exclude each other` : "it is not said how long to wait");
  }
  if (step.timezone != null && step.cron == null) {
    tell(`${place}/timezone`, "CONTRADICTION", "`timezone` belongs to `cron`, which is not given");
  }
}

function length(place: string, owner: Fields, field: string, tell: Tell): void {
  const value = owner[`${field}Ms`] as number | null | undefined;
  const least = LEAST_MS[field]!;
  if (value == null) return;
  if (owner[field] != null && field !== "duration") {
    tell(`${place}/${field}`, "CONTRADICTION", `\`${field}Ms\` and \`${field}\` are both given`);
  }
  if (!Number.isInteger(value)) tell(`${place}/${field}Ms`, "WRONG_TYPE", `${value} is not a whole number of milliseconds`);
  else if (value < least) tell(`${place}/${field}Ms`, "OUT_OF_RANGE", `${value} is less than ${least}`);
}

function retry(place: string, given: RetryFields | undefined, tell: Tell): void {
  if (given == null) return;
  for (const [field, [least, most]] of Object.entries(RETRY)) {
    const value = given[field];
    if (typeof value === "number" && (value < least || value > most)) {
      const bounds = most === Infinity ? `at least ${least}` : `from ${least} to ${most}`;
      tell(`${place}/${field}`, "OUT_OF_RANGE", `${value} is not ${bounds}`);
    }
  }
  if ((given.maxBackoffMs ?? Infinity) < (given.backoffMs ?? 0)) {
    tell(`${place}/maxBackoffMs`, "CONTRADICTION", `\`maxBackoffMs\` is less than \`backoffMs\`, which is ${given.backoffMs}`);
  }
}

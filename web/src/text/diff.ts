/** What differs between two texts, line by line. */
export interface DiffLine {
  sign: ' ' | '+' | '-';
  text: string;
}

/** Beyond this many lines on either side, what differs is shown as a whole. */
const LARGEST = 2000;

export function diffLines(before: string, after: string): DiffLine[] {
  const [one, other] = [before.split('\n'), after.split('\n')];
  if (one.length > LARGEST || other.length > LARGEST) {
    return [
      ...one.map((text): DiffLine => ({ sign: '-', text })),
      ...other.map((text): DiffLine => ({ sign: '+', text })),
    ];
  }
  const common = lengths(one, other);
  const out: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      out.push({ sign: ' ', text: one[i]! });
      i += 1;
      j += 1;
    } else if (j < other.length && (i >= one.length || common[i]![j + 1]! > common[i + 1]![j]!)) {
      out.push({ sign: '+', text: other[j]! });
      j += 1;
    } else {
      out.push({ sign: '-', text: one[i]! });
      i += 1;
    }
  }
  return out;
}

/** `[i][j]`: how many lines the rests from `i` and from `j` have in common, in order. */
function lengths(one: string[], other: string[]): Uint16Array[] {
  const table = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      table[i]![j] = one[i] === other[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    }
  }
  return table;
}

/** Without the lines that are the same and far from any that differ; `null` stands for them. */
export function near(lines: DiffLine[], context = 3): (DiffLine | null)[] {
  const shown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ sign }) => sign !== ' '),
  );
  const out: (DiffLine | null)[] = [];
  lines.forEach((line, index) => {
    if (shown[index]) out.push(line);
    else if (out.at(-1) !== null) out.push(null);
  });
  return out;
}

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? 'null';

/** Text that stays inside its box: what would be wider is cut, with an ellipsis. */
let context: CanvasRenderingContext2D | null | undefined;
const widths = new Map<string, number>();
const KEPT = 5000;

function measured(text: string, font: string): number {
  const key = `${font} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  context ??= document.createElement('canvas').getContext('2d');
  if (!context) return text.length * 8;
  context.font = font;
  const { width } = context.measureText(text);
  if (widths.size >= KEPT) widths.clear();
  widths.set(key, width);
  return width;
}

/** As the page is set in, at this size and weight. */
export function pageFont(size: number, weight = 400): string {
  return `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
}

export function fitted(text: string, width: number, font: string): string {
  return cut(text, (shown) => measured(shown, font) <= width);
}

/** The longest beginning that fits, with an ellipsis where something is missing. */
export function cut(text: string, fits: (shown: string) => boolean): string {
  if (fits(text)) return text;
  const letters = [...text];
  let [least, most] = [0, letters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(`${letters.slice(0, middle).join('')}…`)) least = middle;
    else most = middle - 1;
  }
  return `${letters.slice(0, least).join('').trimEnd()}…`;
}

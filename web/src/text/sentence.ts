/** A sentence of the server in its parts: names stand between backticks in it, instants are RFC 3339. */
export interface Part {
  kind: 'text' | 'name' | 'instant';
  text: string;
}

const NOTABLE = /`([^`]+)`|\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/g;

export function parts(sentence: string): Part[] {
  const found: Part[] = [];
  let done = 0;
  for (const match of sentence.matchAll(NOTABLE)) {
    if (match.index > done) found.push({ kind: 'text', text: sentence.slice(done, match.index) });
    const [whole, name, instant] = match;
    found.push(name === undefined ? { kind: 'instant', text: instant ?? whole } : { kind: 'name', text: name });
    done = match.index + whole.length;
  }
  if (done < sentence.length) found.push({ kind: 'text', text: sentence.slice(done) });
  return found;
}

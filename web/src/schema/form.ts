/**
 * A form out of a JSON Schema: for the part of schemas that people write for inputs (objects of texts, numbers, choices,
 * lists). What is beyond that is a field of JSON. The server checks the input; the form only helps to write it.
 */
import type { Json } from '../api/types';

export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: Json[];
  const?: Json;
  default?: Json;
  examples?: Json[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  [keyword: string]: unknown;
}

export type FieldKind = 'object' | 'list' | 'choice' | 'yesno' | 'number' | 'text' | 'json';

/** Keywords that say more than a plain field can. */
const BEYOND = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'patternProperties', 'prefixItems'];

export const isSchema = (value: unknown): value is Schema =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

export function kindOf(schema: Schema): FieldKind {
  if (BEYOND.some((keyword) => keyword in schema)) return 'json';
  if (schema.enum) return 'choice';
  const types = [schema.type ?? (schema.properties ? 'object' : [])].flat().filter((type) => type !== 'null');
  if (types.length !== 1) return 'json';
  switch (types[0]) {
    case 'object':
      return schema.properties ? 'object' : 'json';
    case 'array':
      return schema.items && kindOf(schema.items) !== 'json' ? 'list' : 'json';
    case 'boolean':
      return 'yesno';
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
      return 'text';
    default:
      return 'json';
  }
}

/** What a form begins with: defaults where there are some, and nothing that was not asked for. */
export function initial(schema: Schema): Json | undefined {
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  switch (kindOf(schema)) {
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, initial(field)] as const);
      return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Json;
    }
    case 'list':
      return [];
    case 'yesno':
      return false;
    case 'choice':
    case 'number':
    case 'text':
    case 'json':
      return undefined;
  }
}

/** What the form can see to be missing before the server does: pointers of required fields without a value. */
export function missing(schema: Schema, value: Json | undefined, pointer = ''): string[] {
  if (kindOf(schema) !== 'object' || value === null || typeof value !== 'object' || Array.isArray(value)) return [];
  const absent = (schema.required ?? []).filter((name) => value[name] === undefined);
  const within = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    value[name] === undefined ? [] : missing(field, value[name], `${pointer}/${name}`),
  );
  return [...absent.map((name) => `${pointer}/${name}`), ...within];
}

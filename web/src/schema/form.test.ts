import { expect, test } from 'vitest';
import { initial, kindOf, missing, type Schema } from './form';

const order: Schema = {
  type: 'object',
  required: ['order'],
  properties: {
    order: { type: 'integer' },
    express: { type: 'boolean' },
    size: { enum: ['small', 'large'], default: 'small' },
    lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] } },
  },
};

test('a plain schema becomes plain fields, and the rest a field of JSON', () => {
  expect(kindOf(order)).toBe('object');
  expect(kindOf({ type: ['string', 'null'] })).toBe('text');
  expect(kindOf({ type: ['string', 'number'] })).toBe('json');
  expect(kindOf({ anyOf: [{ type: 'string' }] })).toBe('json');
  expect(kindOf({ type: 'object' })).toBe('json');
  expect(kindOf({})).toBe('json');
});

test('a form begins with the defaults, and without what nobody has entered', () => {
  expect(initial(order)).toEqual({ express: false, size: 'small', lines: [] });
});

test('a required field without a value is named', () => {
  expect(missing(order, { express: true })).toEqual(['/order']);
  expect(missing(order, { order: 0 })).toEqual([]);
});

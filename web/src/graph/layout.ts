/**
 * Places the steps of a workflow in layers, from top to bottom: a step lies below all that lead to it. A line that
 * passes layers gets a place in each, so that it goes around the steps there.
 */
import type { Edge } from './edges';

export const NODE_WIDTH = 190;
export const NODE_HEIGHT = 44;
const LANE_WIDTH = 16;
const GAP_X = 24;
const GAP_Y = 40;
/** Passes over the layers, in which each place moves to the middle of its neighbours. */
const SWEEPS = 8;

export interface Placed {
  name: string;
  x: number;
  y: number;
}

export interface Line extends Edge {
  path: string;
  labelX: number;
  labelY: number;
}

export interface Layout {
  nodes: Placed[];
  lines: Line[];
  width: number;
  height: number;
}

/** A step, or a place that a line goes through. */
interface Spot {
  key: string;
  layer: number;
  width: number;
  x: number;
  above: Spot[];
  below: Spot[];
}

export function layout(names: string[], edges: Edge[]): Layout {
  const layers = layersOf(names, edges);
  const spots = new Map<string, Spot>();
  const rows: Spot[][] = [];
  const place = (key: string, layer: number, width: number): Spot => {
    const spot = { key, layer, width, x: 0, above: [], below: [] };
    (rows[layer] ??= []).push(spot);
    spots.set(key, spot);
    return spot;
  };
  for (const name of names) place(name, layers.get(name) ?? 0, NODE_WIDTH);
  const chains = edges.map((edge, index) => {
    const [from, to] = [spots.get(edge.from), spots.get(edge.to)];
    if (!from || !to) return { edge, chain: [] };
    const chain = [from];
    for (let layer = from.layer + 1; layer < to.layer; layer += 1) {
      chain.push(place(`${index}:${layer}`, layer, LANE_WIDTH));
    }
    chain.push(to);
    chain.slice(1).forEach((spot, at) => {
      const before = chain[at];
      if (!before) return;
      before.below.push(spot);
      spot.above.push(before);
    });
    return { edge, chain };
  });
  arrange(rows);
  const width = Math.max(NODE_WIDTH, ...rows.flat().map((spot) => spot.x + spot.width));
  const nodes = names.map((name) => {
    const spot = spots.get(name);
    return { name, x: spot?.x ?? 0, y: top(spot?.layer ?? 0) };
  });
  const lines = chains.filter(({ chain }) => chain.length > 1).map(({ edge, chain }) => line(edge, chain));
  return { nodes, lines, width, height: rows.length * (NODE_HEIGHT + GAP_Y) - GAP_Y };
}

const top = (layer: number): number => layer * (NODE_HEIGHT + GAP_Y);
const middle = (spot: Spot): number => spot.x + spot.width / 2;

/** The longest way from a beginning. Steps that are on a circle, which the engine refuses, stay where they are. */
function layersOf(names: string[], edges: Edge[]): Map<string, number> {
  const layers = new Map(names.map((name) => [name, 0]));
  for (let pass = 0; pass < names.length; pass += 1) {
    let moved = false;
    for (const { from, to } of edges) {
      const wanted = (layers.get(from) ?? 0) + 1;
      if (from !== to && (layers.get(to) ?? 0) < wanted && wanted < names.length) {
        layers.set(to, wanted);
        moved = true;
      }
    }
    if (!moved) break;
  }
  return layers;
}

function arrange(rows: Spot[][]): void {
  rows.forEach(spread);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : rows.toReversed()) {
      const wanted = new Map(row.map((spot) => [spot, centre(down ? spot.above : spot.below, spot)]));
      row.sort((one, other) => (wanted.get(one) ?? 0) - (wanted.get(other) ?? 0));
      settle(row, wanted);
    }
  }
  const left = Math.min(...rows.flat().map((spot) => spot.x));
  for (const spot of rows.flat()) spot.x -= left;
}

function spread(row: Spot[]): void {
  let x = 0;
  for (const spot of row) {
    spot.x = x;
    x += spot.width + GAP_X;
  }
}

const centre = (neighbours: Spot[], spot: Spot): number =>
  neighbours.length === 0 ? middle(spot) : neighbours.reduce((sum, next) => sum + middle(next), 0) / neighbours.length;

/** As near to where each wants to be as the others let it. */
function settle(row: Spot[], wanted: Map<Spot, number>): void {
  const want = (spot: Spot): number => (wanted.get(spot) ?? 0) - spot.width / 2;
  let x = -Infinity;
  for (const spot of row) {
    spot.x = Math.max(want(spot), x);
    x = spot.x + spot.width + GAP_X;
  }
  const drift = row.reduce((sum, spot) => sum + spot.x - want(spot), 0) / row.length;
  for (const spot of row) spot.x -= drift;
}

function line(edge: Edge, chain: Spot[]): Line {
  const points = chain.map((spot, index) => ({
    x: middle(spot),
    enter: top(spot.layer) - (index === chain.length - 1 ? 5 : 0),
    leave: index === 0 ? top(spot.layer) + NODE_HEIGHT : top(spot.layer) + NODE_HEIGHT,
  }));
  const [first] = points;
  let path = `M${first?.x ?? 0} ${first?.leave ?? 0}`;
  points.slice(1).forEach((point, index) => {
    const before = points[index];
    if (!before) return;
    const half = (point.enter - before.leave) / 2;
    path += `C${before.x} ${before.leave + half} ${point.x} ${point.enter - half} ${point.x} ${point.enter}`;
    if (index < points.length - 2) path += `V${point.leave}`;
  });
  const second = points[1];
  const [labelX, labelY] = [
    (first?.x ?? 0) + ((second?.x ?? 0) - (first?.x ?? 0)) * 0.5,
    ((first?.leave ?? 0) + (second?.enter ?? 0)) / 2,
  ];
  return { ...edge, path, labelX, labelY };
}

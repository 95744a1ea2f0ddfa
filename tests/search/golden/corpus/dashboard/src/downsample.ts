export interface Point {
  x: number;
  y: number;
}

/** Fewer points that look the same: the lowest and the highest of each bucket are kept, so that spikes stay visible. */
export function downsample(points: Point[], buckets: number): Point[] {
  if (points.length <= buckets * 2) {
    return points;
  }
  const kept: Point[] = [];
  const size = Math.ceil(points.length / buckets);
  for (let start = 0; start < points.length; start += size) {
    const slice = points.slice(start, start + size);
    const byHeight = [...slice].sort((a, b) => a.y - b.y);
    kept.push(byHeight[0], byHeight[byHeight.length - 1]);
  }
  return kept.sort((a, b) => a.x - b.x);
}

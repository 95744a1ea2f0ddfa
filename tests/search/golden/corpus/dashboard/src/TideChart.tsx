import { downsample, Point } from "./downsample";

interface Props {
  points: Point[];
  width: number;
  unit: "m" | "ft";
}

/** Water level over time as an SVG line. */
export function TideChart({ points, width, unit }: Props) {
  const shown = downsample(points, width);
  const path = shown.map((p, i) => `${i === 0 ? "M" : "L"}${p.x},${toUnit(p.y, unit)}`).join(" ");
  return (
    <svg width={width} role="img" aria-label={`Water level in ${unit}`}>
      <path d={path} />
    </svg>
  );
}

function toUnit(metres: number, unit: "m" | "ft"): number {
  return unit === "ft" ? metres * 3.28084 : metres;
}

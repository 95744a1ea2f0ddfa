import { z } from "zod";

export interface Options {
  retries: number;
  onError?(error: Error): void;
}

export type Handler<T> = (value: T) => void;

export enum Color {
  Red,
  Green = "green",
}

export const enum Flag {
  A = 1,
}

export namespace Util {
  export function trim(text: string): string {
    return text.trim();
  }
  export const SEP = ",";
}

declare module "left-pad" {
  function pad(text: string): string;
}

@Injectable()
export abstract class Service<T> implements Options {
  private readonly cache: Map<string, T> = new Map();

  constructor(private name: string) {}

  /** Finds by id. */
  @Memo()
  public async find(id: string): Promise<T | undefined> {
    return this.cache.get(id);
  }

  abstract load(): void;

  handler: Handler<T> = (value) => {};
}

export function over(a: string): string;
export function over(a: number): number;
export function over(a: any): any {
  return a;
}

export const schema = z.object({ id: z.string() });

const arrow = async <T,>(value: T): Promise<T> => value;

export default function main() {}

declare const VERSION: string;

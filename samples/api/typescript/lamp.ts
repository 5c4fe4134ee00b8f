/**
 * Lamps that burn oil, and the racks that hold them. Begin with {@link Lamp}.
 *
 * @module
 */

/** What flame a lamp burns with. */
export enum Flame {
  /** Burns all night. */
  Low = "low",
  /** Burns for an hour, for ships close to the rocks. */
  High = "high",
}

/** Anything that glows. */
export abstract class Light {
  /** The name on the brass. */
  readonly name: string = "";

  /**
   * Says how far the light is seen.
   *
   * @returns The distance in nautical miles.
   */
  abstract reach(): number;

  /** Engraves a name into the brass. */
  engrave(name: string): this {
    return Object.assign(this, { name });
  }
}

/**
 * A lamp that burns oil.
 *
 * Clean the glass before you light it.
 */
export class Lamp extends Light {
  /**
   * Fills a new lamp.
   *
   * @param oil - The oil in millilitres.
   */
  constructor(public oil: number) {
    super();
  }

  /**
   * Lights the lamp after a delay.
   *
   * @param seconds - The delay before it burns.
   * @returns The seconds that it will burn.
   * @throws RangeError if the lamp has no oil.
   *
   * @example
   * ```ts
   * new Lamp(250).ignite(3);
   * ```
   */
  ignite(seconds: number): number;
  /**
   * Lights the lamp with a flame of choice.
   *
   * @param seconds - The delay before it burns.
   * @param flame - How high it burns.
   */
  ignite(seconds: number, flame: Flame): number;
  ignite(seconds: number, flame: Flame = Flame.Low): number {
    return this.oil * (flame === Flame.Low ? 10 : 1) - seconds;
  }

  reach(): number {
    return 4;
  }
}

/** How a rack is built. */
export interface RackOptions<T extends Light> {
  /** The lights that hang from the first day. */
  first?: T[];
}

/** A rack for lights of one kind. */
export class Rack<T extends Light> {
  /** Builds a rack. */
  constructor(options: RackOptions<T> = {}) {
    void options;
  }

  /**
   * Hangs a light on the rack.
   *
   * @param thing - What to hang.
   * @returns The number of its hook.
   */
  hang(thing: T): number {
    return thing.name.length;
  }
}

/** The length of a wick, in millimetres. */
export type Wick = number | "whole";

/** The longest wick that a lamp takes. */
export const LONGEST_WICK: Wick = 80;

/**
 * Trims a wick to a length.
 *
 * @param length - The length that stays.
 */
export function trim(length: Wick): string {
  return `${length} mm`;
}

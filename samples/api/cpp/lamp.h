#ifndef LAMP_H
#define LAMP_H

/** @file lamp.h
 * Lamps that burn oil, and the racks that hold them. */

#include <string>
#include <vector>

/** The longest wick that a lamp takes, in millimetres. */
#define LAMP_LONGEST_WICK 80

/** @mainpage The lamp library
 * A harbour keeps its lamps with this library. Begin with Lamp. */

/** What flame a lamp burns with. */
enum class Flame {
  Low,  /**< Burns all night. */
  High  /**< Burns for an hour, for ships close to the rocks. */
};

/** Anything that glows. */
class Light {
public:
  virtual ~Light() = default;

  /** Says how far the light is seen.
   * @returns The distance in nautical miles. */
  virtual double reach() const = 0;
};

/** A lamp that burns oil.
 *
 * Clean the glass before you light it. */
class Lamp : public Light {
public:
  /** Fills a new lamp.
   * @param oil The oil in millilitres. */
  explicit Lamp(int oil);

  /** Lights the lamp after a delay.
   * @param seconds The delay before it burns.
   * @throws std::logic_error The lamp has no oil.
   *
   * @code
   * Lamp lamp(250);
   * lamp.ignite(3);
   * @endcode */
  void ignite(int seconds);

  /** Lights the lamp with a flame of choice.
   * @param seconds The delay before it burns.
   * @param flame How high it burns. */
  void ignite(int seconds, Flame flame);

  double reach() const override;

  /** Puts the flame out.
   * @deprecated Let it burn down instead. */
  void snuff();
};

/** A rack for things of one kind.
 * @tparam T What the rack holds. */
template <typename T>
class Rack {
public:
  /** Hangs a thing on the rack.
   * @param thing What to hang.
   * @returns The number of its hook. */
  std::size_t hang(const T& thing);
};

/** Trims a wick to a length.
 * @param millimetres The length that stays.
 * @returns The name of the cut. */
std::string trim(int millimetres);

#endif

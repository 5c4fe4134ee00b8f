package com.lamp;

/**
 * A lamp that burns oil.
 *
 * <p>Clean the glass before you light it:
 *
 * <pre>{@code
 * Lamp lamp = new Lamp(250);
 * lamp.ignite(3);
 * }</pre>
 */
public class Lamp extends Light {
    /**
     * Fills a new lamp.
     *
     * @param oil the oil in millilitres
     */
    public Lamp(int oil) {}

    /**
     * Lights the lamp after a delay.
     *
     * @param seconds the delay before it burns
     * @throws IllegalStateException if the lamp has no oil
     */
    public void ignite(int seconds) {}

    /**
     * Lights the lamp with a flame of choice.
     *
     * @param seconds the delay before it burns
     * @param flame how high it burns
     */
    public void ignite(int seconds, Flame flame) {}

    @Override
    public double reach() {
        return 4;
    }

    /**
     * Engraves a name into the brass.
     *
     * @param name the words to engrave
     * @return the words as they fit
     */
    public String engrave(String name) {
        return name;
    }

    /**
     * Puts the flame out.
     *
     * @deprecated Let it burn down instead.
     */
    @Deprecated
    public void snuff() {}
}

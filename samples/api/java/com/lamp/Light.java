package com.lamp;

/** Anything that glows. */
public abstract class Light {
    /** The brightest light that the harbour allows, in candela. */
    public static final int BRIGHTEST = 4000;

    /** Makes a light that is out. */
    protected Light() {}

    /**
     * Says how far the light is seen.
     *
     * @return the distance in nautical miles
     */
    public abstract double reach();
}

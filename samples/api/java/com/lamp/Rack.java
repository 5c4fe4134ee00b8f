package com.lamp;

import java.util.List;

/**
 * A rack for lights of one kind.
 *
 * @param <T> what the rack holds
 */
public interface Rack<T extends Light> {
    /**
     * Hangs a light on the rack.
     *
     * @param thing what to hang
     * @return the number of its hook
     */
    int hang(T thing);

    /**
     * Takes the lights down that pass an inspection.
     *
     * @param passed the hooks that were inspected
     * @return the lights, in the order of their hooks
     */
    List<T> take(List<? extends Number> passed);
}

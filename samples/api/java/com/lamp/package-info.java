/** Lamps that burn oil, and the racks that hold them. Begin with {@link com.lamp.Lamp}. */
package com.lamp;

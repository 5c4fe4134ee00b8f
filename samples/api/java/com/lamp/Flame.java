package com.lamp;

/** What flame a lamp burns with. */
public enum Flame {
    /** Burns all night. */
    LOW,
    /** Burns for an hour, for ships close to the rocks. */
    HIGH
}

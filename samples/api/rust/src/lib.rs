//! Lamps that burn oil, and the racks that hold them.
//!
//! Begin with [`Lamp`].

/// What flame a lamp burns with.
#[derive(Clone, Copy, Debug)]
pub enum Flame {
    /// Burns all night.
    Low,
    /// Burns for an hour, for ships close to the rocks.
    High,
}

/// Anything that glows.
pub trait Light {
    /// Says how far the light is seen, in nautical miles.
    fn reach(&self) -> f64;
}

/// A lamp that burns oil.
///
/// Clean the glass before you light it.
#[derive(Clone, Debug)]
pub struct Lamp {
    /// The oil in millilitres.
    pub oil: u32,
}

impl Lamp {
    /// Fills a new lamp.
    pub fn new(oil: u32) -> Self {
        Lamp { oil }
    }

    /// Lights the lamp after a delay, and returns the seconds that it will burn.
    ///
    /// # Panics
    ///
    /// If the lamp has no oil.
    ///
    /// # Examples
    ///
    /// ```
    /// let lamp = lamp::Lamp::new(250);
    /// assert_eq!(lamp.ignite(3, lamp::Flame::Low), 2500.0);
    /// ```
    pub fn ignite(&self, seconds: u32, flame: Flame) -> f64 {
        assert!(self.oil > 0, "{seconds}");
        match flame {
            Flame::Low => f64::from(self.oil) * 10.0,
            Flame::High => f64::from(self.oil),
        }
    }

    /// Puts the flame out.
    #[deprecated(note = "let it burn down instead")]
    pub fn snuff(&self) {}
}

impl Light for Lamp {
    /// A lamp is seen for four nautical miles, whatever its flame.
    fn reach(&self) -> f64 {
        4.0
    }
}

/// A rack for lights of one kind.
pub struct Rack<T: Light> {
    /// The lights, in the order of their hooks.
    pub things: Vec<T>,
}

impl<T: Light> Rack<T> {
    /// Hangs a light on the rack, and returns the number of its hook.
    pub fn hang(&mut self, thing: T) -> usize {
        self.things.push(thing);
        self.things.len()
    }
}

/// The longest wick that a lamp takes, in millimetres.
pub const LONGEST_WICK: u32 = 80;

/// Polishes the brass of each lamp.
pub fn polish(lamps: &mut [Lamp]) -> Result<(), String> {
    lamps.first().map(|_| ()).ok_or_else(String::new)
}

//! Maps by run, which every decision looks into several times.

use std::collections::HashMap;

/// A map whose keys are ids that this program made, or begin with one. Nobody can choose them so that they collide, so that
/// the hash need not withstand it, and is quicker.
pub(crate) type ByRun<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
